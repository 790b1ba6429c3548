//! Pending sign-ins: `pendingAuth` for scripts, commands and hints for users.

use mcparley::auth::Flow;
use mcparley::config::plan::PlannedServer;
use mcparley::model::config::TransportKind;
use mcparley::model::name::ServerName;
use mcparley::model::scope::Scope;
use mcparley::model::text::shell_word;
use mcparley::pool::health::CheckedServer;
use serde::Serialize;

use super::target_line;

/// The server or identity provider that the user signs in to.
#[derive(Clone, Copy, Debug)]
pub enum SignInTarget<'w> {
    /// A server, by name.
    Server(&'w str),
    /// The identity provider, by issuer URL.
    Provider(&'w str),
}

impl std::fmt::Display for SignInTarget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Server(name) => write!(f, "server `{name}`"),
            Self::Provider(issuer) => write!(f, "the identity provider `{issuer}`"),
        }
    }
}

/// A sign-in that needs the user.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingSignIn {
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity_provider: Option<String>,
    /// The URL of the sign-in page; only while this process waits for the redirect.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The code to enter on the page (OAuth device flow).
    #[serde(skip_serializing_if = "Option::is_none")]
    user_code: Option<String>,
    /// The origin of the token endpoint, if it differs from the issuer's.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_origin: Option<String>,
    /// The command that signs in.
    command: String,
}

impl PendingSignIn {
    /// Describes a sign-in that was not started. It has no page, because no process would receive the
    /// redirect.
    pub fn without_page(target: SignInTarget<'_>) -> Self {
        let (server, identity_provider) = match target {
            SignInTarget::Server(name) => (Some(name.to_owned()), None),
            SignInTarget::Provider(issuer) => (None, Some(issuer.to_owned())),
        };
        let command = sign_in_command(target);
        Self { server, identity_provider, url: None, user_code: None, token_origin: None, command }
    }

    /// Describes a sign-in that this process waits for.
    pub fn with_page(target: SignInTarget<'_>, flow: &Flow) -> Self {
        let url = flow.page().map(|page| page.as_str().to_owned());
        let user_code = flow.user_code().map(str::to_owned);
        let token_origin = flow.token_origin().map(str::to_owned);
        Self { url, user_code, token_origin, ..Self::without_page(target) }
    }
}

fn sign_in_command(target: SignInTarget<'_>) -> String {
    match target {
        SignInTarget::Server(name) => login_command(name),
        SignInTarget::Provider(_) => "mcparley auth idp login".to_owned(),
    }
}

/// The command that signs in to a server.
pub fn login_command(server: &str) -> String {
    format!("mcparley login {}", shell_word(server))
}

/// The hint for a server that needs a sign-in.
pub fn sign_in_hint(server: &ServerName) -> String {
    format!("sign in with `{}`", login_command(server.as_str()))
}

/// The hint for a checked server that needs a sign-in. A server without OAuth metadata may accept only a
/// token from its operator, so the hint includes the command that sends a token as a header.
pub fn sign_in_hint_after_check(checked: &CheckedServer, server: &PlannedServer) -> String {
    if checked.describes_sign_in {
        sign_in_hint(&server.name)
    } else {
        format!(
            "the server has no OAuth metadata; if its operator gave you a token, send it as a header: {}; otherwise \
             try `{}`",
            header_command(server),
            login_command(server.name.as_str())
        )
    }
}

/// The command that adds an `Authorization` header to the entry, or the field to write if no command can edit
/// the scope.
fn header_command(server: &PlannedServer) -> String {
    const HEADER: &str = "'Authorization: Bearer ${TOKEN}'";
    let scope = match server.scope {
        Scope::User | Scope::Project | Scope::Local => server.scope.as_str(),
        Scope::Connectors | Scope::Plugin | Scope::Dynamic | Scope::Enterprise => {
            return r#"`"headers": {"Authorization": "Bearer ${TOKEN}"}` in its entry"#.to_owned();
        }
    };
    let url = target_line(server);
    // A masked URL cannot be copied; the user has to type it.
    let url = if url.contains("***") { "URL" } else { &url };
    let transport = if server.kind == Some(TransportKind::Sse) { " -t sse" } else { "" };
    let (name, url) = (shell_word(server.name.as_str()), shell_word(url));
    format!("`mcparley add --force -s {scope}{transport} {name} {url} -H {HEADER}`")
}
