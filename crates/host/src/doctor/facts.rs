//! What is known of a server that does not work, as plain values that causes are compared with.

use mcparley_model::config::{ConfigError, Problem, ServerConfig, Transport};
use mcparley_model::expand::ExpandError;
use mcparley_model::plan::{Block, Planned, ServerStanding};
use mcparley_model::text::Untrusted;
use mcparley_wire::{Exit, Failure};
use serde::Deserialize;
use url::Url;

use crate::health::{Checked, Health};

/// How many of the last lines of one text are compared: more than any reason stands above the end.
const LINES: usize = 1000;

/// What is known of one server. Words are those of `--json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Facts {
    /// What the plan says of it.
    pub(super) standing: String,
    /// Why the plan does not let it run, more closely.
    pub(super) entry: Option<String>,
    pub(super) transport: Option<String>,
    pub(super) failure: Option<String>,
    pub(super) obstacle: Option<String>,
    pub(super) exit: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) status: Option<u16>,
    /// The program as it is configured, whole.
    pub(super) program: Option<String>,
    pub(super) arguments: Vec<String>,
    /// The names of its headers, in small letters.
    pub(super) headers: Vec<String>,
    pub(super) host: Option<String>,
    /// How many lines on its standard output were no messages.
    pub(super) strays: u64,
    /// Everything it said: standard error, standard output, the error itself.
    pub(super) said: Vec<String>,
}

impl Facts {
    /// Of a server that may not run.
    pub(super) fn of_planned(server: &Planned) -> Self {
        let mut facts = Self {
            standing: server.standing.as_str().to_owned(),
            entry: entry(&server.standing).map(str::to_owned),
            transport: server.kind.map(|kind| kind.as_str().to_owned()),
            ..Self::default()
        };
        if let Some(config) = &server.config {
            facts.aim(config);
        }
        facts
    }

    /// Of a server that was tried and failed.
    pub(super) fn of_checked(server: &Planned, checked: &Checked) -> Self {
        let mut facts = Self::of_planned(server);
        if let Some(stray) = &checked.stray {
            facts.strays = stray.lines;
            facts.hear(&stray.first);
        }
        if let Health::Failed { failure, stderr } = &checked.health {
            facts.hear(stderr);
            facts.hear(&Untrusted::new(failure.to_string()));
            facts.fail(failure);
        }
        facts
    }

    /// The last lines of everything that was said, in small letters.
    pub(super) fn lines(&self) -> Vec<String> {
        let last = self.said.iter().flat_map(|text| text.lines().rev().take(LINES));
        last.map(str::to_lowercase).collect()
    }

    fn hear(&mut self, said: &Untrusted) {
        self.said.push(said.clean().into_owned());
    }

    fn aim(&mut self, config: &ServerConfig) {
        match &config.transport {
            Transport::Stdio(stdio) => {
                self.program = Some(stdio.command.clone());
                self.arguments = stdio.args.iter().map(|argument| argument.expose().clone()).collect();
            }
            Transport::Sse(remote) | Transport::Http(remote) | Transport::Ws(remote) => {
                self.headers = remote.headers.iter().map(|(name, _)| name.to_lowercase()).collect();
                self.host = host(remote.url.expose());
            }
            Transport::SseIde(ide) | Transport::WsIde(ide) => self.host = host(&ide.url),
            Transport::ClaudeAiProxy { url, .. } => self.host = host(url),
            Transport::Sdk { .. } => {}
        }
    }

    fn fail(&mut self, failure: &Failure) {
        self.failure = Some(word(failure).to_owned());
        self.status = status(failure);
        match failure {
            Failure::Refused { obstacle, .. } => self.obstacle = Some(obstacle.as_str().to_owned()),
            Failure::Closed { exit: Some(Exit { code, signal, .. }), .. } => {
                (self.exit, self.signal) = (*code, *signal);
            }
            Failure::Closed { exit: None, .. }
            | Failure::TimedOut { .. }
            | Failure::Damaged(_)
            | Failure::Protocol(_)
            | Failure::Answered(_)
            | Failure::TooLarge { .. }
            | Failure::Unauthorized { .. }
            | Failure::Forbidden { .. }
            | Failure::SessionExpired
            | Failure::Status { .. }
            | Failure::QueueFull { .. } => {}
        }
    }
}

/// The host of an address, IPv6 without its brackets.
pub(super) fn host(url: &Url) -> Option<String> {
    url.host_str().map(|host| host.trim_matches(['[', ']']).to_owned())
}

/// The word for a failure.
pub(super) fn word(failure: &Failure) -> &'static str {
    match failure {
        Failure::Refused { .. } => "refused",
        Failure::TimedOut { .. } => "timed-out",
        Failure::Closed { .. } => "closed",
        Failure::Damaged(_) => "damaged",
        Failure::Protocol(_) => "protocol",
        Failure::Answered(_) => "answered",
        Failure::TooLarge { .. } => "too-large",
        Failure::Unauthorized { .. } => "unauthorized",
        Failure::Forbidden { .. } => "forbidden",
        Failure::SessionExpired => "session-expired",
        Failure::Status { .. } => "status",
        Failure::QueueFull { .. } => "queue-full",
    }
}

/// The HTTP status behind a failure, where it is known.
pub(super) fn status(failure: &Failure) -> Option<u16> {
    match failure {
        Failure::Unauthorized { .. } => Some(401),
        Failure::Forbidden { .. } => Some(403),
        Failure::Status { code, .. } => Some(*code),
        Failure::Refused { .. }
        | Failure::TimedOut { .. }
        | Failure::Closed { .. }
        | Failure::Damaged(_)
        | Failure::Protocol(_)
        | Failure::Answered(_)
        | Failure::TooLarge { .. }
        | Failure::SessionExpired
        | Failure::QueueFull { .. } => None,
    }
}

fn entry(standing: &ServerStanding) -> Option<&'static str> {
    match standing {
        ServerStanding::Blocked(block) => Some(match block {
            Block::ManagedOnly { .. } => "managed-only",
            Block::ManagedBroken { .. } => "managed-broken",
            Block::Strict => "strict",
            Block::Policy(_) | Block::Alias { .. } => "policy",
        }),
        ServerStanding::Invalid(error) => Some(match error {
            ConfigError::Expand(ExpandError::Unset { .. }) => "variable-unset",
            ConfigError::Value { problem: Problem::NotAUrl(_) | Problem::Scheme(_), .. } => "url",
            ConfigError::Expand(_)
            | ConfigError::Value { .. }
            | ConfigError::Name { .. }
            | ConfigError::Shape { .. }
            | ConfigError::Choice { .. }
            | ConfigError::Missing { .. }
            | ConfigError::Empty { .. }
            | ConfigError::Both { .. }
            | ConfigError::RuntimeOnly { .. } => "other",
        }),
        ServerStanding::Ready
        | ServerStanding::NeedsApproval(_)
        | ServerStanding::Rejected { .. }
        | ServerStanding::Disabled { .. }
        | ServerStanding::Shadowed { .. }
        | ServerStanding::Duplicate { .. }
        | ServerStanding::Skipped(_) => None,
    }
}
