//! A sign-in that waits for a person, as programs read it: `pendingAuth`.

use mcparley::model::config::Kind;
use mcparley::model::name::ServerName;
use mcparley::model::plan::Planned;
use mcparley::model::scope::Scope;
use mcparley::model::text::shell_word;
use mcparley::{Checked, Flow};
use serde::Serialize;

use super::Who;
use crate::report::target;

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
    /// The origin that gives the tokens, if it is not the issuer's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_origin: Option<String>,
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
        let command = command(who);
        Self { server, identity_provider, url: None, user_code: None, token_origin: None, command }
    }

    /// One that is waited for.
    pub(crate) fn begun(who: Who<'_>, flow: &Flow) -> Self {
        let url = flow.page().map(|page| page.as_str().to_owned());
        let user_code = flow.user_code().map(str::to_owned);
        let token_origin = flow.token_origin().map(str::to_owned);
        Self { url, user_code, token_origin, ..Self::unbegun(who) }
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

/// The hint for a server that was looked at and wants a sign-in. One that does not say how to sign in may take only a token
/// that its operator gives out, so the command that sends one is named too.
pub(crate) fn hint_after_check(checked: &Checked, server: &Planned) -> String {
    match checked.describes_sign_in {
        true => hint(&server.name),
        false => format!(
            "it does not say how to sign in; if its operator gave you a token, send that as a header: {}; otherwise \
             try `{}`",
            header_command(server),
            login(server.name.as_str())
        ),
    }
}

/// The command that gives a server's entry an `Authorization` header, or the field to write where no command can.
fn header_command(server: &Planned) -> String {
    const HEADER: &str = "'Authorization: Bearer ${TOKEN}'";
    let scope = match server.scope {
        Scope::User | Scope::Project | Scope::Local => server.scope.as_str(),
        Scope::Connectors | Scope::Plugin | Scope::Dynamic | Scope::Enterprise => {
            return r#"`"headers": {"Authorization": "Bearer ${TOKEN}"}` in its entry"#.to_owned();
        }
    };
    let url = target(server);
    // What is masked must be typed anew.
    let url = if url.contains("***") { "URL" } else { &url };
    let transport = if server.kind == Some(Kind::Sse) { " -t sse" } else { "" };
    let (name, url) = (shell_word(server.name.as_str()), shell_word(url));
    format!("`mcparley add --force -s {scope}{transport} {name} {url} -H {HEADER}`")
}
