//! Plan: decides the status of every declared server, with its reason.
//!
//! Each declaration is checked on its own first (exclusivity, policy, disabled, approval), and only those
//! that may run compete for a name: a blocked or unapproved entry must never hide a permitted one. No
//! declaration is dropped: one that does not run is in the plan with its reason.

mod agent;
mod caution;
mod conflicts;
mod status;

use std::sync::Arc;

use mcparley_model::ancestry::Ancestry;
use mcparley_model::approval::{Approval, FolderServer, Interactivity, Provenance};
use mcparley_model::config::{
    ConfigError, EntryHint, RawServer, ServerConfig, TransportConfig, TransportKind,
};
use mcparley_model::expand::Env;
use mcparley_model::name::{ServerName, check_written_name};
use mcparley_model::policy::{self, ResolvedCommand};
use mcparley_model::program::{NoFileSystem, ProgramFinder, starts_mcparley};
use mcparley_model::scope::{ConfigOrigin, Scope, Source};
use mcparley_model::settings::MergedSettings;
use mcparley_model::signature::{DefinitionHash, EndpointHash, Signature};

pub use caution::Caution;
pub use status::{BlockReason, PlanStatus, SkipReason};

/// A server declaration from one source.
#[derive(Clone, Debug)]
pub struct ServerDeclaration {
    /// The server's name.
    pub name: ServerName,
    /// The scope of the source.
    pub scope: Scope,
    /// The possible author: the user, or the project folder.
    pub provenance: Provenance,
    /// The file and line of the entry.
    pub origin: ConfigOrigin,
    /// The parsed entry, or the error in it.
    pub raw: Result<RawServer, ConfigError>,
    /// Environment variables that only this entry sees, such as a plugin's folder.
    pub variables: Vec<(String, String)>,
}

/// Whether managed files exclude all other servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Enterprise {
    /// There is no `managed-mcp.json`.
    #[default]
    Absent,
    /// `managed-mcp.json` exists: only its servers run.
    Exclusive(Source),
    /// A managed file cannot be read: no server runs at all.
    Broken {
        /// The managed file.
        source: Source,
        /// The error in that file.
        reason: String,
    },
}

/// The context in which declarations are planned.
#[derive(Debug)]
pub struct PlanContext {
    /// The merged settings.
    pub settings: MergedSettings,
    /// Whether managed files exclude all other servers.
    pub enterprise: Enterprise,
    /// Whether only dynamic servers may run (`--strict-mcp-config`).
    pub strict: bool,
    /// Whether the user can be asked.
    pub session: Interactivity,
    /// The environment variables for expansion.
    pub env: Env,
    /// Resolves the programs that commands name.
    pub programs: Arc<dyn ProgramFinder>,
    /// The entries that started this process, one inside the other.
    pub ancestry: Ancestry,
}

impl Default for PlanContext {
    fn default() -> Self {
        Self {
            settings: MergedSettings::default(),
            enterprise: Enterprise::default(),
            strict: false,
            session: Interactivity::default(),
            env: Env::default(),
            programs: Arc::new(NoFileSystem),
            ancestry: Ancestry::default(),
        }
    }
}

/// The plan: every declared server with its status.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Every declaration, in precedence order, lowest first.
    pub servers: Vec<PlannedServer>,
}

/// A declared server with its plan status.
#[derive(Clone, Debug)]
pub struct PlannedServer {
    /// The server's name.
    pub name: ServerName,
    /// The scope of the source.
    pub scope: Scope,
    /// The possible author: the user, or the project folder.
    pub provenance: Provenance,
    /// The file and line of the entry.
    pub origin: ConfigOrigin,
    /// The plan status, with its reason.
    pub status: PlanStatus,
    /// The plan status before conflicts with other servers were resolved.
    status_before_conflicts: PlanStatus,
    /// The entry as written, if it could be parsed.
    pub raw: Option<RawServer>,
    /// The transport, if the entry names or implies one.
    pub kind: Option<TransportKind>,
    /// The entry expanded and validated, if that was possible.
    pub config: Option<ServerConfig>,
    /// The definition that an approval would be bound to.
    pub definition: Option<DefinitionHash>,
    /// The definition of the entry before expansion, for entries that the user wrote into the project folder.
    pub written: Option<DefinitionHash>,
    /// Remarks about the entry that do not stop it.
    pub hints: Vec<EntryHint>,
    /// Warnings about the server for the user.
    pub cautions: Vec<Caution>,
}

impl Plan {
    /// Makes a plan from declarations. Pure: the same declarations and context give the same plan.
    ///
    /// Of two declarations of one name in one scope the later wins, except between plugins.
    #[must_use]
    pub fn from_declarations(declarations: Vec<ServerDeclaration>, ground: &PlanContext) -> Self {
        Self::resolve_conflicts(
            declarations.into_iter().map(|declaration| ground.plan_server(declaration)).collect(),
        )
    }

    /// The plan with these connectors in place of its own.
    #[must_use]
    pub fn with_connectors(&self, connectors: Vec<ServerDeclaration>, ground: &PlanContext) -> Self {
        let others = self.servers.iter().filter(|server| server.scope != Scope::Connectors).cloned();
        let connectors = connectors.into_iter().map(|connector| ground.plan_server(connector));
        Self::resolve_conflicts(connectors.chain(others.map(PlannedServer::before_conflicts)).collect())
    }

    /// Resolves conflicts between servers that were checked one by one.
    fn resolve_conflicts(mut servers: Vec<PlannedServer>) -> Self {
        // The sort is stable, so the order of the sources is kept within a scope.
        servers.sort_by_key(|server| server.scope);
        conflicts::deny_aliases(&mut servers);
        conflicts::shadow_weaker(&mut servers);
        conflicts::mark_duplicates(&mut servers);
        caution::mark_look_alikes(&mut servers);
        Self { servers }
    }

    /// The servers that are ready to be connected to.
    pub fn ready_servers(&self) -> impl Iterator<Item = &PlannedServer> {
        self.servers.iter().filter(|server| server.status == PlanStatus::Ready)
    }

    /// The denial that also applies to this server, because a denied declaration has the same endpoint.
    #[must_use]
    pub fn alias_denial(&self, config: &ServerConfig) -> Option<BlockReason> {
        let endpoint = EndpointHash::from_config(config)?;
        self.servers.iter().filter(|server| server.endpoint() == Some(endpoint)).find_map(|server| {
            match &server.status {
                PlanStatus::Blocked(BlockReason::Policy(violation)) if violation.is_denial() => {
                    Some(BlockReason::Alias { of: server.name.clone(), violation: violation.clone() })
                }
                _ => None,
            }
        })
    }

    /// The declarations of one name, the ready one first.
    #[must_use]
    pub fn servers_by_name(&self, name: &str) -> Vec<&PlannedServer> {
        let mut named: Vec<&PlannedServer> =
            self.servers.iter().rev().filter(|server| server.name.as_str() == name).collect();
        named.sort_by_key(|server| server.status != PlanStatus::Ready);
        named
    }
}

impl PlannedServer {
    /// The server as it was before conflicts with others were resolved.
    fn before_conflicts(self) -> Self {
        let cautions = Caution::for_entry(&self.name, self.config.as_ref());
        Self { status: self.status_before_conflicts.clone(), cautions, ..self }
    }

    /// The signature of the server: the identity of its connection.
    #[must_use]
    pub fn signature(&self) -> Option<Signature> {
        self.config.as_ref().map(Signature::from_config)
    }

    /// The server as the approval check sees it; `None` if the user wrote the entry or if it is invalid.
    #[must_use]
    pub fn to_found_server(&self) -> Option<FolderServer<'_>> {
        let (Provenance::Folder, Some(definition), Some(written)) =
            (self.provenance, self.definition, self.written)
        else {
            return None;
        };
        let file = self.origin.source.path().and_then(|path| path.file_name());
        let is_in_mcp_json = self.scope == Scope::Project && file.is_some_and(|file| file == ".mcp.json");
        Some(FolderServer { name: &self.name, definition, written, is_in_mcp_json })
    }

    pub(crate) fn endpoint(&self) -> Option<EndpointHash> {
        self.config.as_ref().and_then(EndpointHash::from_config)
    }

    /// Variables in the server's environment that change which program runs or which code is loaded into it.
    pub fn dangerous_variables(&self) -> impl Iterator<Item = &str> {
        let env = self.raw.iter().flat_map(|raw| raw.env.iter());
        env.map(|(name, _)| name.as_str()).filter(|name| policy::can_change_program(name))
    }
}

/// Checks one declaration on its own, without looking at the others.
impl PlanContext {
    fn plan_server(&self, declaration: ServerDeclaration) -> PlannedServer {
        let ServerDeclaration { name, scope, provenance, origin, raw, variables } = declaration;
        let (raw, read) = match raw {
            Ok(raw) => {
                let named = check_name(&name, scope, &origin);
                let config = named.and_then(|()| self.expand_config(&raw, scope, &origin, &variables));
                (Some(raw), config)
            }
            Err(error) => (None, Err(error)),
        };
        let kind = raw.as_ref().and_then(|raw| raw.effective_kind(&origin).ok());
        let hints = raw.as_ref().zip(kind).map(|(raw, kind)| raw.hints_for_kind(kind)).unwrap_or_default();
        let definition = raw
            .as_ref()
            .zip(read.as_ref().ok())
            .map(|(raw, config)| DefinitionHash::from_config(raw, config));
        let written = raw.as_ref().zip(kind).map(|(raw, kind)| DefinitionHash::from_written(raw, kind));
        let mut planned = PlannedServer {
            name,
            scope,
            provenance,
            origin,
            status: PlanStatus::Ready,
            status_before_conflicts: PlanStatus::Ready,
            raw,
            kind,
            config: None,
            definition,
            written,
            hints,
            cautions: Vec::new(),
        };
        planned.status = match (self.scope_block(scope), &read) {
            // A denial takes precedence, so that it also applies to the same server under another name.
            (Some(BlockReason::Strict), Ok(config)) => {
                let denied = self.check_policy(&planned.name, scope, config).err();
                let denied = denied.filter(policy::PolicyViolation::is_denial).map(BlockReason::Policy);
                PlanStatus::Blocked(denied.unwrap_or(BlockReason::Strict))
            }
            (Some(block), _) => PlanStatus::Blocked(block),
            (None, Err(error)) => PlanStatus::Invalid(error.clone()),
            (None, Ok(config)) => self.decide_status(&planned, config),
        };
        planned.status_before_conflicts = planned.status.clone();
        planned.config = read.ok();
        planned.cautions = Caution::for_entry(&planned.name, planned.config.as_ref());
        planned
    }

    fn expand_config(
        &self,
        raw: &RawServer,
        scope: Scope,
        origin: &ConfigOrigin,
        variables: &[(String, String)],
    ) -> Result<ServerConfig, ConfigError> {
        let kind = raw.effective_kind(origin)?;
        if kind.is_runtime_only() && !matches!(scope, Scope::Dynamic | Scope::Connectors) {
            return Err(ConfigError::RuntimeOnly { kind, origin: origin.clone() });
        }
        if variables.is_empty() {
            return raw.to_config(&self.env, origin);
        }
        let mut env = self.env.clone();
        for (name, value) in variables {
            env.set(name, value);
        }
        raw.to_config(&env, origin)
    }

    /// The rule that excludes a whole scope, if there is one.
    fn scope_block(&self, scope: Scope) -> Option<BlockReason> {
        match &self.enterprise {
            Enterprise::Broken { source, reason } => {
                Some(BlockReason::ManagedBroken { file: source.clone(), reason: reason.clone() })
            }
            Enterprise::Exclusive(source) if scope != Scope::Enterprise => {
                Some(BlockReason::ManagedOnly { file: source.clone() })
            }
            Enterprise::Absent if self.strict && scope != Scope::Dynamic => Some(BlockReason::Strict),
            Enterprise::Exclusive(_) | Enterprise::Absent => None,
        }
    }

    fn decide_status(&self, server: &PlannedServer, config: &ServerConfig) -> PlanStatus {
        if let Err(violation) = self.check_policy(&server.name, server.scope, config) {
            return PlanStatus::Blocked(BlockReason::Policy(violation));
        }
        if let Some(reason) = self.skip_reason(config) {
            return PlanStatus::Skipped(reason);
        }
        if let Some(entry) = self.settings.disabled.iter().find(|entry| entry.value == server.name) {
            return PlanStatus::Disabled { by: entry.origin.clone() };
        }
        let Some(found) = server.to_found_server() else { return PlanStatus::Ready };
        match self.settings.choices.decide_server_approval(&found, self.session) {
            Approval::Approved | Approval::Adopted => PlanStatus::Ready,
            Approval::Rejected { by } => PlanStatus::Rejected { by },
            Approval::Pending(why) => PlanStatus::NeedsApproval(why),
        }
    }

    fn check_policy(
        &self,
        name: &ServerName,
        scope: Scope,
        config: &ServerConfig,
    ) -> Result<(), policy::PolicyViolation> {
        check_policy(&self.settings.policy, name, scope, config, self.programs.as_ref())
    }

    /// The reason why this process must not start the server, if there is one.
    fn skip_reason(&self, config: &ServerConfig) -> Option<SkipReason> {
        let TransportConfig::Stdio(stdio) = &config.transport else { return None };
        if starts_mcparley(stdio, self.programs.as_ref()) {
            return Some(SkipReason::StartsItself);
        }
        if self.ancestry.contains(&Signature::from_config(config)) {
            return Some(SkipReason::StartedThis);
        }
        self.ancestry.is_full().then_some(SkipReason::TooDeep)
    }
}

/// Checks a server name from a file. Names of plugins' servers and connectors are made by the program.
fn check_name(name: &ServerName, scope: Scope, origin: &ConfigOrigin) -> Result<(), ConfigError> {
    match scope {
        Scope::Plugin | Scope::Connectors => Ok(()),
        Scope::User | Scope::Project | Scope::Local | Scope::Dynamic | Scope::Enterprise => {
            check_written_name(name.as_str())
                .map_err(|error| ConfigError::Name { error, origin: origin.clone() })
        }
    }
}

/// Checks a server against the policy; every source of servers goes through here.
///
/// # Errors
/// The violated policy rule.
pub fn check_policy(
    policy: &policy::Policy,
    name: &ServerName,
    scope: Scope,
    config: &ServerConfig,
    programs: &dyn ProgramFinder,
) -> Result<(), policy::PolicyViolation> {
    let (command, env_names): (ResolvedCommand, Vec<&str>);
    let target = match &config.transport {
        TransportConfig::Stdio(stdio) => {
            command = ResolvedCommand::resolve(stdio, programs, &policy.denied_paths());
            env_names = stdio.env.iter().map(|(name, _)| name.as_str()).collect();
            policy::PolicyTarget::Command { command: &command, env_names: &env_names }
        }
        TransportConfig::Sse(remote) | TransportConfig::Http(remote) | TransportConfig::Ws(remote) => {
            policy::PolicyTarget::Url(remote.url.expose())
        }
        TransportConfig::SseIde(ide) | TransportConfig::WsIde(ide) => policy::PolicyTarget::Url(&ide.url),
        TransportConfig::ClaudeAiProxy { url, .. } => policy::PolicyTarget::Url(url),
        TransportConfig::Sdk { .. } => policy::PolicyTarget::Other,
    };
    policy.check_server(&policy::PolicySubject { name, scope, target })
}

#[cfg(test)]
mod tests;
