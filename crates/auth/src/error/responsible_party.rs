//! Classifies sign-in errors by the party that has to act.

use super::{RenewError, SignInError};
use crate::authorize::AuthorizeError;
use crate::callback::CallbackError;
use crate::device::DeviceError;
use crate::exchange::ExchangeError;
use crate::grant::TokenError;
use crate::register::RegisterError;

/// The party that has to act after a sign-in failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponsibleParty {
    /// The user: consent is missing, or was denied.
    User,
    /// The author of the server's entry or of the settings.
    Configuration,
    /// The administrator of this machine: secrets cannot be stored, or the redirect cannot be received.
    Machine,
    /// The operator of the server or of its authorization server.
    Server,
    /// No party: the sign-in timed out.
    Timeout,
    /// The caller: the server does not support sign-in.
    Caller,
}

impl SignInError {
    /// The party that has to act.
    #[must_use]
    pub fn responsible_party(&self) -> ResponsibleParty {
        match self {
            Self::Discover(_) | Self::NoIdToken | Self::Renew(RenewError::Unavailable(_)) => {
                ResponsibleParty::Server
            }
            Self::Register(RegisterError::Unsupported) => ResponsibleParty::Configuration,
            Self::Register(RegisterError::Failed(error)) | Self::Token(error) => token_error_party(error),
            Self::Callback(error) => callback_error_party(error),
            Self::Authorize(error) => authorize_error_party(error),
            Self::Device(error) => device_error_party(error),
            Self::Exchange(error) => exchange_error_party(error),
            Self::Vault(_) | Self::NoVault | Self::Sign(_) => ResponsibleParty::Machine,
            Self::NoSignInOffered
            | Self::NoKey
            | Self::Key(_)
            | Self::NoAssertion
            | Self::NoFile { .. }
            | Self::File { .. }
            | Self::NoIdentity
            | Self::OtherIssuer { .. } => ResponsibleParty::Configuration,
            Self::Pasted(_)
            | Self::OtherAttempt
            | Self::IdentityUnknown
            | Self::Renew(RenewError::SignInRequired)
            | Self::NoFlowRunning
            | Self::PageNotShown
            | Self::Stopped => ResponsibleParty::User,
            Self::Unsupported | Self::SharedSignIn | Self::NoSubjectToken => ResponsibleParty::Caller,
        }
    }
}

fn token_error_party(error: &TokenError) -> ResponsibleParty {
    match error {
        TokenError::Proof(_) => ResponsibleParty::Configuration,
        TokenError::Refused(_) => ResponsibleParty::User,
        TokenError::Web(_)
        | TokenError::Unavailable { .. }
        | TokenError::Malformed(_)
        | TokenError::NotBound
        | TokenError::UnexpectedlyBound => ResponsibleParty::Server,
    }
}

fn callback_error_party(error: &CallbackError) -> ResponsibleParty {
    match error {
        CallbackError::Taken { .. }
        | CallbackError::Closed { .. }
        | CallbackError::NotLoopback
        | CallbackError::NotHttp
        | CallbackError::NoAddress => ResponsibleParty::Machine,
        CallbackError::TimedOut { .. } => ResponsibleParty::Timeout,
    }
}

fn authorize_error_party(error: &AuthorizeError) -> ResponsibleParty {
    match error {
        AuthorizeError::NoEndpoint | AuthorizeError::Endpoint(_) | AuthorizeError::NoPkce => {
            ResponsibleParty::Server
        }
        AuthorizeError::Random => ResponsibleParty::Machine,
        AuthorizeError::StateMismatch
        | AuthorizeError::WrongIssuer { .. }
        | AuthorizeError::NoIssuer { .. }
        | AuthorizeError::Refused { .. } => ResponsibleParty::User,
    }
}

fn device_error_party(error: &DeviceError) -> ResponsibleParty {
    match error {
        DeviceError::Unsupported | DeviceError::Page(_) => ResponsibleParty::Server,
        DeviceError::Asked(error) => token_error_party(error),
        DeviceError::Declined => ResponsibleParty::User,
        DeviceError::Expired => ResponsibleParty::Timeout,
    }
}

fn exchange_error_party(error: &ExchangeError) -> ResponsibleParty {
    match error {
        ExchangeError::IdToken(_) => ResponsibleParty::User,
        ExchangeError::IdJag(_) | ExchangeError::NoIdJag { .. } => ResponsibleParty::Server,
        ExchangeError::Provider(error) | ExchangeError::Server(error) => token_error_party(error),
    }
}
