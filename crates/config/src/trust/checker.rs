//! Compares the tools of one server with their accepted definitions.

use std::sync::Arc;

use mcparley_model::permission::ToolPin;
use mcparley_model::tool::{DefinitionChange, Tool};

use mcparley_model::trust::{ToolTrust, TrustKey};

use super::{AcceptedTools, RuleBindings};

/// Checks tools of one server against their accepted definitions.
#[derive(Debug)]
pub struct TrustChecker {
    /// The trust key of the server.
    pub key: TrustKey,
    /// The pinning policy for tools that have changed.
    pub pin: ToolPin,
    tools: Arc<AcceptedTools>,
    rule_bindings: Arc<RuleBindings>,
    /// The shared result for tools that have not changed.
    unchanged: Arc<ToolTrust>,
}

impl TrustChecker {
    pub(super) fn new(
        tools: Arc<AcceptedTools>,
        rule_bindings: Arc<RuleBindings>,
        key: TrustKey,
        pin: ToolPin,
    ) -> Self {
        let unchanged = Arc::new(ToolTrust { key: key.clone(), pin, change: None });
        Self { key, pin, tools, rule_bindings, unchanged }
    }

    /// The change of a tool's definition since it was accepted.
    ///
    /// With pinning off, only tools that a rule is bound to are compared.
    #[must_use]
    pub fn definition_change(&self, tool: &Tool) -> Option<DefinitionChange> {
        let matters = match self.pin {
            ToolPin::Warn | ToolPin::Strict => true,
            ToolPin::Off => self.rule_bindings.has_binding(self.key.as_str(), tool.name.as_str()),
        };
        if matters { self.tools.definition_change(tool) } else { None }
    }

    /// The trust in a tool: its server's key, the pinning policy, and its change if there is one.
    #[must_use]
    pub fn tool_trust(&self, tool: &Tool) -> Arc<ToolTrust> {
        match self.definition_change(tool) {
            Some(change) => {
                Arc::new(ToolTrust { change: Some(Arc::new(change)), ..ToolTrust::clone(&self.unchanged) })
            }
            None => Arc::clone(&self.unchanged),
        }
    }
}
