//! Says what has changed about the tools of one server, and which rules still hold for one of them.

use std::sync::Arc;

use mcparley_model::permission::Pin;
use mcparley_model::tool::{DefinitionChange, Tool};

use super::{Key, Ledger, Sheet};

/// Who is asked about the tools of one server.
#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) key: Key,
    /// What is done about tools that have changed.
    pub(crate) pin: Pin,
    sheet: Arc<Sheet>,
    ledger: Arc<Ledger>,
    /// How all tools stand that are as they were accepted.
    unchanged: Arc<Trusted>,
}

/// How one tool stands.
#[derive(Clone, Debug)]
pub(crate) struct Trusted {
    pub(crate) key: Key,
    pub(crate) pin: Pin,
    /// What is different about it since it was accepted.
    pub(crate) change: Option<Arc<DefinitionChange>>,
}

impl Judge {
    pub(super) fn new(sheet: Arc<Sheet>, ledger: Arc<Ledger>, key: Key, pin: Pin) -> Self {
        let unchanged = Arc::new(Trusted { key: key.clone(), pin, change: None });
        Self { key, pin, sheet, ledger, unchanged }
    }

    /// What is different about the tool since it was accepted. Where nobody wants to know, only what a rule is bound
    /// to counts.
    pub(crate) fn change(&self, tool: &Tool) -> Option<DefinitionChange> {
        let matters = match self.pin {
            Pin::Warn | Pin::Strict => true,
            Pin::Off => self.ledger.has(self.key.as_str(), tool.name.as_str()),
        };
        if matters { self.sheet.change(tool) } else { None }
    }

    pub(crate) fn trusted(&self, tool: &Tool) -> Arc<Trusted> {
        match self.change(tool) {
            Some(change) => {
                Arc::new(Trusted { change: Some(Arc::new(change)), ..Trusted::clone(&self.unchanged) })
            }
            None => Arc::clone(&self.unchanged),
        }
    }
}

impl Trusted {
    /// Whether the tool is not offered until somebody has reviewed it.
    pub(crate) fn is_withheld(&self) -> bool {
        self.pin == Pin::Strict && self.change.is_some()
    }
}
