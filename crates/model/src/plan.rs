//! Decides what becomes of every declared server, and says why (C1, C8, C15).
//!
//! Each declaration is judged on its own first (exclusivity, policy, disabled, approval), and only what may
//! run competes for a name: a blocked or unapproved entry must never hide a permitted one. Nothing is
//! dropped: what does not run stands in the plan with its reason.

mod agent;
mod caution;
mod compete;
mod standing;

use std::sync::Arc;

use crate::ancestry::Ancestry;
use crate::approval::{Approval, FoundServer, Provenance, Session};
use crate::config::{ConfigError, Hint, Kind, RawServer, ServerConfig, Transport};
use crate::expand::Env;
use crate::name::{ServerName, check_written_name};
use crate::policy::{self, ResolvedCommand};
use crate::program::{NoFileSystem, ProgramFinder, starts_itself};
use crate::scope::{Origin, Scope, Source};
use crate::settings::Settings;
use crate::signature::{Definition, Endpoint, Signature};

pub use caution::Caution;
pub use standing::{Block, ServerStanding, SkipReason};

/// A server as one source declares it.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its name.
    pub name: ServerName,
    /// The source.
    pub scope: Scope,
    /// Who can have written it.
    pub provenance: Provenance,
    /// Where the entry stands.
    pub origin: Origin,
    /// What the entry says, or why it cannot be read.
    pub raw: Result<RawServer, ConfigError>,
    /// Variables that only this entry sees, such as a plugin's folder.
    pub variables: Vec<(String, String)>,
}

/// Whether the administrator's files leave room for others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Enterprise {
    /// There is no `managed-mcp.json`.
    #[default]
    Absent,
    /// There is one: nothing else runs.
    Exclusive(Source),
    /// A managed file cannot be read: nothing runs at all (C5).
    Broken {
        /// The file.
        source: Source,
        /// What is wrong with it.
        reason: String,
    },
}

/// What declarations are judged by.
#[derive(Debug)]
pub struct Ground {
    /// What the settings say.
    pub settings: Settings,
    /// The administrator's word.
    pub enterprise: Enterprise,
    /// Whether only dynamic servers are wanted (`--strict-mcp-config`).
    pub strict: bool,
    /// Whether a person can be asked.
    pub session: Session,
    /// The variables for expansion.
    pub env: Env,
    /// Finds the programs that commands mean.
    pub programs: Arc<dyn ProgramFinder>,
    /// The entries that started this process.
    pub ancestry: Ancestry,
}

impl Default for Ground {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            enterprise: Enterprise::default(),
            strict: false,
            session: Session::default(),
            env: Env::default(),
            programs: Arc::new(NoFileSystem),
            ancestry: Ancestry::default(),
        }
    }
}

/// What becomes of every declared server.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Every declaration, in precedence order, lowest first.
    pub servers: Vec<Planned>,
}

/// One declaration and its fate.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The server's name.
    pub name: ServerName,
    /// The source.
    pub scope: Scope,
    /// Who can have written it.
    pub provenance: Provenance,
    /// Where the entry stands.
    pub origin: Origin,
    /// Its fate, and why.
    pub standing: ServerStanding,
    /// The entry as it is written, when it could be read.
    pub raw: Option<RawServer>,
    /// The transport, when the entry tells.
    pub kind: Option<Kind>,
    /// The entry expanded and checked, when it could be.
    pub config: Option<ServerConfig>,
    /// What approving it would bind.
    pub definition: Option<Definition>,
    /// What it is as written, for what the user wrote into the folder.
    pub written: Option<Definition>,
    /// What was noticed and stops nothing.
    pub hints: Vec<Hint>,
    /// What deserves a second look before it runs.
    pub cautions: Vec<Caution>,
}

impl Plan {
    /// Plans. Pure: the same declarations on the same ground give the same plan.
    ///
    /// Of two declarations of one name in one scope the later wins, except between plugins.
    #[must_use]
    pub fn make(declarations: Vec<Declaration>, ground: &Ground) -> Self {
        let mut servers: Vec<Planned> =
            declarations.into_iter().map(|declaration| ground.planned(declaration)).collect();
        // Stable, so that within a scope the order of the sources is kept.
        servers.sort_by_key(|server| server.scope);
        compete::deny_aliases(&mut servers);
        compete::shadow(&mut servers);
        compete::dedupe(&mut servers);
        caution::mark_look_alikes(&mut servers);
        Self { servers }
    }

    /// The servers that may be connected to.
    pub fn ready(&self) -> impl Iterator<Item = &Planned> {
        self.servers.iter().filter(|server| server.standing == ServerStanding::Ready)
    }

    /// The denial that also means this server, because a denied declaration is the same one (B32).
    #[must_use]
    pub fn denial_of(&self, config: &ServerConfig) -> Option<Block> {
        let endpoint = Endpoint::of(config)?;
        self.servers.iter().filter(|server| server.endpoint() == Some(endpoint)).find_map(|server| {
            match &server.standing {
                ServerStanding::Blocked(Block::Policy(violation)) if violation.is_denial() => {
                    Some(Block::Alias { of: server.name.clone(), violation: violation.clone() })
                }
                _ => None,
            }
        })
    }

    /// The declarations of one name, the winner first.
    #[must_use]
    pub fn named(&self, name: &str) -> Vec<&Planned> {
        let mut named: Vec<&Planned> =
            self.servers.iter().rev().filter(|server| server.name.as_str() == name).collect();
        named.sort_by_key(|server| server.standing != ServerStanding::Ready);
        named
    }
}

impl Planned {
    /// Identity of its connection.
    #[must_use]
    pub fn signature(&self) -> Option<Signature> {
        self.config.as_ref().map(Signature::of)
    }

    /// The server as approval looks at it; nothing when the user wrote it or when it cannot be used.
    #[must_use]
    pub fn as_found(&self) -> Option<FoundServer<'_>> {
        let (Provenance::Folder, Some(definition), Some(written)) =
            (self.provenance, self.definition, self.written)
        else {
            return None;
        };
        let file = self.origin.source.path().and_then(|path| path.file_name());
        let is_in_mcp_json = self.scope == Scope::Project && file.is_some_and(|file| file == ".mcp.json");
        Some(FoundServer { name: &self.name, definition, written, is_in_mcp_json })
    }

    pub(crate) fn endpoint(&self) -> Option<Endpoint> {
        self.config.as_ref().and_then(Endpoint::of)
    }

    /// Variables in its environment that change which program runs or what is loaded into it (B58).
    pub fn dangerous_variables(&self) -> impl Iterator<Item = &str> {
        let env = self.raw.iter().flat_map(|raw| raw.env.iter());
        env.map(|(name, _)| name.as_str()).filter(|name| policy::changes_what_runs(name))
    }
}

/// Judging one declaration, without looking at the others.
impl Ground {
    fn planned(&self, declaration: Declaration) -> Planned {
        let Declaration { name, scope, provenance, origin, raw, variables } = declaration;
        let (raw, read) = match raw {
            Ok(raw) => {
                let named = check_name(&name, scope, &origin);
                let config = named.and_then(|()| self.config(&raw, scope, &origin, &variables));
                (Some(raw), config)
            }
            Err(error) => (None, Err(error)),
        };
        let kind = raw.as_ref().and_then(|raw| raw.effective_kind(&origin).ok());
        let hints = raw.as_ref().zip(kind).map(|(raw, kind)| raw.hints(kind)).unwrap_or_default();
        let definition =
            raw.as_ref().zip(read.as_ref().ok()).map(|(raw, config)| Definition::of(raw, config));
        let written = raw.as_ref().zip(kind).map(|(raw, kind)| Definition::of_written(raw, kind));
        let mut planned = Planned {
            name,
            scope,
            provenance,
            origin,
            standing: ServerStanding::Ready,
            raw,
            kind,
            config: None,
            definition,
            written,
            hints,
            cautions: Vec::new(),
        };
        planned.standing = match (self.excluded(scope), &read) {
            // A denial is kept in view, so that it finds the same server under another name (B32).
            (Some(Block::Strict), Ok(config)) => {
                let denied = self.judge_policy(&planned.name, scope, config).err();
                let denied = denied.filter(policy::Violation::is_denial).map(Block::Policy);
                ServerStanding::Blocked(denied.unwrap_or(Block::Strict))
            }
            (Some(block), _) => ServerStanding::Blocked(block),
            (None, Err(error)) => ServerStanding::Invalid(error.clone()),
            (None, Ok(config)) => self.standing(&planned, config),
        };
        planned.config = read.ok();
        planned.cautions = Caution::of_entry(&planned.name, planned.config.as_ref());
        planned
    }

    fn config(
        &self,
        raw: &RawServer,
        scope: Scope,
        origin: &Origin,
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

    /// Whether the scope as a whole is out.
    fn excluded(&self, scope: Scope) -> Option<Block> {
        match &self.enterprise {
            Enterprise::Broken { source, reason } => {
                Some(Block::ManagedBroken { file: source.clone(), reason: reason.clone() })
            }
            Enterprise::Exclusive(source) if scope != Scope::Enterprise => {
                Some(Block::ManagedOnly { file: source.clone() })
            }
            Enterprise::Absent if self.strict && scope != Scope::Dynamic => Some(Block::Strict),
            Enterprise::Exclusive(_) | Enterprise::Absent => None,
        }
    }

    fn standing(&self, server: &Planned, config: &ServerConfig) -> ServerStanding {
        if let Err(violation) = self.judge_policy(&server.name, server.scope, config) {
            return ServerStanding::Blocked(Block::Policy(violation));
        }
        if let Some(reason) = self.skip_reason(config) {
            return ServerStanding::Skipped(reason);
        }
        if let Some(entry) = self.settings.disabled.iter().find(|entry| entry.value == server.name) {
            return ServerStanding::Disabled { by: entry.origin.clone() };
        }
        let Some(found) = server.as_found() else { return ServerStanding::Ready };
        match self.settings.choices.approve_server(&found, self.session) {
            Approval::Approved | Approval::Adopted => ServerStanding::Ready,
            Approval::Rejected { by } => ServerStanding::Rejected { by },
            Approval::Pending(why) => ServerStanding::NeedsApproval(why),
        }
    }

    fn judge_policy(
        &self,
        name: &ServerName,
        scope: Scope,
        config: &ServerConfig,
    ) -> Result<(), policy::Violation> {
        judge_policy(&self.settings.policy, name, scope, config, self.programs.as_ref())
    }

    /// Why the server must not be started by this process, whoever wants it.
    fn skip_reason(&self, config: &ServerConfig) -> Option<SkipReason> {
        let Transport::Stdio(stdio) = &config.transport else { return None };
        if starts_itself(stdio, self.programs.as_ref()) {
            return Some(SkipReason::StartsItself);
        }
        if self.ancestry.contains(&Signature::of(config)) {
            return Some(SkipReason::StartedThis);
        }
        self.ancestry.is_full().then_some(SkipReason::TooDeep)
    }
}

/// Names of plugins' servers and connectors are made by the program, all others stand in files.
fn check_name(name: &ServerName, scope: Scope, origin: &Origin) -> Result<(), ConfigError> {
    match scope {
        Scope::Plugin | Scope::Connectors => Ok(()),
        Scope::User | Scope::Project | Scope::Local | Scope::Dynamic | Scope::Enterprise => {
            check_written_name(name.as_str())
                .map_err(|error| ConfigError::Name { error, origin: origin.clone() })
        }
    }
}

/// Policy, for every path a server can come by.
///
/// # Errors
/// The rule that forbids it.
pub fn judge_policy(
    policy: &policy::Policy,
    name: &ServerName,
    scope: Scope,
    config: &ServerConfig,
    programs: &dyn ProgramFinder,
) -> Result<(), policy::Violation> {
    let (command, env_names): (ResolvedCommand, Vec<&str>);
    let target = match &config.transport {
        Transport::Stdio(stdio) => {
            command = ResolvedCommand::of(stdio, programs, &policy.denied_paths());
            env_names = stdio.env.iter().map(|(name, _)| name.as_str()).collect();
            policy::Target::Command { command: &command, env_names: &env_names }
        }
        Transport::Sse(remote) | Transport::Http(remote) | Transport::Ws(remote) => {
            policy::Target::Url(remote.url.expose())
        }
        Transport::SseIde(ide) | Transport::WsIde(ide) => policy::Target::Url(&ide.url),
        Transport::ClaudeAiProxy { url, .. } => policy::Target::Url(url),
        Transport::Sdk { .. } => policy::Target::Other,
    };
    policy.judge(&policy::Subject { name, scope, target })
}

#[cfg(test)]
mod tests;
