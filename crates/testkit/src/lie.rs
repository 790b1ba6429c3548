//! The table of lies: the configuration and the faults of the fake authorization server.
//!
//! A lie is written `WORD[:ARGUMENT]`, as scripts are. The default of every row is correct behavior, so an
//! unused row changes nothing.

use crate::script::{ArgumentShape, ScriptArgument};
use ArgumentShape::{Number, Text, Word};

/// The upper limit of delays and token lifetimes, in milliseconds.
const MS: u64 = 86_400_000;
/// The upper limit of counts.
const COUNT: u64 = 1_000_000;
/// The ways in which a document can be delivered.
const SPOILED: &[&str] =
    &["good", "500", "garbage", "huge", "endless", "html", "redirect", "inside", "hops", "hang", "none"];

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct LieRow {
    /// The lie.
    pub lie: Lie,
    /// The word on the command line.
    pub word: &'static str,
    /// The shape of the argument; its default is correct behavior.
    pub shape: ArgumentShape,
    /// A description of the effect.
    pub what: &'static str,
}

macro_rules! lies {
    ($($lie:ident $word:literal $shape:expr, $what:literal;)*) => {
        /// A configuration or fault of the authorization server.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Lie {
            $(#[doc = $what] $lie,)*
        }

        /// All lies.
        pub const LIES: &[LieRow] = &[
            $(LieRow { lie: Lie::$lie, word: $word, shape: $shape, what: $what },)*
        ];
    };
}

lies! {
    // Origins and paths.
    Place "place" Word(&["apart", "same"]), "whether it has an origin of its own or that of the MCP server";
    IssuerPath "issuer-path" Text(""), "the path of the issuer, such as /tenant1";
    // The protected resource.
    Challenge "challenge" Word(&["full", "bare", "none"]), "the 401 names the metadata; only a scheme; or has no WWW-Authenticate";
    ChallengeUrl "challenge-url" Text(""), "this URL of metadata in the challenge instead of ours";
    Scope "scope" Text(""), "the scopes every request needs; named by the challenge";
    StepUp "step-up" Text(""), "a scope that every tools/call needs beside; without it 403 insufficient_scope";
    StepUpEnds "step-up-ends" Word(&["yes", "no"]), "whether a token with that scope is let in";
    Prm "prm" Word(&["both", "path", "root", "custom"]), "where its metadata is: at both well-known paths, one of them, or only where the challenge says";
    PrmBody "prm-body" Word(SPOILED), "how its metadata arrives";
    PrmResource "prm-resource" Text(""), "the resource its metadata names; `root` is the origin";
    PrmServer "prm-server" Text(""), "this authorization server in its metadata instead of ours";
    PrmScopes "prm-scopes" Text(""), "scopes_supported of its metadata";
    // The metadata of the authorization server.
    Metadata "metadata" Word(&["both", "oauth", "oidc", "appended"]), "RFC 8414 and OpenID, one of them, or OpenID behind the path";
    MetadataBody "metadata-body" Word(SPOILED), "how the metadata arrive";
    Issuer "issuer" Word(&["right", "host", "slash", "case", "absent"]), "the issuer in the metadata";
    Pkce "pkce" Word(&["S256", "plain", "absent"]), "code_challenge_methods_supported";
    IssAdvertised "iss-advertised" Word(&["yes", "no"]), "authorization_response_iss_parameter_supported";
    ServerScopes "server-scopes" Text(""), "scopes_supported of the authorization server";
    Cimd "cimd" Word(&["no", "yes"]), "client_id_metadata_document_supported; a URL is then a known client";
    Grants "grants" Text(""), "grant_types_supported of the metadata, with commas; all it has unless told";
    AuthMethods "auth-methods" Text("none,client_secret_basic,client_secret_post,private_key_jwt"), "the client authentication methods of the token endpoint";
    AuthorizeUrl "authorize-url" Text(""), "this authorization endpoint in the metadata instead of ours";
    TokenUrl "token-url" Text(""), "this token endpoint in the metadata instead of ours";
    RegisterUrl "register-url" Text(""), "this registration endpoint in the metadata instead of ours";
    RevokeUrl "revoke-url" Text(""), "this revocation endpoint in the metadata instead of ours; `absent` for none";
    DeviceUrl "device-url" Text(""), "this device endpoint in the metadata instead of ours; `absent` for none";
    // The authorization endpoint.
    Authorize "authorize" Text("code"), "the code, or the error of this name in the redirect";
    AuthorizeState "authorize-state" Word(&["right", "wrong", "absent"]), "the state in the redirect";
    Iss "iss" Word(&["right", "absent", "wrong", "slash", "case"]), "the iss in the redirect";
    // Registration.
    Register "register" Word(&["yes", "absent", "refused", "500"]), "whether clients can register";
    RegisterMethod "register-method" Text(""), "the method a registration is given; that asked for unless told";
    // The token endpoint.
    Token "token" Word(&["good", "500", "garbage", "huge", "endless", "html", "redirect", "inside", "hops", "hang", "none", "lost"]), "how its answer arrives; `lost`: the work is done, the connection closed";
    TokenError "token-error" Text(""), "400 with this error, nothing done";
    TokenAfter "token-after" Number(0, MS), "so many milliseconds after the work is done";
    TokenOn "token-on" Text("any"), "the grant that the three lies above hold for";
    TokenTimes "token-times" Number(COUNT, COUNT), "how many requests they hold for";
    // Tokens.
    AccessMs "access-ms" Number(3_600_000, MS), "how many milliseconds an access token is good for";
    Refresh "refresh" Word(&["rotate", "keep", "omit", "never"]), "a new refresh token each time; the same, said again; the same, not said again; none at all";
    ExpiresIn "expires-in" Word(&["right", "absent", "negative", "string", "zero", "long"]), "expires_in";
    TokenType "token-type" Word(&["Bearer", "bearer", "mac", "absent"]), "token_type";
    GrantedScope "granted-scope" Word(&["asked", "absent", "less", "more"]), "the scope that is granted and named";
    Dpop "dpop" Word(&["no", "yes", "nonce"]), "whether tokens are bound to a key, and proofs need a nonce";
    // The device grant.
    DevicePending "device-pending" Number(1, COUNT), "how many polls are told authorization_pending";
    DeviceSlow "device-slow" Number(0, COUNT), "how many polls before them are told slow_down";
    DeviceEnd "device-end" Word(&["approved", "access_denied", "expired_token"]), "how the device grant ends";
    DeviceInterval "device-interval" Number(1, MS), "the interval in seconds; 0 leaves it out";
    // As identity provider.
    IdToken "id-token" Word(&["right", "absent", "other-audience", "other-issuer", "expired"]), "the id_token of scope openid, unsigned";
    IdJag "id-jag" Word(&["right", "other-audience", "other-resource", "other-client", "expired", "other-type"]), "the ID-JAG that a token exchange gives, unsigned";
}

/// The lies that are set, by row.
#[derive(Clone, Debug, Default)]
pub struct LieSet(Vec<(Lie, ScriptArgument)>);

impl LieSet {
    /// Adds `WORD[:ARGUMENT]`, replacing an earlier lie with the same word.
    ///
    /// # Errors
    ///
    /// A sentence that names the invalid part.
    pub fn add_lie(&mut self, text: &str) -> Result<(), String> {
        let (word, argument) = match text.split_once(':') {
            Some((word, argument)) => (word, Some(argument)),
            None => (text, None),
        };
        let row = LIES.iter().find(|row| row.word == word);
        let row = row.ok_or_else(|| format!("unknown lie `{word}`"))?;
        let argument =
            row.shape.parse_argument(argument).ok_or_else(|| format!("invalid argument in `{text}`"))?;
        self.0.retain(|(lie, _)| *lie != row.lie);
        self.0.push((row.lie, argument));
        Ok(())
    }

    /// The number of a row.
    pub fn number(&self, lie: Lie) -> u64 {
        match self.argument(lie) {
            ScriptArgument::Number(number) => number,
            ScriptArgument::Nothing | ScriptArgument::Text(_) => 0,
        }
    }

    /// The word or text of a row.
    pub fn text(&self, lie: Lie) -> String {
        match self.argument(lie) {
            ScriptArgument::Text(text) => text,
            ScriptArgument::Nothing | ScriptArgument::Number(_) => String::new(),
        }
    }

    /// Whether a row has this word.
    pub fn is_word(&self, lie: Lie, word: &str) -> bool {
        self.text(lie) == word
    }

    fn argument(&self, lie: Lie) -> ScriptArgument {
        let told = self.0.iter().find(|(told, _)| *told == lie).map(|(_, argument)| argument.clone());
        let truth = || LIES.iter().find(|row| row.lie == lie).and_then(|row| row.shape.parse_argument(None));
        told.or_else(truth).unwrap_or(ScriptArgument::Nothing)
    }
}
