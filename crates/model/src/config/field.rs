//! The fields of a server's entry: one table for parsing, for the JSON schema and for the docs.

use super::{CredentialPolicy, Era, SharePolicy, TransportKind};

/// One field of an entry.
#[derive(Clone, Copy, Debug)]
pub struct EntryField {
    /// The field's name in the file.
    pub name: &'static str,
    /// The shape of its value.
    pub shape: EntryFieldShape,
    /// The transport kinds for which the field has an effect.
    pub kinds: &'static [TransportKind],
    /// The description for the schema and the docs.
    pub meaning: &'static str,
}

/// The shape of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryFieldShape {
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

const ANY: &[TransportKind] = &TransportKind::ALL;
const STDIO: &[TransportKind] = &[TransportKind::Stdio];
const REMOTE: &[TransportKind] = &[TransportKind::Sse, TransportKind::Http, TransportKind::Ws];
const ADDRESSED: &[TransportKind] = &[
    TransportKind::Sse,
    TransportKind::Http,
    TransportKind::Ws,
    TransportKind::SseIde,
    TransportKind::WsIde,
    TransportKind::ClaudeAiProxy,
];
const IDE: &[TransportKind] = &[TransportKind::SseIde, TransportKind::WsIde];

/// The words `type` may hold.
pub const KIND_WORDS: &[&str] =
    &["stdio", "sse", "http", "streamable-http", "ws", "sdk", "sse-ide", "ws-ide", "claudeai-proxy"];

const ERA_WORDS: &[&str] = &[Era::Auto.const_str(), Era::Old.const_str(), Era::New.const_str()];

const SHARE_WORDS: &[&str] = &[
    SharePolicy::Auto.as_str(),
    SharePolicy::Always.as_str(),
    SharePolicy::Project.as_str(),
    SharePolicy::Never.as_str(),
];

const CREDENTIAL_WORDS: &[&str] = &[
    CredentialPolicy::Auto.as_str(),
    CredentialPolicy::Shared.as_str(),
    CredentialPolicy::Principal.as_str(),
];

const GRANT_WORDS: &[&str] = &["authorization_code", "client_credentials", "jwt-bearer", "token-exchange"];

impl Era {
    /// [`Era::as_str`] for constants.
    const fn const_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Old => "old",
            Self::New => "new",
        }
    }
}

const fn entry_field(
    name: &'static str,
    shape: EntryFieldShape,
    kinds: &'static [TransportKind],
    meaning: &'static str,
) -> EntryField {
    EntryField { name, shape, kinds, meaning }
}

/// All fields of an entry.
pub const FIELDS: &[EntryField] = &[
    entry_field(
        "type",
        EntryFieldShape::Choice(KIND_WORDS),
        ANY,
        "How to reach the server. May be left out: an entry with `command` is `stdio`, one with `url` is `http`, or `ws` for a WebSocket address.",
    ),
    entry_field(
        "command",
        EntryFieldShape::Text,
        STDIO,
        "The program to run. It is started directly, never through a shell.",
    ),
    entry_field("args", EntryFieldShape::TextList, STDIO, "The program's arguments."),
    entry_field(
        "env",
        EntryFieldShape::TextMap,
        STDIO,
        "Variables for the program, added to a short list of harmless ones.",
    ),
    entry_field(
        "cwd",
        EntryFieldShape::Text,
        STDIO,
        "The folder to run the program in; the project's folder unless given.",
    ),
    entry_field(
        "inheritEnv",
        EntryFieldShape::Flag,
        STDIO,
        "Give the program the whole environment, secrets included.",
    ),
    entry_field(
        "idleTimeout",
        EntryFieldShape::Milliseconds,
        STDIO,
        "Stop the program after this many idle milliseconds; the next call starts it again.",
    ),
    entry_field(
        "share",
        EntryFieldShape::Choice(SHARE_WORDS),
        STDIO,
        "Which clients may use one process of the program: `always` all, `project` those with the same folder and environment, `never` one session; decided per server unless set.",
    ),
    entry_field("url", EntryFieldShape::Text, ADDRESSED, "The server's address."),
    entry_field("headers", EntryFieldShape::TextMap, REMOTE, "Headers for every request."),
    entry_field(
        "headersHelper",
        EntryFieldShape::Text,
        REMOTE,
        "A command that prints a JSON object of headers; they win over `headers`.",
    ),
    entry_field("oauth", EntryFieldShape::Oauth, REMOTE, "How to sign in."),
    entry_field(
        "credentials",
        EntryFieldShape::Choice(CREDENTIAL_WORDS),
        REMOTE,
        "Whose sign-in a gateway with several clients uses: `principal` each client's own, `shared` that of the user who runs the gateway; each client's own unless set, where a user has to sign in.",
    ),
    entry_field(
        "timeout",
        EntryFieldShape::Milliseconds,
        ANY,
        "The time limit of one tool call in milliseconds; 0 means none.",
    ),
    entry_field(
        "alwaysLoad",
        EntryFieldShape::Flag,
        ANY,
        "Keep the server's tools in the model's list even when there are many.",
    ),
    entry_field("required", EntryFieldShape::Flag, ANY, "The host is not ready before this server is."),
    entry_field(
        "enabledTools",
        EntryFieldShape::Globs,
        ANY,
        "Offer only tools that match one of these globs.",
    ),
    entry_field(
        "disabledTools",
        EntryFieldShape::Globs,
        ANY,
        "Withhold tools that match one of these globs.",
    ),
    entry_field(
        "era",
        EntryFieldShape::Choice(ERA_WORDS),
        ANY,
        "Which era of the protocol to speak; detected unless set.",
    ),
    entry_field(
        "roots",
        EntryFieldShape::Roots,
        ANY,
        "The folders the server is told to work in, instead of those offered to every server; `false` for none. A relative folder starts at the project's.",
    ),
    entry_field(
        "name",
        EntryFieldShape::Text,
        &[TransportKind::Sdk],
        "The name the embedding program registered the server under.",
    ),
    entry_field(
        "id",
        EntryFieldShape::Text,
        &[TransportKind::ClaudeAiProxy],
        "The connector's id at the organization.",
    ),
    entry_field("ideName", EntryFieldShape::Text, IDE, "The editor's name."),
    entry_field("authToken", EntryFieldShape::Text, IDE, "The token from the editor's lock file."),
];

/// All fields of `oauth`.
pub const OAUTH: &[EntryField] = &[
    entry_field("clientId", EntryFieldShape::Text, REMOTE, "A client id registered beforehand."),
    entry_field(
        "clientSecret",
        EntryFieldShape::Text,
        REMOTE,
        "Its secret, best written as `${VARIABLE}`; `add --client-secret` keeps it out of files.",
    ),
    entry_field(
        "clientMetadataUrl",
        EntryFieldShape::Text,
        REMOTE,
        "The URL of the client metadata document; authorization servers that support it accept the URL as the client id.",
    ),
    entry_field(
        "grant",
        EntryFieldShape::Choice(GRANT_WORDS),
        REMOTE,
        "The OAuth grant: the user's consent, the client's own secret or key, an assertion signed by a third party, or the token of a gateway's client, exchanged at its issuer.",
    ),
    entry_field(
        "privateKey",
        EntryFieldShape::Text,
        REMOTE,
        "The key that signs for the client (PKCS #8, PEM), best written as `${VARIABLE}`.",
    ),
    entry_field("privateKeyFile", EntryFieldShape::Text, REMOTE, "The file with that key."),
    entry_field(
        "assertion",
        EntryFieldShape::Text,
        REMOTE,
        "The signed assertion for the grant `jwt-bearer`, best written as `${VARIABLE}`.",
    ),
    entry_field(
        "assertionFile",
        EntryFieldShape::Text,
        REMOTE,
        "The file with that assertion, read whenever a token is needed.",
    ),
    entry_field(
        "callbackPort",
        EntryFieldShape::Port,
        REMOTE,
        "A fixed port on this machine for the OAuth callback.",
    ),
    entry_field(
        "authServerMetadataUrl",
        EntryFieldShape::Text,
        REMOTE,
        "The URL of the authorization server metadata.",
    ),
    entry_field("scopes", EntryFieldShape::Words, REMOTE, "The scopes to ask for."),
    entry_field(
        "xaa",
        EntryFieldShape::Flag,
        REMOTE,
        "Sign in across applications through the identity provider.",
    ),
    entry_field(
        "resource",
        EntryFieldShape::Flag,
        REMOTE,
        "Whether token requests name the server (RFC 8707): true unless written; false for providers that refuse it.",
    ),
    entry_field(
        "audience",
        EntryFieldShape::Text,
        REMOTE,
        "The audience of a token exchange (RFC 8693), for issuers that do not go by the server's address.",
    ),
];

/// Finds the field called `name`.
#[must_use]
pub fn find_field(name: &str) -> Option<&'static EntryField> {
    FIELDS.iter().find(|field| field.name == name)
}
