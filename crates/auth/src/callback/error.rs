//! Callback errors: the reasons why no authorization response arrived.

use std::io;
use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::text::round_duration;

/// The reason why no authorization response arrived.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallbackError {
    /// Another program uses the port.
    #[error("port {port} for the browser's redirect is in use")]
    Taken {
        /// The port.
        port: u16,
    },
    /// The system refuses to listen.
    #[error("cannot listen for the browser on this machine")]
    Closed {
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The redirect address is not on this machine.
    #[error("the registered redirect address is not `http` on this machine")]
    NotLoopback,
    /// The address of the gateway is no web address.
    #[error("the address of the gateway is not `http` or `https`")]
    NotHttp,
    /// The gateway has no address for browsers.
    #[error("the gateway has no address that a browser can be sent back to")]
    NoAddress,
    /// No response arrived in time.
    #[error("no sign-in within {:?}", round_duration(*after))]
    TimedOut {
        /// The limit.
        after: Duration,
    },
}

impl Explain for CallbackError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Taken { .. } => Some(
                "end the other sign-in or program that uses it, or set another `oauth.callbackPort` \
                 and register its address too"
                    .to_owned(),
            ),
            Self::TimedOut { .. } => Some("sign in again".to_owned()),
            Self::NoAddress => Some("start the gateway with `--public-url URL`".to_owned()),
            Self::Closed { .. } | Self::NotLoopback | Self::NotHttp => None,
        }
    }
}
