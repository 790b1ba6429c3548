//! Headers by a command of the user's own (A7).
//!
//! The command runs once, when the first request is about to leave, and again when what it printed is refused: once for
//! all requests that were refused with it. A command that fails leaves requests without its headers, as Claude Code does;
//! the reason is kept for whoever tells that the server then refused ([`HeadersHelper::trouble`]). Whether it may run at all
//! is decided before, with the approval of its server (B26).

mod command;
mod error;
mod helped;
mod output;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcparley_model::secret::Secret;
use mcparley_platform::process::Launch;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{Asking, Authorizer, Challenge, Credentials, Next, Wants};
use mcparley_wire::peer::Boxed;
use tokio::sync::watch;
use url::Url;

use crate::task::Owned;
use output::Headers;

pub use error::HelperError;
pub use helped::Helped;

/// The names under which the command finds the name of its server: as in Claude Code, and our own.
const NAMES: [&str; 2] = ["CLAUDE_CODE_MCP_SERVER_NAME", "MCPARLEY_SERVER_NAME"];

/// The same for its address.
const ADDRESSES: [&str; 2] = ["CLAUDE_CODE_MCP_SERVER_URL", "MCPARLEY_SERVER_URL"];

/// What is run, for whom, and how.
#[derive(Clone)]
pub struct Settings {
    /// The command line, for `/bin/sh`.
    pub command: Secret<String>,
    /// The server's name.
    pub name: String,
    /// The server's address.
    pub url: Secret<Url>,
    /// The variables it sees, besides name and address.
    pub env: Vec<(OsString, OsString)>,
    /// Where it runs: the project's folder.
    pub cwd: PathBuf,
    /// How long it may take.
    pub limit: Duration,
}

/// Lets requests in with the headers a command prints.
pub struct HeadersHelper {
    shared: Arc<Shared>,
    /// The run that is under way, if one is. Ours, not that of the request that began it: many may wait for it.
    work: Mutex<Option<Owned<()>>>,
}

struct Shared {
    settings: Settings,
    made: watch::Sender<Made>,
}

/// What the runs so far have brought.
#[derive(Clone, Default)]
struct Made {
    /// How many runs there were.
    runs: u64,
    headers: Headers,
    trouble: Option<HelperError>,
}

impl HeadersHelper {
    /// Runs nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let shared = Shared { settings, made: watch::Sender::new(Made::default()) };
        Self { shared: Arc::new(shared), work: Mutex::new(None) }
    }

    /// Why the last run brought no headers.
    #[must_use]
    pub fn trouble(&self) -> Option<HelperError> {
        self.shared.made.borrow().trouble.clone()
    }

    /// The headers it printed that are not sent, because the protocol sets them itself.
    #[must_use]
    pub fn ignored(&self) -> Vec<String> {
        self.shared.made.borrow().headers.ignored.clone()
    }

    /// Whether the last run gave `Authorization`.
    fn says_who(&self) -> bool {
        let made = self.shared.made.borrow();
        made.headers.sent.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
    }

    /// What was made by a run after the first `runs`; waits for one if there is none yet.
    async fn made_after(&self, runs: u64) -> Made {
        let mut made = self.shared.made.subscribe();
        self.run_after(runs);
        let newer = made.wait_for(|made| made.runs > runs).await;
        // The other end is ours too, so it is there.
        newer.map(|made| made.clone()).unwrap_or_default()
    }

    fn run_after(&self, runs: u64) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let is_running = work.as_ref().is_some_and(|work| !work.is_over());
        if !is_running && self.shared.made.borrow().runs <= runs {
            *work = Some(Owned::start(run(Arc::clone(&self.shared))));
        }
    }
}

async fn run(shared: Arc<Shared>) {
    let Settings { command, limit, .. } = &shared.settings;
    let printed = command::run(&shared.settings.launch(), *limit, command).await;
    let outcome = printed.and_then(|printed| Headers::read(&printed));
    shared.made.send_modify(|made| {
        let runs = made.runs + 1;
        *made = match outcome {
            Ok(headers) => Made { runs, headers, trouble: None },
            Err(trouble) => Made { runs, headers: Headers::default(), trouble: Some(trouble) },
        };
    });
}

impl Settings {
    fn launch(&self) -> Launch {
        let name = NAMES.map(|variable| (variable, OsString::from(&self.name)));
        let url = ADDRESSES.map(|variable| (variable, OsString::from(self.url.expose().as_str())));
        let own = || name.iter().chain(&url);
        let inherited = self.env.iter().filter(|(known, _)| !own().any(|(variable, _)| known == variable));
        let env =
            inherited.cloned().chain(own().map(|(variable, value)| ((*variable).into(), value.clone())));
        Launch {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), self.command.expose().into()],
            env: env.collect(),
            cwd: Some(self.cwd.clone()),
        }
    }
}

impl Authorizer for HeadersHelper {
    fn headers<'a>(&'a self, _request: Asking<'a>) -> Boxed<'a, Result<Credentials, Failure>> {
        Box::pin(async {
            let made = self.made_after(0).await;
            // Two runs may print the same; the number tells them apart.
            let token = Some(Secret::new(made.runs.to_string()));
            Ok(Credentials { headers: made.headers.sent, token })
        })
    }

    fn refused<'a>(&'a self, sent: &'a Credentials, challenge: &'a Challenge) -> Boxed<'a, Next> {
        Box::pin(async move {
            let runs = sent.token.as_ref().and_then(|token| token.expose().parse().ok());
            match (challenge.wants, runs) {
                (Wants::SignIn, Some(runs)) if self.made_after(runs).await.headers.sent != sent.headers => {
                    Next::Again
                }
                // The same again would be refused again, and nobody gets more rights by it.
                (Wants::SignIn | Wants::MoreRights, _) => Next::GiveUp,
            }
        })
    }
}

impl fmt::Debug for HeadersHelper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeadersHelper").field("server", &self.shared.settings.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Settings {
    /// No variables and no address: both are where secrets are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("name", &self.name).field("cwd", &self.cwd).finish_non_exhaustive()
    }
}
