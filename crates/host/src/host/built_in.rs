//! The interface of the built-in server: an in-process server that inspects its own host.

use std::sync::{Arc, Weak};

use mcparley_config::BUILT_IN_SERVER;
use mcparley_model::config::{ServerConfig, TransportConfig};
use mcparley_pool::surface::Surface;
use mcparley_wire::peer::Handler;

use super::HostInner;

/// A built-in server, before and after its host is started.
pub(crate) trait BuiltInServer: Send + Sync {
    /// The handler that answers the host's requests.
    fn handler(&self) -> Arc<dyn Handler>;

    /// The tools it offers, known without a request.
    fn surface(&self) -> Surface;

    /// Gives the server the host that it inspects.
    fn attach_host(&self, host: Weak<HostInner>);
}

/// Creates the built-in server of a host, and of each of its agents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuiltInFactory {
    pub(crate) make: fn(is_offered: bool) -> Arc<dyn BuiltInServer>,
    /// Whether its tools are shown to a model.
    pub(crate) is_offered: bool,
}

impl BuiltInFactory {
    pub(crate) fn create_server(self) -> Arc<dyn BuiltInServer> {
        (self.make)(self.is_offered)
    }
}

/// Whether an entry is that of the built-in server, which is in no file.
pub(crate) fn is_built_in(config: &ServerConfig) -> bool {
    matches!(&config.transport, TransportConfig::Sdk { name } if name == BUILT_IN_SERVER)
}
