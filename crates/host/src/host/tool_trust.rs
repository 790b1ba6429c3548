//! Lazily loaded trust in the tools of a server; read from disk only when a tool is new.

use std::cell::OnceCell;
use std::sync::Arc;

use mcparley_config::trust::{TrustChecker, TrustStore};
use mcparley_model::config::ServerConfig;
use mcparley_model::tool::Tool;
use mcparley_model::trust::ToolTrust;

/// The trust in the tools of one server, loaded on first use.
pub(super) struct LazyToolTrust<'c> {
    trust: &'c TrustStore,
    config: &'c ServerConfig,
    judge: OnceCell<TrustChecker>,
}

impl<'c> LazyToolTrust<'c> {
    pub(super) fn new(trust: &'c TrustStore, config: &'c ServerConfig) -> Self {
        Self { trust, config, judge: OnceCell::new() }
    }

    pub(super) fn tool_trust(&self, tool: &Tool) -> Arc<ToolTrust> {
        self.judge.get_or_init(|| self.trust.checker_for(self.config)).tool_trust(tool)
    }
}
