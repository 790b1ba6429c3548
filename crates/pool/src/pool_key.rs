//! Pool keys: connections with equal keys may be shared, because their servers see the same client.

use std::ffi::OsStr;

use mcparley_model::config::{ServerConfig, TransportConfig};
use mcparley_model::signature::Signature;

use crate::connect::ConnectContext;
use crate::hash::hash_texts;
use crate::host_id::HostId;
use crate::launch::build_launch;
use crate::principal::PrincipalHash;
use crate::roots::Root;

/// The identity of a connection: the server and all that it sees of its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PoolKey {
    /// The signature of the server's expanded entry.
    pub signature: Signature,
    /// The client as the server sees it.
    pub share: ShareKey,
}

/// The client as a server sees it. Connections may be shared only if it is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShareKey {
    /// Working directory and environment of a local server; variables, folder and credentials of a remote
    /// one.
    pub environment: EnvironmentHash,
    /// The client capabilities.
    pub capabilities: CapabilitiesHash,
    /// The roots.
    pub roots: RootsHash,
    /// The hosts that may use the connection.
    pub owner: ConnectionOwner,
}

/// The hosts that may use a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionOwner {
    /// Every host of the pool.
    Everyone,
    /// Hosts that carry the credentials of this principal of a gateway.
    Credential(PrincipalHash),
    /// One host: the server is in-process, where another host may have another one of that name, or it
    /// belongs to an agent.
    Host(HostId),
}

/// Hash of the folder, environment and credentials with which a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnvironmentHash([u8; 32]);

/// Hash of the client capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CapabilitiesHash([u8; 32]);

/// Hash of the roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RootsHash([u8; 32]);

impl RootsHash {
    /// The hash of a client's roots; absent roots are those of a client without the capability, which differ
    /// from an empty list.
    #[must_use]
    pub fn from_roots(roots: Option<&[Root]>) -> Self {
        let kind = if roots.is_some() { "listed" } else { "none" };
        let folders = roots.unwrap_or_default().iter().map(|root| root.uri.as_ref());
        Self(hash_texts(std::iter::once(OsStr::new(kind)).chain(folders)))
    }
}

impl PoolKey {
    /// The key for the server of this entry, as this host reaches it.
    #[must_use]
    pub fn for_config(context: &ConnectContext, config: &ServerConfig, host: HostId) -> Self {
        let owner = match &config.transport {
            TransportConfig::Sdk { .. } => ConnectionOwner::Host(host),
            TransportConfig::Stdio(_)
            | TransportConfig::Sse(_)
            | TransportConfig::Http(_)
            | TransportConfig::Ws(_)
            | TransportConfig::SseIde(_)
            | TransportConfig::WsIde(_)
            | TransportConfig::ClaudeAiProxy { .. } => match context.principal_of(config) {
                Some(principal) => ConnectionOwner::Credential(principal.owner),
                None => ConnectionOwner::Everyone,
            },
        };
        let offer =
            CapabilitiesHash(hash_texts([context.services.capabilities_for(config).to_string().as_ref()]));
        let roots = RootsHash(context.services.server_roots(config, &context.dialer.paths).identity());
        let share =
            ShareKey { environment: hash_environment(context, config), capabilities: offer, roots, owner };
        Self { signature: Signature::from_config(config), share }
    }

    /// Whether the connection carries the credentials of one principal.
    #[must_use]
    pub fn has_credential(&self) -> bool {
        matches!(self.share.owner, ConnectionOwner::Credential(_))
    }

    /// This key restricted to one host.
    #[must_use]
    pub fn with_owner(self, host: HostId) -> Self {
        Self { share: ShareKey { owner: ConnectionOwner::Host(host), ..self.share }, ..self }
    }
}

/// Hashes working directory and environment of a local server, or variables, folder and credentials of a
/// remote one.
fn hash_environment(context: &ConnectContext, config: &ServerConfig) -> EnvironmentHash {
    let dialer = &context.dialer;
    let TransportConfig::Stdio(stdio) = &config.transport else {
        let variables = dialer.env.iter().flat_map(|(name, value)| [name.as_ref(), value.as_ref()]);
        let secrets = dialer.paths.secrets.as_ref().map_or(OsStr::new(""), |folder| folder.as_os_str());
        return EnvironmentHash(hash_texts(variables.chain([dialer.paths.project.as_os_str(), secrets])));
    };
    let launch = build_launch(stdio, &dialer.env, &dialer.paths);
    let mut variables: Vec<_> = launch.env.iter().filter(|(name, _)| name != "TERM").collect();
    variables.sort();
    let variables = variables.into_iter().flat_map(|(name, value)| [name.as_os_str(), value.as_os_str()]);
    EnvironmentHash(hash_texts(variables.chain(launch.cwd.iter().map(|folder| folder.as_os_str()))))
}
