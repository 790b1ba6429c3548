//! What kind of thing stands in the way of a sign-in: who has to do something about it.

use super::SignInError;
use crate::account::RenewError;
use crate::authorize::AuthorizeError;
use crate::callback::CallbackError;
use crate::device::DeviceError;
use crate::exchange::ExchangeError;
use crate::grant::TokenError;
use crate::register::RegisterError;

/// Who has to do something about a sign-in that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The person: nobody has consented, or the answer is no.
    Person,
    /// Whoever wrote the server's entry or the settings.
    Configuration,
    /// Whoever looks after this machine: secrets cannot be kept, or the browser has no way back.
    Machine,
    /// Whoever runs the server or its authorization server.
    Server,
    /// Nobody: it took too long.
    Late,
    /// Whoever asked: nobody can sign in to this server.
    Caller,
}

impl SignInError {
    /// Who has to do something about it.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::Discover(_) | Self::NoIdToken | Self::Renew(RenewError::Trouble(_)) => Cause::Server,
            Self::Register(RegisterError::NoWay) => Cause::Configuration,
            Self::Register(RegisterError::Asked(error)) | Self::Token(error) => of_token(error),
            Self::Callback(error) => of_callback(error),
            Self::Authorize(error) => of_answer(error),
            Self::Device(error) => of_device(error),
            Self::Exchange(error) => of_exchange(error),
            Self::Vault(_) | Self::NoVault | Self::Sign(_) => Cause::Machine,
            Self::NoOffer
            | Self::NoKey
            | Self::Key(_)
            | Self::NoAssertion
            | Self::NoFile { .. }
            | Self::File { .. }
            | Self::NoIdentity
            | Self::OtherIssuer { .. } => Cause::Configuration,
            Self::Pasted(_)
            | Self::OtherAttempt
            | Self::UnknownPerson
            | Self::Renew(RenewError::Over)
            | Self::NothingBegun
            | Self::Unseen
            | Self::Stopped => Cause::Person,
            Self::NotHere => Cause::Caller,
        }
    }
}

fn of_token(error: &TokenError) -> Cause {
    match error {
        TokenError::Proof(_) => Cause::Configuration,
        TokenError::Refused(_) => Cause::Person,
        TokenError::Web(_)
        | TokenError::Unavailable { .. }
        | TokenError::Malformed(_)
        | TokenError::NotBound
        | TokenError::Bound => Cause::Server,
    }
}

fn of_callback(error: &CallbackError) -> Cause {
    match error {
        CallbackError::Taken { .. } | CallbackError::Closed { .. } | CallbackError::NotHere => Cause::Machine,
        CallbackError::Late { .. } => Cause::Late,
    }
}

fn of_answer(error: &AuthorizeError) -> Cause {
    match error {
        AuthorizeError::NoEndpoint | AuthorizeError::Endpoint(_) | AuthorizeError::NoPkce => Cause::Server,
        AuthorizeError::Random => Cause::Machine,
        AuthorizeError::Stranger
        | AuthorizeError::WrongIssuer { .. }
        | AuthorizeError::NoIssuer { .. }
        | AuthorizeError::Refused { .. } => Cause::Person,
    }
}

fn of_device(error: &DeviceError) -> Cause {
    match error {
        DeviceError::NoWay | DeviceError::Page(_) => Cause::Server,
        DeviceError::Asked(error) => of_token(error),
        DeviceError::Declined => Cause::Person,
        DeviceError::Expired => Cause::Late,
    }
}

fn of_exchange(error: &ExchangeError) -> Cause {
    match error {
        ExchangeError::IdToken(_) => Cause::Person,
        ExchangeError::IdJag(_) | ExchangeError::NoIdJag { .. } => Cause::Server,
        ExchangeError::Provider(error) | ExchangeError::Server(error) => of_token(error),
    }
}
