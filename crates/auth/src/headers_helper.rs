//! Headers printed by a command of the user (`headersHelper`).
//!
//! The command runs once, before the first request, and again when its headers are refused: once for all
//! requests that were refused with them. If the command fails, requests are sent without its headers, as
//! Claude Code does; the error is kept for the message about the server's refusal
//! ([`HeadersHelper::last_error`]). The approval of the server decides before whether the command may run at
//! all.

mod authorizer;
mod command;
mod error;
mod output;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcparley_model::secret::Secret;
use mcparley_platform::process::ProgramLaunch;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{
    Authorizer, Challenge, ChallengeKind, Credentials, RequestTarget, RetryDecision,
};
use mcparley_wire::peer::BoxedFuture;
use tokio::sync::watch;
use url::Url;

use crate::task::OwnedTask;
use output::HelperHeaders;

pub use authorizer::HelperAuthorizer;
pub use error::HelperError;

/// The environment variables with the server's name: that of Claude Code, and our own.
const NAMES: [&str; 2] = ["CLAUDE_CODE_MCP_SERVER_NAME", "MCPARLEY_SERVER_NAME"];

/// The environment variables with the server's address.
const ADDRESSES: [&str; 2] = ["CLAUDE_CODE_MCP_SERVER_URL", "MCPARLEY_SERVER_URL"];

/// The command, its server, and its limits.
#[derive(Clone)]
pub struct HelperSettings {
    /// The command line, for `/bin/sh`.
    pub command: Secret<String>,
    /// The server's name.
    pub name: String,
    /// The server's address.
    pub url: Secret<Url>,
    /// The environment of the command, besides name and address.
    pub env: Vec<(OsString, OsString)>,
    /// The working folder: the project's folder.
    pub cwd: PathBuf,
    /// The timeout.
    pub limit: Duration,
}

/// Authorizes requests with the headers that a command prints.
pub struct HeadersHelper {
    shared: Arc<Shared>,
    /// The run in progress, if there is one. Owned here and not by the request that started it: many may wait
    /// for it.
    work: Mutex<Option<OwnedTask<()>>>,
}

struct Shared {
    settings: HelperSettings,
    result: watch::Sender<HelperResult>,
}

/// The result of the last run.
#[derive(Clone, Default)]
struct HelperResult {
    /// The number of runs so far.
    runs: u64,
    headers: HelperHeaders,
    error: Option<HelperError>,
}

impl HeadersHelper {
    /// Creates the helper without running the command.
    #[must_use]
    pub fn new(settings: HelperSettings) -> Self {
        let shared = Shared { settings, result: watch::Sender::new(HelperResult::default()) };
        Self { shared: Arc::new(shared), work: Mutex::new(None) }
    }

    /// The error of the last run, if it failed.
    #[must_use]
    pub fn last_error(&self) -> Option<HelperError> {
        self.shared.result.borrow().error.clone()
    }

    /// The headers it printed that are not sent, because the transport sets them itself.
    #[must_use]
    pub fn ignored_headers(&self) -> Vec<String> {
        self.shared.result.borrow().headers.ignored.clone()
    }

    /// Whether the last run printed `Authorization`.
    fn has_authorization(&self) -> bool {
        let made = self.shared.result.borrow();
        made.headers.sent.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
    }

    /// The result of a run after the first `runs`; waits for one if there is none yet.
    async fn result_after(&self, runs: u64) -> HelperResult {
        let mut made = self.shared.result.subscribe();
        self.start_run_after(runs);
        let newer = made.wait_for(|made| made.runs > runs).await;
        // The sender is owned by this value, so it still exists.
        newer.map(|made| made.clone()).unwrap_or_default()
    }

    fn start_run_after(&self, runs: u64) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let is_running = work.as_ref().is_some_and(|work| !work.is_finished());
        if !is_running && self.shared.result.borrow().runs <= runs {
            *work = Some(OwnedTask::start(run_helper(Arc::clone(&self.shared))));
        }
    }
}

async fn run_helper(shared: Arc<Shared>) {
    let HelperSettings { command, limit, .. } = &shared.settings;
    let printed = command::run_command(&shared.settings.launch_command(), *limit, command).await;
    let outcome = printed.and_then(|printed| HelperHeaders::parse(&printed));
    shared.result.send_modify(|made| {
        let runs = made.runs + 1;
        *made = match outcome {
            Ok(headers) => HelperResult { runs, headers, error: None },
            Err(trouble) => HelperResult { runs, headers: HelperHeaders::default(), error: Some(trouble) },
        };
    });
}

impl HelperSettings {
    fn launch_command(&self) -> ProgramLaunch {
        let name = NAMES.map(|variable| (variable, OsString::from(&self.name)));
        let url = ADDRESSES.map(|variable| (variable, OsString::from(self.url.expose().as_str())));
        let own = || name.iter().chain(&url);
        let inherited = self.env.iter().filter(|(known, _)| !own().any(|(variable, _)| known == variable));
        let env =
            inherited.cloned().chain(own().map(|(variable, value)| ((*variable).into(), value.clone())));
        ProgramLaunch {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), self.command.expose().into()],
            env: env.collect(),
            cwd: Some(self.cwd.clone()),
        }
    }
}

impl Authorizer for HeadersHelper {
    fn authorize_request<'a>(
        &'a self,
        _request: RequestTarget<'a>,
    ) -> BoxedFuture<'a, Result<Credentials, Failure>> {
        Box::pin(async {
            let made = self.result_after(0).await;
            // Two runs may print the same headers; the number distinguishes them.
            let token = Some(Secret::new(made.runs.to_string()));
            Ok(Credentials { headers: made.headers.sent, token })
        })
    }

    fn handle_refusal<'a>(
        &'a self,
        sent: &'a Credentials,
        challenge: &'a Challenge,
    ) -> BoxedFuture<'a, RetryDecision> {
        Box::pin(async move {
            let runs = sent.token.as_ref().and_then(|token| token.expose().parse().ok());
            match (challenge.kind, runs) {
                (ChallengeKind::SignIn, Some(runs))
                    if self.result_after(runs).await.headers.sent != sent.headers =>
                {
                    RetryDecision::Retry
                }
                // The same headers would be refused again, and a new run cannot add scopes.
                (ChallengeKind::SignIn | ChallengeKind::MoreRights, _) => RetryDecision::GiveUp,
            }
        })
    }
}

impl fmt::Debug for HeadersHelper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeadersHelper").field("server", &self.shared.settings.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for HelperSettings {
    /// Omits the environment and the address: both may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("name", &self.name).field("cwd", &self.cwd).finish_non_exhaustive()
    }
}
