//! Sign-in errors: the reasons why a sign-in failed.

mod renew;
mod responsible_party;

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::explain::Explain;
use mcparley_model::text::Untrusted;
use mcparley_platform::file::FileReadError;

use crate::authorize::{AuthorizationResponseError, AuthorizeError};
use crate::callback::CallbackError;
use crate::device::DeviceError;
use crate::discover::DiscoverError;
use crate::exchange::ExchangeError;
use crate::grant::TokenError;
use crate::jwt::{KeyError, SignError};
use crate::register::RegisterError;
use crate::vault::VaultError;

pub(crate) use renew::RenewError;
pub use responsible_party::ResponsibleParty;

/// The reason why a sign-in failed. Tokens that worked before still work.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// The authorization server cannot be found.
    #[error("cannot find the authorization server")]
    Discover(#[from] DiscoverError),
    /// The server requires a token and describes no sign-in: its operator hands tokens out.
    #[error("the server requires a token but offers no sign-in")]
    NoSignInOffered,
    /// We cannot become a client of the authorization server.
    #[error("cannot register with the authorization server")]
    Register(#[from] RegisterError),
    /// The redirect of the browser cannot be received.
    #[error("cannot receive the browser's redirect")]
    Callback(#[source] Arc<CallbackError>),
    /// The user or the authorization server did not consent, or the response cannot be trusted.
    #[error(transparent)]
    Authorize(#[from] AuthorizeError),
    /// The pasted text is not the redirect address.
    #[error("this is not the address of the last sign-in page")]
    Pasted(#[source] AuthorizationResponseError),
    /// The pasted address belongs to another sign-in.
    #[error("this address belongs to another sign-in")]
    OtherAttempt,
    /// The authorization server gave no tokens.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// Sign-in on another device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Sign-in through the identity provider failed.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The sign-in cannot be stored.
    #[error("cannot store the sign-in")]
    Vault(#[from] VaultError),
    /// There is no vault to store secrets in.
    #[error("no folder for secrets is configured")]
    NoVault,
    /// The client authenticates with a key, and the entry names none.
    #[error("the client needs a private key, and none is configured")]
    NoKey,
    /// The private key cannot be used.
    #[error("the private key cannot be used")]
    Key(#[source] KeyError),
    /// Signing failed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The grant needs an assertion, and the entry names none.
    #[error("no assertion is configured")]
    NoAssertion,
    /// A file with a secret is missing.
    #[error("the file `{}` with the {what} is missing", path.display())]
    NoFile {
        /// The kind of secret the file should hold.
        what: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A file with a secret cannot be read, or must not be.
    #[error("the {what} cannot be read")]
    File {
        /// The kind of secret the file holds.
        what: &'static str,
        /// The read error.
        #[source]
        why: Arc<FileReadError>,
    },
    /// No identity provider is configured, or signing in through one is not switched on.
    #[error("no identity provider is configured")]
    NoIdentity,
    /// The user has not signed in to the identity provider yet.
    #[error("not signed in to the identity provider")]
    IdentityUnknown,
    /// The identity provider accepted the sign-in but sent no ID token.
    #[error("the identity provider returned no ID token")]
    NoIdToken,
    /// The server names another authorization server than the configured client belongs to.
    #[error("the server now names `{}`, but the configured client belongs to `{}`", now.display_line(), before.display_line())]
    OtherIssuer {
        /// The issuer of the stored sign-in.
        before: Untrusted,
        /// The issuer that the server names now.
        now: Untrusted,
    },
    /// Tokens could not be obtained without the user.
    #[error(transparent)]
    Renew(#[from] RenewError),
    /// The server does not support sign-in: it has no URL, or its entry sends its own credentials.
    #[error("this server does not support sign-in")]
    Unsupported,
    /// The sign-in is shared by all clients of the gateway.
    #[error("all clients of the gateway share the sign-in to this server")]
    SharedSignIn,
    /// There is no token of the client to exchange.
    #[error("the client of the gateway sent no valid token of an issuer")]
    NoSubjectToken,
    /// No sign-in is in progress.
    #[error("no sign-in is in progress")]
    NoFlowRunning,
    /// The sign-in page could not be shown to the user.
    #[error("cannot show the sign-in page")]
    PageNotShown,
    /// The sign-in was interrupted.
    #[error("the sign-in was interrupted")]
    Stopped,
}

impl From<CallbackError> for SignInError {
    fn from(error: CallbackError) -> Self {
        Self::Callback(Arc::new(error))
    }
}

impl SignInError {
    /// Whether the only obstacle is that the user has to take part.
    #[must_use]
    pub fn needs_user(&self) -> bool {
        matches!(self, Self::IdentityUnknown | Self::Renew(RenewError::SignInRequired))
    }
}

impl SignInError {
    /// The error and its sources in one line.
    #[must_use]
    pub fn to_single_line(&self) -> String {
        join_sources(self)
    }
}

/// Joins an error and its sources into one line; a source whose text is already there is left out.
pub(crate) fn join_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        let more = deeper.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = deeper.source();
    }
    text
}

impl Explain for SignInError {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Discover(error) => return error.hint(),
            Self::Register(error) => return error.hint(),
            Self::Callback(error) => return error.hint(),
            Self::Authorize(error) => return error.hint(),
            Self::Pasted(error) => return error.hint(),
            Self::Token(error) => return error.hint(),
            Self::Device(error) => return error.hint(),
            Self::Exchange(error) => return error.hint(),
            Self::Vault(error) => return error.hint(),
            Self::NoSignInOffered => {
                "send the token that its operator gave you as a header: \
                 `\"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}` in its entry, or `--header` when you add it"
            }
            Self::OtherAttempt => "open the page shown last, and paste the address it ends on",
            Self::NoVault => "configure a folder for secrets",
            Self::NoKey => "set `oauth.privateKey` or `oauth.privateKeyFile`",
            Self::Key(_) => "use a private key in PEM (PKCS #8), P-256 or RSA",
            Self::NoAssertion => "set `oauth.assertion` or `oauth.assertionFile`",
            Self::NoIdentity => {
                "set up `xaaIdp` with `mcparley auth idp setup`, and set `MCPARLEY_ENABLE_XAA=1`"
            }
            Self::IdentityUnknown => "run `mcparley auth idp login`",
            Self::OtherIssuer { .. } => "if that is right, sign out first: `mcparley logout`",
            Self::File { .. } => "make the file readable only by you: `chmod 600`",
            Self::Unsupported => {
                "sign-in works for servers with a URL and without their own `Authorization` header"
            }
            Self::NoSubjectToken => "connect to a gateway that accepts tokens of an issuer, and send one",
            Self::SharedSignIn => "the user who runs the gateway signs in: `mcparley login`",
            Self::PageNotShown => "sign in from a terminal: `mcparley login`",
            Self::NoFlowRunning => "start a sign-in first, then paste the address its page ends on",
            Self::NoIdToken => "use a client that is registered for OpenID Connect",
            Self::Sign(_) | Self::NoFile { .. } | Self::Renew(_) | Self::Stopped => return None,
        };
        Some(text.to_owned())
    }
}
