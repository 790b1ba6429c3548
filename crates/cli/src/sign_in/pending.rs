//! A sign-in that waits for a person, as programs read it: `pendingAuth`.

use mcparley::Flow;
use mcparley::model::name::ServerName;
use mcparley::model::text::shell_word;
use serde::Serialize;

use super::Who;

/// A sign-in that waits for a person.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pending {
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity_provider: Option<String>,
    /// The page to open; only while somebody waits for what comes of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The code that the page asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_code: Option<String>,
    /// What a person types to sign in.
    command: String,
}

impl Pending {
    /// One that nobody has begun. There is no page: nobody would be there when its browser comes back.
    pub(crate) fn unbegun(who: Who<'_>) -> Self {
        let (server, identity_provider) = match who {
            Who::Server(name) => (Some(name.to_owned()), None),
            Who::Provider(issuer) => (None, Some(issuer.to_owned())),
        };
        Self { server, identity_provider, url: None, user_code: None, command: command(who) }
    }

    /// One that is waited for.
    pub(crate) fn begun(who: Who<'_>, flow: &Flow) -> Self {
        let url = flow.page().map(|page| page.as_str().to_owned());
        Self { url, user_code: flow.user_code().map(str::to_owned), ..Self::unbegun(who) }
    }
}

fn command(who: Who<'_>) -> String {
    match who {
        Who::Server(name) => login(name),
        Who::Provider(_) => "mcparley auth idp login".to_owned(),
    }
}

/// What a person types to sign in to a server.
pub(crate) fn login(server: &str) -> String {
    format!("mcparley login {}", shell_word(server))
}

/// The same as something to do.
pub(crate) fn hint(server: &ServerName) -> String {
    format!("sign in with `{}`", login(server.as_str()))
}
