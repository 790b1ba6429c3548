//! Facts about a server that does not work, as plain values that the conditions of causes are matched
//! against.

use mcparley_config::plan::{BlockReason, PlanStatus, PlannedServer};
use mcparley_model::config::{ConfigError, ServerConfig, TransportConfig, ValueProblem};
use mcparley_model::expand::ExpandError;
use mcparley_model::text::Untrusted;
use mcparley_wire::{Failure, ServerExit};
use serde::Deserialize;
use url::Url;

use mcparley_pool::health::{CheckedServer, ServerHealth};

/// The number of last lines of each text that are matched; no reason is further from the end.
const LINES: usize = 1000;

/// The facts about one server. The words are those of `--json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServerFacts {
    /// The plan status.
    pub(crate) standing: String,
    /// The detailed reason of the plan, if the server may not run.
    pub(crate) entry: Option<String>,
    pub(crate) transport: Option<String>,
    pub(crate) failure: Option<String>,
    pub(crate) obstacle: Option<String>,
    pub(crate) exit: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) status: Option<u16>,
    /// The configured program, with its path.
    pub(crate) program: Option<String>,
    pub(crate) arguments: Vec<String>,
    /// The names of the configured headers, in lowercase.
    pub(crate) headers: Vec<String>,
    pub(crate) host: Option<String>,
    /// The number of lines on standard output that are not MCP messages.
    pub(crate) strays: u64,
    /// The texts to match: standard error, standard output, and the error message.
    pub(crate) said: Vec<String>,
}

impl ServerFacts {
    /// The facts about a server that may not run.
    pub(crate) fn from_planned(server: &PlannedServer) -> Self {
        let mut facts = Self {
            standing: server.status.as_str().to_owned(),
            entry: entry_detail(&server.status).map(str::to_owned),
            transport: server.kind.map(|kind| kind.as_str().to_owned()),
            ..Self::default()
        };
        if let Some(config) = &server.config {
            facts.set_target(config);
        }
        facts
    }

    /// The facts about a server that was tried and failed.
    pub(crate) fn from_check(server: &PlannedServer, checked: &CheckedServer) -> Self {
        let mut facts = Self::from_planned(server);
        if let Some(stray) = &checked.stray {
            facts.strays = stray.lines;
            facts.add_text(&stray.first);
        }
        if let ServerHealth::Failed { failure, stderr } = &checked.health {
            facts.add_text(stderr);
            facts.add_text(&Untrusted::new(failure.to_string()));
            facts.set_failure(failure);
        }
        facts
    }

    /// The last lines of all texts, in lowercase.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        let last = self.said.iter().flat_map(|text| text.lines().rev().take(LINES));
        last.map(str::to_lowercase).collect()
    }

    fn add_text(&mut self, said: &Untrusted) {
        self.said.push(said.clean_text().into_owned());
    }

    fn set_target(&mut self, config: &ServerConfig) {
        match &config.transport {
            TransportConfig::Stdio(stdio) => {
                self.program = Some(stdio.command.clone());
                self.arguments = stdio.args.iter().map(|argument| argument.expose().clone()).collect();
            }
            TransportConfig::Sse(remote) | TransportConfig::Http(remote) | TransportConfig::Ws(remote) => {
                self.headers = remote.headers.iter().map(|(name, _)| name.to_lowercase()).collect();
                self.host = url_host(remote.url.expose());
            }
            TransportConfig::SseIde(ide) | TransportConfig::WsIde(ide) => self.host = url_host(&ide.url),
            TransportConfig::ClaudeAiProxy { url, .. } => self.host = url_host(url),
            TransportConfig::Sdk { .. } => {}
        }
    }

    fn set_failure(&mut self, failure: &Failure) {
        self.failure = Some(failure_word(failure).to_owned());
        self.status = http_status(failure);
        match failure {
            Failure::Refused { obstacle, .. } => self.obstacle = Some(obstacle.as_str().to_owned()),
            Failure::Closed { exit: Some(ServerExit { code, signal, .. }), .. } => {
                (self.exit, self.signal) = (*code, *signal);
            }
            Failure::Closed { exit: None, .. }
            | Failure::TimedOut { .. }
            | Failure::Damaged(_)
            | Failure::Protocol(_)
            | Failure::ErrorResponse(_)
            | Failure::TooLarge { .. }
            | Failure::Unauthorized { .. }
            | Failure::Forbidden { .. }
            | Failure::SessionExpired
            | Failure::Status { .. }
            | Failure::QueueFull { .. } => {}
        }
    }
}

/// The host of a URL, IPv6 addresses without brackets.
pub(crate) fn url_host(url: &Url) -> Option<String> {
    url.host_str().map(|host| host.trim_matches(['[', ']']).to_owned())
}

/// The word for a kind of failure.
pub(crate) fn failure_word(failure: &Failure) -> &'static str {
    match failure {
        Failure::Refused { .. } => "refused",
        Failure::TimedOut { .. } => "timed-out",
        Failure::Closed { .. } => "closed",
        Failure::Damaged(_) => "damaged",
        Failure::Protocol(_) => "protocol",
        Failure::ErrorResponse(_) => "answered",
        Failure::TooLarge { .. } => "too-large",
        Failure::Unauthorized { .. } => "unauthorized",
        Failure::Forbidden { .. } => "forbidden",
        Failure::SessionExpired => "session-expired",
        Failure::Status { .. } => "status",
        Failure::QueueFull { .. } => "queue-full",
    }
}

/// The HTTP status of a failure, if there is one.
pub(crate) fn http_status(failure: &Failure) -> Option<u16> {
    match failure {
        Failure::Unauthorized { .. } => Some(401),
        Failure::Forbidden { .. } => Some(403),
        Failure::Status { code, .. } => Some(*code),
        Failure::Refused { .. }
        | Failure::TimedOut { .. }
        | Failure::Closed { .. }
        | Failure::Damaged(_)
        | Failure::Protocol(_)
        | Failure::ErrorResponse(_)
        | Failure::TooLarge { .. }
        | Failure::SessionExpired
        | Failure::QueueFull { .. } => None,
    }
}

fn entry_detail(standing: &PlanStatus) -> Option<&'static str> {
    match standing {
        PlanStatus::Blocked(block) => Some(match block {
            BlockReason::ManagedOnly { .. } => "managed-only",
            BlockReason::ManagedBroken { .. } => "managed-broken",
            BlockReason::Strict => "strict",
            BlockReason::Policy(_) | BlockReason::Alias { .. } => "policy",
        }),
        PlanStatus::Invalid(error) => Some(match error {
            ConfigError::Expand(ExpandError::Unset { .. }) => "variable-unset",
            ConfigError::Value { problem: ValueProblem::NotAUrl(_) | ValueProblem::Scheme(_), .. } => "url",
            _ => "other",
        }),
        PlanStatus::Ready
        | PlanStatus::NeedsApproval(_)
        | PlanStatus::Rejected { .. }
        | PlanStatus::Disabled { .. }
        | PlanStatus::Shadowed { .. }
        | PlanStatus::Duplicate { .. }
        | PlanStatus::Skipped(_) => None,
    }
}
