//! What became of one server.

use mcparley::{Checked, Health};
use serde::Serialize;

use crate::error::CommandError;
use crate::exit::{self, Code};
use crate::out::{Out, bold};
use crate::sign_in::{Pending, Who};

/// How a server is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Is {
    /// It let us in as we were.
    Connected,
    /// Somebody has signed in, and it lets us in.
    SignedIn,
    /// It waits for somebody to sign in.
    NeedsAuth,
    /// Nobody is let in.
    Failed,
}

/// What became of one server.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    server: String,
    is: Is,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip)]
    pub(super) code: Code,
    /// Whether signing in was tried or is wanted.
    #[serde(skip)]
    is_about_sign_in: bool,
}

impl Outcome {
    /// As it was found; `is` where it answers.
    pub(super) fn seen(checked: &Checked, is: Is) -> Self {
        let server = checked.name.to_string();
        let found = Self {
            server,
            is,
            tools: None,
            error: None,
            hint: None,
            code: exit::OK,
            is_about_sign_in: is == Is::SignedIn,
        };
        match &checked.health {
            Health::Connected { surface, .. } => Self { tools: Some(surface.tools.len()), ..found },
            Health::Failed { failure, .. } => {
                let code = if checked.wants_sign_in { exit::NEEDS_AUTH } else { exit::UNREACHABLE };
                Self { is: Is::Failed, error: Some(failure.to_string()), code, ..found }
            }
            _ => Self { is: Is::Failed, code: exit::UNREACHABLE, ..found },
        }
    }

    /// It wants a sign-in, and nobody is there.
    pub(super) fn pending(server: &str) -> Self {
        Self {
            server: server.to_owned(),
            is: Is::NeedsAuth,
            tools: None,
            error: None,
            hint: Some(format!(
                "sign in from a terminal: `{}`; or add `--wait`, `--no-browser` or `--device`",
                crate::sign_in::login_command(server)
            )),
            code: exit::NEEDS_AUTH,
            is_about_sign_in: true,
        }
    }

    /// Nobody is signed in.
    pub(super) fn failed(server: &str, error: &CommandError) -> Self {
        Self {
            server: server.to_owned(),
            is: Is::Failed,
            tools: None,
            error: Some(crate::error::with_sources(error)),
            hint: error.hint(),
            code: error.code(),
            is_about_sign_in: true,
        }
    }

    pub(super) fn is_about_sign_in(&self) -> bool {
        self.is_about_sign_in
    }

    /// For programs, if it waits for a person.
    pub(super) fn to_pending(&self) -> Option<Pending> {
        (self.is == Is::NeedsAuth).then(|| Pending::unbegun(Who::Server(&self.server)))
    }

    pub(super) fn tell(&self, out: &mut Out) {
        let tools = self.tools.map(|tools| format!(" ({tools} tools)")).unwrap_or_default();
        let name = bold(&self.server);
        match self.is {
            Is::Connected => out.line(format!("{name}: connected{tools}, no sign-in needed")),
            Is::SignedIn => out.line(format!("{name}: signed in, connected{tools}")),
            Is::NeedsAuth => out.line(format!("{name}: needs sign-in")),
            Is::Failed => {
                out.line(format!("{name}: failed"));
                out.complain(self.error.as_deref().unwrap_or("nothing is known of it"));
            }
        }
        if let Some(hint) = &self.hint {
            out.hint(hint);
        }
    }
}
