//! Why nobody is signed in.

mod cause;

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::explain::Explain;
use mcparley_model::text::Untrusted;
use mcparley_platform::file::ReadError;

use crate::account::RenewError;
use crate::authorize::{AnswerError, AuthorizeError};
use crate::callback::CallbackError;
use crate::device::DeviceError;
use crate::discover::DiscoverError;
use crate::exchange::ExchangeError;
use crate::grant::TokenError;
use crate::jwt::{KeyError, SignError};
use crate::register::RegisterError;
use crate::vault::VaultError;

pub use cause::Cause;

/// Why nobody is signed in. What worked before still works.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// It cannot be found out who lets people in.
    #[error("it cannot be found out who lets people in")]
    Discover(#[from] DiscoverError),
    /// The server wants a token and says nowhere how to get one: one that was given by hand.
    #[error("the server wants a token and offers no sign-in")]
    NoOffer,
    /// The authorization server does not know us.
    #[error("the authorization server does not take us for a client")]
    Register(#[from] RegisterError),
    /// There is no way back for the browser.
    #[error("the browser has no way back")]
    Callback(#[source] Arc<CallbackError>),
    /// The person or the authorization server did not consent, or the answer is not to be believed.
    #[error(transparent)]
    Authorize(#[from] AuthorizeError),
    /// What was pasted is not the address that is wanted.
    #[error("this is not the address the browser ended on")]
    Pasted(#[source] AnswerError),
    /// What was pasted belongs to another sign-in.
    #[error("this address belongs to another sign-in")]
    OtherAttempt,
    /// The authorization server gave no tokens.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// Signing in on another device did not work.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The way through the identity provider did not work.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// What was given cannot be kept.
    #[error("sign-ins cannot be kept")]
    Vault(#[from] VaultError),
    /// There is no place to keep secrets.
    #[error("there is no place to keep secrets")]
    NoVault,
    /// The entry names no key.
    #[error("the client proves itself by a key, and there is none")]
    NoKey,
    /// The key cannot be used.
    #[error("the private key cannot be used")]
    Key(#[source] KeyError),
    /// Nothing can be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The entry names nothing that others have signed.
    #[error("there is no assertion to show")]
    NoAssertion,
    /// A file is missing.
    #[error("the file `{}` with the {what} is missing", path.display())]
    NoFile {
        /// What it should hold.
        what: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read, or must not be.
    #[error("the {what} cannot be read")]
    File {
        /// What it holds.
        what: &'static str,
        /// Why.
        #[source]
        why: Arc<ReadError>,
    },
    /// No identity provider is configured, or signing in through one is not switched on.
    #[error("no identity provider is configured")]
    NoIdentity,
    /// The identity provider does not know the person yet.
    #[error("nobody has signed in at the identity provider")]
    UnknownPerson,
    /// The identity provider let the person in and did not say who it is.
    #[error("the identity provider gave no identity token")]
    NoIdToken,
    /// The server names another authorization server than the configured client belongs to.
    #[error("the server now names `{}`, but the configured client belongs to `{}`", now.display(), before.display())]
    OtherIssuer {
        /// The one it signed in with.
        before: Untrusted,
        /// The one that is named now.
        now: Untrusted,
    },
    /// Tokens could not be had without a person.
    #[error(transparent)]
    Renew(#[from] RenewError),
    /// Nobody can sign in to this server: it has no address, or its entry says who we are.
    #[error("there is no sign-in to this server")]
    NotHere,
    /// There is no sign-in under way.
    #[error("no sign-in was begun")]
    NothingBegun,
    /// Nobody could be shown the page.
    #[error("the page to sign in on cannot be shown to anybody")]
    Unseen,
    /// The sign-in was broken off.
    #[error("the sign-in was broken off")]
    Stopped,
}

impl From<CallbackError> for SignInError {
    fn from(error: CallbackError) -> Self {
        Self::Callback(Arc::new(error))
    }
}

impl SignInError {
    /// Whether nothing is wrong but that a person has to take part.
    #[must_use]
    pub fn wants_a_person(&self) -> bool {
        matches!(self, Self::UnknownPerson | Self::Renew(RenewError::Over))
    }
}

impl SignInError {
    /// The error and what is behind it, in one line.
    #[must_use]
    pub fn in_one_line(&self) -> String {
        chain(self)
    }
}

/// An error and what is behind it, in one line; what says nothing new is left out.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
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
            Self::NoOffer => {
                "send the token that its operator gave you as a header: \
                 `\"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}` in its entry, or `--header` when you add it"
            }
            Self::OtherAttempt => "open the page that was shown last, and paste where that one ends",
            Self::NoVault => "the program must be given a folder for secrets",
            Self::NoKey => "give `oauth.privateKey` or `oauth.privateKeyFile`",
            Self::Key(_) => "it must be a private key in PEM (PKCS #8), on the curve P-256 or for RSA",
            Self::NoAssertion => "give `oauth.assertion` or `oauth.assertionFile`",
            Self::NoIdentity => {
                "set up `xaaIdp` with `mcparley auth idp setup`, and set `MCPARLEY_ENABLE_XAA=1`"
            }
            Self::UnknownPerson => "run `mcparley auth idp login`",
            Self::OtherIssuer { .. } => "if that is right, sign out first: `mcparley logout`",
            Self::File { .. } => "a file with a secret must belong to you alone: `chmod 600`",
            Self::NotHere => {
                "only servers behind a URL, without an `Authorization` header of their own, are signed in to"
            }
            Self::Unseen => "sign in from a terminal: `mcparley login`",
            Self::NothingBegun => "begin one first, then paste where its page ends",
            Self::NoIdToken => "its client must be one for OpenID Connect",
            Self::Sign(_) | Self::NoFile { .. } | Self::Renew(_) | Self::Stopped => return None,
        };
        Some(text.to_owned())
    }
}
