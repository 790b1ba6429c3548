//! Reads `toolPin`: what is done about a tool that has become another one (H09).
//!
//! The administrator's word is the last. Below it the user's counts, and a file that a repository can bring may
//! only make it stricter.

use super::{Layer, Settings};
use crate::document::Node;
use crate::permission::Pin;

/// What the files say about pins, by who says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    managed: Option<Pin>,
    user: Option<Pin>,
    project: Option<Pin>,
}

impl Pins {
    /// What holds.
    #[must_use]
    pub fn in_force(&self) -> Pin {
        let below = self.user.unwrap_or_default().max(self.project.unwrap_or(Pin::Off));
        self.managed.unwrap_or(below)
    }
}

impl Settings {
    pub(super) fn read_pin(&mut self, value: Node<'_>, layer: Layer) {
        let Some(pin) = value.as_str().and_then(Pin::parse) else {
            let words = Pin::ALL.map(|pin| format!("`{pin}`")).join(", ");
            return self.warn(value, format!("`{}` is none of {words}", Pin::KEY));
        };
        match layer {
            Layer::Managed => self.pins.managed = Some(pin),
            Layer::CommandLine | Layer::User | Layer::Private => self.pins.user = Some(pin),
            Layer::Local | Layer::Project => {
                self.pins.project = Some(pin.max(self.pins.project.unwrap_or(Pin::Off)));
                if pin < Pin::Strict {
                    let text =
                        format!("a file in the project's folder can only make `{}` stricter", Pin::KEY);
                    self.warn(value, text);
                }
            }
        }
    }
}
