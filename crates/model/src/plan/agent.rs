//! Decides what becomes of the servers an agent brings along, and which of the shared ones it sees (X7).
//!
//! What an agent brings is judged as everything else is. It hides a shared server of its name for this agent alone, and
//! nothing an agent brings changes what becomes of a shared one.

use super::{Block, Declaration, Ground, Plan, Planned, ServerStanding, compete};
use crate::name::ServerName;

impl Plan {
    /// What becomes of an agent's own servers next to the shared ones of this plan.
    #[must_use]
    pub fn of_own(&self, declarations: Vec<Declaration>, ground: &Ground) -> Self {
        let mut servers: Vec<Planned> =
            self.servers.iter().filter(|server| is_denied(server)).cloned().collect();
        let shared = servers.len();
        servers.extend(declarations.into_iter().map(|declaration| ground.planned(declaration)));
        compete::deny_aliases(&mut servers);
        let mut own = servers.split_off(shared);
        if ground.strict {
            let runs = own.iter_mut().filter(|server| !matches!(server.standing, ServerStanding::Blocked(_)));
            runs.for_each(|server| server.standing = ServerStanding::Blocked(Block::Strict));
        }
        compete::shadow(&mut own);
        Self { servers: own }
    }

    /// The plan an agent sees: the shared servers it `sees`, then its own.
    #[must_use]
    pub fn joined(&self, own: &Self, sees: impl Fn(&ServerName) -> bool) -> Self {
        let mut servers: Vec<Planned> =
            self.servers.iter().filter(|server| sees(&server.name)).cloned().collect();
        for server in &mut servers {
            let hidden = matches!(server.standing, ServerStanding::Ready | ServerStanding::NeedsApproval(_));
            if hidden && let Some(winner) = own.ready().find(|winner| winner.name == server.name) {
                server.standing = ServerStanding::Shadowed { by: winner.origin.clone() };
            }
        }
        servers.extend(own.servers.iter().cloned());
        Self { servers }
    }
}

fn is_denied(server: &Planned) -> bool {
    matches!(&server.standing, ServerStanding::Blocked(Block::Policy(violation)) if violation.is_denial())
}
