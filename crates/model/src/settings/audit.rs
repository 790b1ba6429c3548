//! Reads `audit`: whether calls are recorded, and where (H36).
//!
//! A record is there to be believed, so nothing in the project's folder can switch it off or move it.

use std::path::PathBuf;

use super::{Layer, Settings};
use crate::config::Spanned;
use crate::document::Node;

/// What settings say about the record of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audit {
    /// There is none.
    Off,
    /// It stands where it usually does.
    On,
    /// It stands here.
    At(PathBuf),
}

impl Settings {
    pub(super) fn read_audit(&mut self, value: Node<'_>, layer: Layer) {
        if !layer.is_outside() {
            return self.warn(value, "a file in the project's folder cannot say what is recorded".to_owned());
        }
        let path = value.get("path").and_then(Node::as_str).map(PathBuf::from);
        let audit = match (value.as_bool(), path) {
            (Some(true), _) => Audit::On,
            (Some(false), _) => Audit::Off,
            (None, Some(path)) if path.is_absolute() => Audit::At(path),
            (None, _) => {
                let text = r#"`audit` is true, false or `{"path": "/an/absolute/path"}`"#;
                return self.warn(value, text.to_owned());
            }
        };
        self.audit = Some(Spanned { value: audit, origin: value.origin() });
    }
}
