//! Reads `audit`: whether calls are recorded in the audit log, and in which file.
//!
//! An audit log must be trustworthy, so files in the project's folder cannot disable or move it.

use std::path::PathBuf;

use super::{MergedSettings, SettingsLayer};
use crate::config::Spanned;
use crate::document::Node;

/// The audit log setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditSetting {
    /// The audit log is off.
    Off,
    /// The audit log is in its default folder.
    On,
    /// The audit log is at this path.
    At(PathBuf),
}

impl MergedSettings {
    pub(super) fn read_audit(&mut self, value: Node<'_>, layer: SettingsLayer) {
        if !layer.is_outside_project() {
            return self
                .add_warning(value, "a file in the project's folder cannot say what is recorded".to_owned());
        }
        let path = value.get("path").and_then(Node::as_str).map(PathBuf::from);
        let audit = match (value.as_bool(), path) {
            (Some(true), _) => AuditSetting::On,
            (Some(false), _) => AuditSetting::Off,
            (None, Some(path)) if path.is_absolute() => AuditSetting::At(path),
            (None, _) => {
                let text = r#"`audit` is true, false or `{"path": "/an/absolute/path"}`"#;
                return self.add_warning(value, text.to_owned());
            }
        };
        self.audit = Some(Spanned { value: audit, origin: value.origin() });
    }
}
