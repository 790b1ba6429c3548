//! What the commands about sign-in share: whose sign-in it is, what a person is shown, and what they type.
//!
//! | what | where |
//! |---|---|
//! | one server and its sign-in, or why there is none | here |
//! | showing a page and waiting for the person | `guide` |
//! | a sign-in that nobody has begun, for programs | `pending` |
//! | what is typed or piped: addresses and secrets | `typed` |

mod guide;
mod pending;
mod typed;

use mcparley::model::config::{Remote, ServerConfig, Transport};
use mcparley::model::plan::Planned;
use mcparley::{Account, Loaded, Surroundings};
use mcparley_auth::vault::Vault;

use crate::error::CommandError;
use crate::out::Out;

pub(crate) use guide::{Guide, Who};
pub(crate) use pending::{
    Pending, hint as sign_in_hint, hint_after_check as sign_in_hint_after_check, login as login_command,
};
pub(crate) use typed::client_secret;

/// A server, and the sign-in to it.
#[derive(Clone)]
pub(crate) struct Door<'p> {
    pub(crate) server: &'p Planned,
    pub(crate) account: Account,
}

impl<'p> Door<'p> {
    /// The sign-in to the server of a declaration, where there can be one.
    pub(crate) fn of(server: &'p Planned, surroundings: &Surroundings) -> Option<Self> {
        let account = surroundings.account_of(&server.name, server.config.as_ref()?)?;
        Some(Self { server, account })
    }

    /// Every declaration of this name that can be signed in to; an error that says why there is none.
    pub(crate) fn named(
        name: &str,
        loaded: &'p Loaded,
        surroundings: &Surroundings,
    ) -> Result<Vec<Self>, CommandError> {
        let declared = loaded.plan.named(name);
        if declared.is_empty() {
            return Err(CommandError::NotFound { name: name.to_owned(), similar: loaded.similar(name) });
        }
        let doors: Vec<Self> = declared.iter().filter_map(|server| Self::of(server, surroundings)).collect();
        match (doors.is_empty(), declared.first()) {
            (true, Some(server)) => Err(refusal(server)),
            (_, _) => Ok(doors),
        }
    }

    pub(crate) fn name(&self) -> &'p str {
        self.server.name.as_str()
    }
}

/// Why nobody can sign in to a server.
pub(crate) fn refusal(server: &Planned) -> CommandError {
    let (why, hint) = match server.config.as_ref().map(|config: &ServerConfig| &config.transport) {
        None => (
            server.standing.reason().unwrap_or_else(|| "its entry cannot be used".to_owned()),
            server.standing.hint(&server.name),
        ),
        Some(
            Transport::Http(Remote { .. }) | Transport::Sse(Remote { .. }) | Transport::Ws(Remote { .. }),
        ) => (
            "its entry has an `Authorization` header of its own".to_owned(),
            Some("take the header out of the entry to sign in instead".to_owned()),
        ),
        Some(Transport::ClaudeAiProxy { .. }) => (
            "it is a connector of your organisation".to_owned(),
            Some(
                "sign in again with the program that has the token, or set `MCPARLEY_CONNECTORS_TOKEN`"
                    .to_owned(),
            ),
        ),
        Some(Transport::SseIde(_) | Transport::WsIde(_)) => ("it is an editor".to_owned(), None),
        Some(Transport::Stdio(_) | Transport::Sdk { .. }) => (
            "it runs on this machine".to_owned(),
            Some("what it needs to know is set with `-e KEY=VALUE` when it is added".to_owned()),
        ),
    };
    CommandError::NoSignIn { server: server.name.clone(), why, hint }
}

/// Tells what a person should know about where secrets are kept.
pub(crate) fn tell_notices(vault: Option<&Vault>, out: &mut Out) {
    for notice in vault.map(Vault::take_notices).unwrap_or_default() {
        out.remark(&notice.to_string());
    }
}
