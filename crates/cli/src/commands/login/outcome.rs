//! The outcome of `login` for one server.

use mcparley::pool::health::{CheckedServer, ServerHealth};
use serde::Serialize;

use crate::error::CommandError;
use crate::exit::{self, NamedExitCode};
use crate::out::{TerminalOutput, bold};
use mcparley_report::{PendingSignIn, SignInTarget, login_command};

/// The state of a server after `login`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LoginState {
    /// The server works without a new sign-in.
    Connected,
    /// The user signed in, and the server works.
    SignedIn,
    /// The server needs a sign-in.
    NeedsAuth,
    /// The server does not work, or the sign-in failed.
    Failed,
}

/// The outcome of `login` for one server.
#[derive(Debug, Serialize)]
pub(super) struct LoginOutcome {
    server: String,
    is: LoginState,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip)]
    pub(super) code: NamedExitCode,
    /// Whether a sign-in was tried or is needed.
    #[serde(skip)]
    is_about_sign_in: bool,
}

impl LoginOutcome {
    /// The outcome of a check; `is` is the state if the server works.
    pub(super) fn from_check(checked: &CheckedServer, is: LoginState) -> Self {
        let server = checked.name.to_string();
        let found = Self {
            server,
            is,
            tools: None,
            error: None,
            hint: None,
            code: exit::OK,
            is_about_sign_in: is == LoginState::SignedIn,
        };
        match &checked.health {
            ServerHealth::Connected { surface, .. } => Self { tools: Some(surface.tools.len()), ..found },
            ServerHealth::Failed { failure, .. } => {
                let code = if checked.wants_sign_in { exit::NEEDS_AUTH } else { exit::UNREACHABLE };
                Self { is: LoginState::Failed, error: Some(failure.to_string()), code, ..found }
            }
        }
    }

    /// The outcome for a server that needs a sign-in if no user is present.
    pub(super) fn for_pending_sign_in(server: &str) -> Self {
        Self {
            server: server.to_owned(),
            is: LoginState::NeedsAuth,
            tools: None,
            error: None,
            hint: Some(format!(
                "run `{}` in a terminal, or add `--wait`, `--no-browser` or `--device`",
                login_command(server)
            )),
            code: exit::NEEDS_AUTH,
            is_about_sign_in: true,
        }
    }

    /// The outcome of a failed sign-in.
    pub(super) fn from_error(server: &str, error: &CommandError) -> Self {
        Self {
            server: server.to_owned(),
            is: LoginState::Failed,
            tools: None,
            error: Some(crate::error::with_sources(error)),
            hint: error.hint(),
            code: error.exit_code(),
            is_about_sign_in: true,
        }
    }

    pub(super) fn is_about_sign_in(&self) -> bool {
        self.is_about_sign_in
    }

    /// The entry of `pendingAuth`, if the server needs a sign-in.
    pub(super) fn to_pending(&self) -> Option<PendingSignIn> {
        (self.is == LoginState::NeedsAuth)
            .then(|| PendingSignIn::without_page(SignInTarget::Server(&self.server)))
    }

    pub(super) fn print_outcome(&self, out: &mut TerminalOutput) {
        let tools = self.tools.map(|tools| format!(" ({tools} tools)")).unwrap_or_default();
        let name = bold(&self.server);
        match self.is {
            LoginState::Connected => out.print_line(format!("{name}: connected{tools}, no sign-in needed")),
            LoginState::SignedIn => out.print_line(format!("{name}: signed in, connected{tools}")),
            LoginState::NeedsAuth => out.print_line(format!("{name}: needs sign-in")),
            LoginState::Failed => {
                out.print_line(format!("{name}: failed"));
                out.print_error(self.error.as_deref().unwrap_or("unknown error"));
            }
        }
        if let Some(hint) = &self.hint {
            out.hint(hint);
        }
    }
}
