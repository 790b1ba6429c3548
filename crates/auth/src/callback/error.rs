//! Why no answer came back.

use std::io;
use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::text::rounded;

/// Why no answer came back.
#[derive(Debug, thiserror::Error)]
pub enum CallbackError {
    /// Somebody else has the port.
    #[error("port {port}, which the browser is sent back to, is in use")]
    Taken {
        /// The port.
        port: u16,
    },
    /// The system does not let us listen.
    #[error("cannot listen for the browser on this machine")]
    Closed {
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// No listener of ours can stand there.
    #[error("the registered redirect address is not `http` on this machine")]
    NotHere,
    /// Nobody came.
    #[error("no sign-in within {:?}", rounded(*after))]
    Late {
        /// The limit.
        after: Duration,
    },
}

impl Explain for CallbackError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Taken { .. } => Some(
                "finish or end the other sign-in or program that uses it, or choose another `oauth.callbackPort` \
                 and register its address too"
                    .to_owned(),
            ),
            Self::Late { .. } => Some("sign in again".to_owned()),
            Self::Closed { .. } | Self::NotHere => None,
        }
    }
}
