//! Lets the declarations that may run compete: for a name, and for being one server.

use std::collections::HashMap;

use super::{Block, Planned, ServerStanding};
use crate::name::ServerName;
use crate::policy::Violation;
use crate::scope::{Origin, Scope};
use crate::signature::Endpoint;

/// Denies what is the same server as a denied one: a new name does not lift a denial (B32).
pub(super) fn deny_aliases(servers: &mut [Planned]) {
    let mut denied: HashMap<Endpoint, (ServerName, Violation)> = HashMap::new();
    for server in servers.iter() {
        if let ServerStanding::Blocked(Block::Policy(violation)) = &server.standing
            && violation.is_denial()
            && let Some(endpoint) = server.endpoint()
        {
            denied.entry(endpoint).or_insert_with(|| (server.name.clone(), violation.clone()));
        }
    }
    if denied.is_empty() {
        return;
    }
    for server in servers.iter_mut() {
        let Some((name, violation)) = server.endpoint().and_then(|endpoint| denied.get(&endpoint)) else {
            continue;
        };
        if !matches!(server.standing, ServerStanding::Blocked(_)) {
            server.standing =
                ServerStanding::Blocked(Block::Alias { of: name.clone(), violation: violation.clone() });
        }
    }
}

/// Of the ready declarations of one name the strongest stays; it also shadows weaker ones that still wait.
///
/// `servers` are in precedence order. Between plugins the first loaded wins, elsewhere the later one.
pub(super) fn shadow(servers: &mut [Planned]) {
    let mut winners: HashMap<ServerName, (usize, Origin)> = HashMap::new();
    for (index, server) in servers.iter().enumerate() {
        if server.standing != ServerStanding::Ready {
            continue;
        }
        let keeps_first = server.scope == Scope::Plugin
            && winners
                .get(&server.name)
                .and_then(|(winner, _)| servers.get(*winner))
                .is_some_and(|winner| winner.scope == Scope::Plugin);
        if !keeps_first {
            winners.insert(server.name.clone(), (index, server.origin.clone()));
        }
    }
    for (index, server) in servers.iter_mut().enumerate() {
        let Some((winner, origin)) = winners.get(&server.name) else { continue };
        let loses = match server.standing {
            ServerStanding::Ready => *winner != index,
            ServerStanding::NeedsApproval(_) => *winner > index,
            ServerStanding::Rejected { .. }
            | ServerStanding::Blocked(_)
            | ServerStanding::Disabled { .. }
            | ServerStanding::Shadowed { .. }
            | ServerStanding::Duplicate { .. }
            | ServerStanding::Invalid(_)
            | ServerStanding::Skipped(_) => false,
        };
        if loses {
            server.standing = ServerStanding::Shadowed { by: origin.clone() };
        }
    }
}

/// A plugin's or connector's server that someone configured by hand, or an earlier plugin brought, is
/// that server (C8). Two manual ones both stay: their owner wanted two names.
pub(super) fn dedupe(servers: &mut [Planned]) {
    let mut known: HashMap<Endpoint, (ServerName, Origin)> = HashMap::new();
    let manual = |server: &&mut Planned| server.scope.is_manual();
    let plugins = |server: &&mut Planned| server.scope == Scope::Plugin;
    let connectors = |server: &&mut Planned| server.scope == Scope::Connectors;
    for server in servers.iter_mut().filter(manual) {
        if let Some(endpoint) = ready_endpoint(server) {
            known.insert(endpoint, (server.name.clone(), server.origin.clone()));
        }
    }
    for server in servers.iter_mut().filter(plugins) {
        claim(&mut known, server);
    }
    for server in servers.iter_mut().filter(connectors) {
        claim(&mut known, server);
    }
}

fn claim(known: &mut HashMap<Endpoint, (ServerName, Origin)>, server: &mut Planned) {
    let Some(endpoint) = ready_endpoint(server) else { return };
    match known.get(&endpoint) {
        Some((of, origin)) => {
            server.standing = ServerStanding::Duplicate { of: of.clone(), origin: origin.clone() };
        }
        None => {
            known.insert(endpoint, (server.name.clone(), server.origin.clone()));
        }
    }
}

fn ready_endpoint(server: &Planned) -> Option<Endpoint> {
    (server.standing == ServerStanding::Ready).then(|| server.endpoint()).flatten()
}
