//! Resolves conflicts between declarations that may run: equal names, and equal servers.

use std::collections::HashMap;

use super::{BlockReason, PlanStatus, PlannedServer};
use mcparley_model::name::ServerName;
use mcparley_model::policy::PolicyViolation;
use mcparley_model::scope::{ConfigOrigin, Scope};
use mcparley_model::signature::EndpointHash;

/// Denies every server that has the same endpoint as a denied one: a new name does not lift a denial.
pub(super) fn deny_aliases(servers: &mut [PlannedServer]) {
    let mut denied: HashMap<EndpointHash, (ServerName, PolicyViolation)> = HashMap::new();
    for server in servers.iter() {
        if let PlanStatus::Blocked(BlockReason::Policy(violation)) = &server.status
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
        if !matches!(server.status, PlanStatus::Blocked(_)) {
            server.status =
                PlanStatus::Blocked(BlockReason::Alias { of: name.clone(), violation: violation.clone() });
        }
    }
}

/// Shadows all ready declarations of a name but the strongest one, and weaker ones that still need approval.
///
/// `servers` are in precedence order. Between plugins the first loaded wins, in all other scopes the later
/// one.
pub(super) fn shadow_weaker(servers: &mut [PlannedServer]) {
    let mut winners: HashMap<ServerName, (usize, ConfigOrigin)> = HashMap::new();
    for (index, server) in servers.iter().enumerate() {
        if server.status != PlanStatus::Ready {
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
        let loses = match server.status {
            PlanStatus::Ready => *winner != index,
            PlanStatus::NeedsApproval(_) => *winner > index,
            PlanStatus::Rejected { .. }
            | PlanStatus::Blocked(_)
            | PlanStatus::Disabled { .. }
            | PlanStatus::Shadowed { .. }
            | PlanStatus::Duplicate { .. }
            | PlanStatus::Invalid(_)
            | PlanStatus::Skipped(_) => false,
        };
        if loses {
            server.status = PlanStatus::Shadowed { by: origin.clone() };
        }
    }
}

/// Marks a plugin's or connector's server as a duplicate if its endpoint is already configured.
///
/// The other declaration is manual, or comes from an earlier plugin. Two manual declarations both stay: the
/// user wanted two names for the server.
pub(super) fn mark_duplicates(servers: &mut [PlannedServer]) {
    let mut known: HashMap<EndpointHash, (ServerName, ConfigOrigin)> = HashMap::new();
    let manual = |server: &&mut PlannedServer| server.scope.is_manual();
    let plugins = |server: &&mut PlannedServer| server.scope == Scope::Plugin;
    let connectors = |server: &&mut PlannedServer| server.scope == Scope::Connectors;
    for server in servers.iter_mut().filter(manual) {
        if let Some(endpoint) = ready_endpoint(server) {
            known.insert(endpoint, (server.name.clone(), server.origin.clone()));
        }
    }
    for server in servers.iter_mut().filter(plugins) {
        claim_endpoint(&mut known, server);
    }
    for server in servers.iter_mut().filter(connectors) {
        claim_endpoint(&mut known, server);
    }
}

fn claim_endpoint(known: &mut HashMap<EndpointHash, (ServerName, ConfigOrigin)>, server: &mut PlannedServer) {
    let Some(endpoint) = ready_endpoint(server) else { return };
    match known.get(&endpoint) {
        Some((of, origin)) => {
            server.status = PlanStatus::Duplicate { of: of.clone(), origin: origin.clone() };
        }
        None => {
            known.insert(endpoint, (server.name.clone(), server.origin.clone()));
        }
    }
}

fn ready_endpoint(server: &PlannedServer) -> Option<EndpointHash> {
    (server.status == PlanStatus::Ready).then(|| server.endpoint()).flatten()
}
