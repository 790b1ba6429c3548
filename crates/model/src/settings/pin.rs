//! Reads `toolPin`: the reaction to a tool with a changed definition.
//!
//! The administrator's setting wins. Below it the user's setting applies, and a file that a repository can
//! bring may only make it stricter.

use super::{MergedSettings, SettingsLayer};
use crate::document::Node;
use crate::permission::ToolPin;

/// The `toolPin` settings by layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolPinSettings {
    managed: Option<ToolPin>,
    user: Option<ToolPin>,
    project: Option<ToolPin>,
}

impl ToolPinSettings {
    /// The effective setting.
    #[must_use]
    pub fn effective_pin(&self) -> ToolPin {
        let below = self.user.unwrap_or_default().max(self.project.unwrap_or(ToolPin::Off));
        self.managed.unwrap_or(below)
    }
}

impl MergedSettings {
    pub(super) fn read_pin(&mut self, value: Node<'_>, layer: SettingsLayer) {
        let Some(pin) = value.as_str().and_then(ToolPin::parse) else {
            let words = ToolPin::ALL.map(|pin| format!("`{pin}`")).join(", ");
            return self.add_warning(value, format!("`{}` is none of {words}", ToolPin::KEY));
        };
        match layer {
            SettingsLayer::Managed => self.pins.managed = Some(pin),
            SettingsLayer::CommandLine | SettingsLayer::User | SettingsLayer::Private => {
                self.pins.user = Some(pin)
            }
            SettingsLayer::Local | SettingsLayer::Project => {
                self.pins.project = Some(pin.max(self.pins.project.unwrap_or(ToolPin::Off)));
                if pin < ToolPin::Strict {
                    let text =
                        format!("a file in the project's folder can only make `{}` stricter", ToolPin::KEY);
                    self.add_warning(value, text);
                }
            }
        }
    }
}
