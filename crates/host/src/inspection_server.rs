//! The built-in server `mcparley`, through which a model or a user inspects the host itself.
//!
//! It needs no configuration and no network: an [`InProcessServer`] like those of embedding programs, with
//! tools that know their host.

mod tools;

use std::sync::{Arc, OnceLock, Weak};

use mcparley_model::text::Untrusted;
use mcparley_wire::RawJson;
use mcparley_wire::peer::Handler;

use crate::host::{BuiltInServer, Host, HostInner};
use crate::in_process::InProcessServer;
use mcparley_config::BUILT_IN_SERVER;
use mcparley_pool::surface::Surface;

const INSTRUCTIONS: &str = "Tools to look at the MCP host itself: which servers there are, how they are, why one is \
    missing, and what it logged.";

/// The built-in server, with the host it inspects.
#[derive(Clone, Debug)]
pub(crate) struct HostInspectionServer {
    host: HostCell,
    server: Arc<InProcessServer>,
    is_offered: bool,
}

/// The inspected host, once it is started. Weak, because the host owns this server.
#[derive(Clone, Debug, Default)]
struct HostCell(Arc<OnceLock<Weak<HostInner>>>);

impl HostCell {
    fn host(&self) -> Option<Host> {
        self.0.get().and_then(Weak::upgrade).map(Host::from_inner)
    }
}

impl HostInspectionServer {
    /// A server whose tools are offered to a model, or hidden from it.
    pub(crate) fn new(is_offered: bool) -> Self {
        let host = HostCell::default();
        let server = InProcessServer::new(BUILT_IN_SERVER).version(env!("CARGO_PKG_VERSION"));
        let server = if is_offered { server.instructions(INSTRUCTIONS) } else { server };
        let server = Arc::new(tools::add_tools(server, &host, is_offered));
        Self { host, server, is_offered }
    }
}

/// Creates the built-in server of a host.
pub(crate) fn create_built_in_server(is_offered: bool) -> Arc<dyn BuiltInServer> {
    Arc::new(HostInspectionServer::new(is_offered))
}

impl BuiltInServer for HostInspectionServer {
    fn handler(&self) -> Arc<dyn Handler> {
        Arc::<InProcessServer>::clone(&self.server)
    }

    fn surface(&self) -> Surface {
        let entries = self.server.tool_definitions().filter_map(|tool| RawJson::from_value(tool).ok());
        let instructions = self.is_offered.then(|| Untrusted::new(INSTRUCTIONS));
        Surface { instructions, ..Surface::from_tools(&entries.collect::<Vec<_>>()) }
    }

    fn attach_host(&self, host: Weak<HostInner>) {
        // The server is given one host, when that host is started.
        let _first = self.host.0.set(host);
    }
}
