//! The mode of a gateway: the names it gives, and how far it keeps from changing what servers send.

use mcparley::catalog::{BuiltIn, ToolProvider};
use mcparley::model::name::ServerName;
use sha2::{Digest, Sha256};

/// The mode of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayMode {
    /// The only server, which is served transparently: names, addresses and results are as it sends them.
    pub one: Option<ServerName>,
    /// The names of tools and prompts.
    pub naming: Naming,
    /// Servers with bare names of tools, in every naming.
    pub bare_servers: Vec<ServerName>,
    /// Whether limits for models apply: short names, cut descriptions, stored results.
    pub for_model: bool,
    /// Whether hidden characters are kept.
    pub raw: bool,
    /// Whether clients with different capabilities share one connection in transparent mode.
    pub shares_connection: bool,
    /// Whether tools of local servers can be called as durable tasks.
    pub has_durable_calls: bool,
}

/// The names of tools and prompts for clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// `server__tool`; clients add a prefix of their own.
    #[default]
    Server,
    /// `mcp__server__tool`.
    Mcp,
    /// The name that the server gave, where it is unique; otherwise as [`Naming::Server`].
    Bare,
}

impl Default for GatewayMode {
    fn default() -> Self {
        Self {
            one: None,
            naming: Naming::Server,
            bare_servers: Vec::new(),
            for_model: true,
            raw: false,
            shares_connection: false,
            has_durable_calls: false,
        }
    }
}

impl GatewayMode {
    /// The transparent mode: one server, unchanged.
    #[must_use]
    pub fn transparent(server: ServerName) -> Self {
        Self {
            one: Some(server),
            naming: Naming::Bare,
            bare_servers: Vec::new(),
            for_model: false,
            raw: true,
            shares_connection: false,
            has_durable_calls: false,
        }
    }

    /// The transparent mode for clients that were told apart before, so that all of them share one connection.
    #[must_use]
    pub fn shared(server: ServerName) -> Self {
        Self { shares_connection: true, ..Self::transparent(server) }
    }

    /// Whether one server is served unchanged.
    #[must_use]
    pub fn is_transparent(&self) -> bool {
        self.one.is_some()
    }

    /// Whether hidden characters are removed.
    pub(crate) fn removes_hidden(&self) -> bool {
        !self.raw && !self.is_transparent()
    }

    /// Whether the tools of a server have bare names where these are unique.
    pub(crate) fn is_bare(&self, server: &ServerName) -> bool {
        self.naming == Naming::Bare || self.bare_servers.contains(server)
    }

    /// Whether tools of a provider are listed. Tools of the host for models are listed to models only.
    pub(crate) fn shows_provider(&self, provider: &ToolProvider) -> bool {
        match (provider, &self.one) {
            (ToolProvider::Server(server), Some(one)) => server == one,
            (ToolProvider::Host(_) | ToolProvider::SignIn { .. }, Some(_)) => false,
            (
                ToolProvider::Server(_)
                | ToolProvider::SignIn { .. }
                | ToolProvider::Host(BuiltIn::ToolSearch),
                None,
            ) => true,
            (
                ToolProvider::Host(BuiltIn::ListResources | BuiltIn::ReadResource | BuiltIn::ReadResult),
                None,
            ) => self.for_model,
        }
    }

    /// A digest of the mode, by which a cursor of another view is recognized.
    pub(crate) fn digest(&self) -> [u8; 4] {
        let whole = Sha256::digest(format!("{self:?}").as_bytes());
        let mut digest = [0; 4];
        digest.iter_mut().zip(whole).for_each(|(ours, byte)| *ours = byte);
        digest
    }
}
