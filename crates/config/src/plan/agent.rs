//! Plans the servers that an agent brings, and selects the shared servers that it sees.
//!
//! An agent's server passes the same checks as any other. It shadows a shared server of the same name for
//! this agent only, and it never changes the plan status of a shared server.

use super::{BlockReason, Plan, PlanContext, PlanStatus, PlannedServer, ServerDeclaration, conflicts};
use mcparley_model::name::ServerName;

impl Plan {
    /// Plans an agent's own servers next to the shared servers of this plan.
    #[must_use]
    pub fn plan_agent_servers(&self, declarations: Vec<ServerDeclaration>, ground: &PlanContext) -> Self {
        let mut servers: Vec<PlannedServer> =
            self.servers.iter().filter(|server| is_denied(server)).cloned().collect();
        let shared = servers.len();
        servers.extend(declarations.into_iter().map(|declaration| ground.plan_server(declaration)));
        conflicts::deny_aliases(&mut servers);
        let mut own = servers.split_off(shared);
        if ground.strict {
            let runs = own.iter_mut().filter(|server| !matches!(server.status, PlanStatus::Blocked(_)));
            runs.for_each(|server| server.status = PlanStatus::Blocked(BlockReason::Strict));
        }
        conflicts::shadow_weaker(&mut own);
        Self { servers: own }
    }

    /// The plan as an agent sees it: the shared servers that `sees` selects, then its own servers.
    #[must_use]
    pub fn merge_agent_plan(&self, own: &Self, sees: impl Fn(&ServerName) -> bool) -> Self {
        let mut servers: Vec<PlannedServer> =
            self.servers.iter().filter(|server| sees(&server.name)).cloned().collect();
        for server in &mut servers {
            let hidden = matches!(server.status, PlanStatus::Ready | PlanStatus::NeedsApproval(_));
            if hidden && let Some(winner) = own.ready_servers().find(|winner| winner.name == server.name) {
                server.status = PlanStatus::Shadowed { by: winner.origin.clone() };
            }
        }
        servers.extend(own.servers.iter().cloned());
        Self { servers }
    }
}

fn is_denied(server: &PlannedServer) -> bool {
    matches!(&server.status, PlanStatus::Blocked(BlockReason::Policy(violation)) if violation.is_denial())
}
