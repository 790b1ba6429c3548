//! Errors of the HTTP listeners of `serve` and `ui`.

use mcparley::auth::callback::CallbackError;
use mcparley::model::explain::Explain;
use mcparley_cluster::{JoinError, StoreAddressError};
use mcparley_door::{DoorError, IssuerError, TokenFileError};
use mcparley_gateway::SealKeyError;
use mcparley_web::LocalPageError;

/// The reason why `serve` or `ui` cannot listen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoorSetupError {
    /// A listener cannot be opened.
    #[error(transparent)]
    Listener(DoorError),
    /// The token file cannot be used.
    #[error(transparent)]
    Tokens(TokenFileError),
    /// The issuer of tokens cannot be used.
    #[error("cannot accept tokens of the issuer: {0}")]
    Issuer(IssuerError),
    /// The key of session ids cannot be used.
    #[error(transparent)]
    Seal(SealKeyError),
    /// The address for browsers cannot be used.
    #[error("`--public-url`: {0}")]
    PublicUrl(CallbackError),
    /// The address of the shared state is invalid.
    #[error("the address of the shared state is invalid: {0}")]
    StateAddress(StoreAddressError),
    /// The shared state cannot be used.
    #[cfg_attr(not(feature = "redis"), expect(dead_code, reason = "only a program with Redis joins others"))]
    #[error("`{address}`: {source}")]
    State { address: String, source: JoinError },
    /// Durable tasks belong to the daemon of one machine, and other gateways do not know them.
    #[error("`--tasks` cannot be used with a shared state")]
    SharedTasks,
    /// This program was built without Redis.
    #[cfg_attr(
        feature = "redis",
        expect(dead_code, reason = "only a program without Redis refuses the option")
    )]
    #[error("this program was built without Redis")]
    NoState,
}

impl Explain for DoorSetupError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Issuer(error) => return error.hint(),
            Self::Listener(DoorError::OpenAddress(_)) => {
                "use `127.0.0.1`, or allow it with `--any-address` and name the host with `--host`"
            }
            Self::Listener(DoorError::Tcp { .. }) => "use another port; port 0 takes a free one",
            Self::Listener(DoorError::OpenFolder(_)) => "use a folder with mode 0700",
            Self::Tokens(TokenFileError::Empty(_)) => {
                "write a line `name:token`, or delete the file to get a new token"
            }
            Self::Tokens(TokenFileError::Read(_)) | Self::Seal(SealKeyError::Read(_)) => {
                "the file must belong to you and have mode 0600"
            }
            Self::PublicUrl(_) => "write the address that browsers open, such as `https://mcp.example.com`",
            Self::State { .. } => "start Redis 6.2 or newer at this address, or leave out `--state`",
            Self::SharedTasks => {
                "leave out `--tasks`, or serve without `--state` and `MCPARLEY_STATE`; tasks of servers themselves work with both"
            }
            Self::NoState => "build it with `--features redis`",
            Self::Listener(DoorError::Unix { .. })
            | Self::Tokens(_)
            | Self::Seal(_)
            | Self::StateAddress(_) => return None,
        };
        Some(hint.to_owned())
    }
}

impl From<LocalPageError> for DoorSetupError {
    fn from(error: LocalPageError) -> Self {
        match error {
            LocalPageError::Listener(error) => Self::Listener(error),
            LocalPageError::Token(error) => Self::Tokens(error),
            LocalPageError::Seal(error) => Self::Seal(error),
        }
    }
}
