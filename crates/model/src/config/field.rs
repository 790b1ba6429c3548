//! The fields a server's entry may have: one table for reading, for the schema and for the docs.

use super::{Era, Kind};

/// One field of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the file.
    pub name: &'static str,
    /// What may stand there.
    pub shape: Shape,
    /// The kinds of server it means something for.
    pub kinds: &'static [Kind],
    /// What it does.
    pub meaning: &'static str,
}

/// What may stand in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A string in which variables expand.
    Text,
    /// A list of such strings.
    TextList,
    /// An object of such strings.
    TextMap,
    /// A whole number of milliseconds.
    Milliseconds,
    /// `true` or `false`.
    Flag,
    /// A list of globs.
    Globs,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// The sign-in settings, [`OAUTH`].
    Oauth,
    /// A TCP port.
    Port,
    /// A list of words, or one string with spaces between them.
    Words,
    /// `false`, or a list of folders.
    Roots,
}

const ANY: &[Kind] = &Kind::ALL;
const STDIO: &[Kind] = &[Kind::Stdio];
const REMOTE: &[Kind] = &[Kind::Sse, Kind::Http, Kind::Ws];
const ADDRESSED: &[Kind] = &[Kind::Sse, Kind::Http, Kind::Ws, Kind::SseIde, Kind::WsIde, Kind::ClaudeAiProxy];
const IDE: &[Kind] = &[Kind::SseIde, Kind::WsIde];

/// The words `type` may hold.
pub const KIND_WORDS: &[&str] =
    &["stdio", "sse", "http", "streamable-http", "ws", "sdk", "sse-ide", "ws-ide", "claudeai-proxy"];

const ERA_WORDS: &[&str] = &[Era::Auto.word(), Era::Old.word(), Era::New.word()];

const GRANT_WORDS: &[&str] = &["authorization_code", "client_credentials", "jwt-bearer"];

impl Era {
    /// [`Era::as_str`] for constants.
    const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Old => "old",
            Self::New => "new",
        }
    }
}

const fn field(name: &'static str, shape: Shape, kinds: &'static [Kind], meaning: &'static str) -> Field {
    Field { name, shape, kinds, meaning }
}

/// Every field of an entry.
pub const FIELDS: &[Field] = &[
    field(
        "type",
        Shape::Choice(KIND_WORDS),
        ANY,
        "How to reach the server. May be left out: an entry with `command` is `stdio`, one with `url` is `http`, or `ws` for a WebSocket address.",
    ),
    field(
        "command",
        Shape::Text,
        STDIO,
        "The program to run. It is started directly, never through a shell.",
    ),
    field("args", Shape::TextList, STDIO, "The program's arguments."),
    field("env", Shape::TextMap, STDIO, "Variables for the program, added to a short list of harmless ones."),
    field("cwd", Shape::Text, STDIO, "The folder to run the program in; the project's folder unless given."),
    field("inheritEnv", Shape::Flag, STDIO, "Give the program the whole environment, secrets included."),
    field(
        "idleTimeout",
        Shape::Milliseconds,
        STDIO,
        "Stop the program after this many idle milliseconds; the next call starts it again.",
    ),
    field("url", Shape::Text, ADDRESSED, "The server's address."),
    field("headers", Shape::TextMap, REMOTE, "Headers for every request."),
    field(
        "headersHelper",
        Shape::Text,
        REMOTE,
        "A command that prints a JSON object of headers; they win over `headers`.",
    ),
    field("oauth", Shape::Oauth, REMOTE, "How to sign in."),
    field(
        "timeout",
        Shape::Milliseconds,
        ANY,
        "The time limit of one tool call in milliseconds; 0 means none.",
    ),
    field(
        "alwaysLoad",
        Shape::Flag,
        ANY,
        "Keep the server's tools in the model's list even when there are many.",
    ),
    field("required", Shape::Flag, ANY, "The host is not ready before this server is."),
    field("enabledTools", Shape::Globs, ANY, "Offer only tools that match one of these globs."),
    field("disabledTools", Shape::Globs, ANY, "Withhold tools that match one of these globs."),
    field(
        "era",
        Shape::Choice(ERA_WORDS),
        ANY,
        "Which era of the protocol to speak; found out unless given.",
    ),
    field(
        "roots",
        Shape::Roots,
        ANY,
        "The folders the server is told to work in, instead of those offered to every server; `false` for none. A relative folder starts at the project's.",
    ),
    field("name", Shape::Text, &[Kind::Sdk], "The name the embedding program registered the server under."),
    field("id", Shape::Text, &[Kind::ClaudeAiProxy], "The connector's id at the organisation."),
    field("ideName", Shape::Text, IDE, "The editor's name."),
    field("authToken", Shape::Text, IDE, "The token from the editor's lock file."),
];

/// Every field of `oauth`.
pub const OAUTH: &[Field] = &[
    field("clientId", Shape::Text, REMOTE, "A client id registered beforehand."),
    field(
        "clientSecret",
        Shape::Text,
        REMOTE,
        "Its secret, best written as `${VARIABLE}`; `add --client-secret` keeps it out of files.",
    ),
    field(
        "clientMetadataUrl",
        Shape::Text,
        REMOTE,
        "Where a document describes this client; authorization servers that allow it take the address for the client id.",
    ),
    field(
        "grant",
        Shape::Choice(GRANT_WORDS),
        REMOTE,
        "What is shown for a token: a person's consent, the client's own secret or key, or a statement others have signed.",
    ),
    field(
        "privateKey",
        Shape::Text,
        REMOTE,
        "The key that signs for the client (PKCS #8, PEM), best written as `${VARIABLE}`.",
    ),
    field("privateKeyFile", Shape::Text, REMOTE, "The file with that key."),
    field(
        "assertion",
        Shape::Text,
        REMOTE,
        "The signed statement for the grant `jwt-bearer`, best written as `${VARIABLE}`.",
    ),
    field(
        "assertionFile",
        Shape::Text,
        REMOTE,
        "The file with that statement, read whenever a token is needed.",
    ),
    field("callbackPort", Shape::Port, REMOTE, "A fixed port on this machine for the browser's way back."),
    field("authServerMetadataUrl", Shape::Text, REMOTE, "Where the authorization server describes itself."),
    field("scopes", Shape::Words, REMOTE, "The scopes to ask for."),
    field("xaa", Shape::Flag, REMOTE, "Sign in across applications through the identity provider."),
    field(
        "resource",
        Shape::Flag,
        REMOTE,
        "Whether token requests name the server (RFC 8707): true unless written; false for providers that refuse it.",
    ),
];

/// The field called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.name == name)
}
