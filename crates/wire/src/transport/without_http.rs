//! The transports for URLs in a build without the feature `http`: every connection is refused with that reason.
//!
//! The modules have the names and the signatures of the real ones, so that no caller knows the difference.

use std::sync::Arc;

use crate::failure::{Failure, Obstacle};

fn refuse_connection() -> Failure {
    Failure::Refused {
        obstacle: Obstacle::Other,
        reason: Arc::from("this program was built without HTTP"),
        hint: Some(Arc::from("build it with the feature `http` of the crate `mcparley`")),
    }
}

/// Defines a transport that is never open.
macro_rules! define_transport {
    ($transport:ident) => {
        /// A connection of a build without HTTP: there is none.
        #[derive(Debug)]
        pub enum $transport {}

        impl $transport {
            /// Our end of the connection.
            #[must_use]
            pub fn peer(&self) -> &Peer {
                match *self {}
            }

            /// Counts of inbound data that belonged to no request.
            #[must_use]
            pub fn stray_counts(&self) -> StrayCounts {
                match *self {}
            }

            /// Ends the connection.
            pub async fn stop(self) {
                match self {}
            }
        }

        impl TransportConnection for $transport {
            fn peer(&self) -> &Peer {
                match *self {}
            }
        }
    };
}

pub mod http {
    //! Streamable HTTP, refused.

    use std::sync::Arc;

    use bytes::Bytes;
    use url::Url;

    pub use super::super::http_target::HttpTarget;
    pub use super::super::network_settings::{KeepAlive, NetworkSettings, ProxySettings};
    use super::refuse_connection;
    use crate::failure::Failure;
    use crate::handshake::TransportConnection;
    use crate::peer::{Handler, Peer, StrayCounts};

    /// The network settings, which nothing uses.
    #[derive(Clone, Debug, Default)]
    pub struct Network;

    impl Network {
        /// Takes the settings.
        #[must_use]
        pub fn new(_settings: NetworkSettings) -> Self {
            Self
        }

        /// Whether requests to `url` go through a proxy.
        #[must_use]
        pub fn is_proxied(&self, _url: &Url) -> bool {
            false
        }
    }

    define_transport!(HttpTransport);

    impl HttpTransport {
        /// Refuses the connection.
        ///
        /// # Errors
        /// Always [`Failure::Refused`].
        pub fn open(
            _target: &HttpTarget,
            _network: &Network,
            _handler: Arc<dyn Handler>,
        ) -> Result<Self, Failure> {
            Err(refuse_connection())
        }
    }

    /// Refuses the request.
    ///
    /// # Errors
    /// Always [`Failure::Refused`].
    pub async fn fetch_document(
        _target: &HttpTarget,
        _network: &Network,
        _limit: usize,
    ) -> Result<Bytes, Failure> {
        Err(refuse_connection())
    }
}

pub mod sse {
    //! The transport of 2024-11-05, refused.

    use std::sync::Arc;

    use super::http::{HttpTarget, Network};
    use super::refuse_connection;
    use crate::failure::Failure;
    use crate::handshake::TransportConnection;
    use crate::peer::{Handler, Peer, StrayCounts};

    define_transport!(SseTransport);

    impl SseTransport {
        /// Refuses the connection.
        ///
        /// # Errors
        /// Always [`Failure::Refused`].
        pub async fn open(
            _target: &HttpTarget,
            _network: &Network,
            _handler: Arc<dyn Handler>,
        ) -> Result<Self, Failure> {
            Err(refuse_connection())
        }

        /// Refuses the connection.
        ///
        /// # Errors
        /// Always [`Failure::Refused`].
        pub async fn probe(
            _target: &HttpTarget,
            _network: &Network,
            _handler: Arc<dyn Handler>,
        ) -> Result<Option<Self>, Failure> {
            Err(refuse_connection())
        }
    }
}

pub mod ws {
    //! WebSocket, refused.

    use std::sync::Arc;

    use super::http::{HttpTarget, Network};
    use super::refuse_connection;
    use crate::failure::Failure;
    use crate::handshake::TransportConnection;
    use crate::peer::{Handler, Peer, StrayCounts};

    define_transport!(WsTransport);

    impl WsTransport {
        /// Refuses the connection.
        ///
        /// # Errors
        /// Always [`Failure::Refused`].
        pub async fn open(
            _target: &HttpTarget,
            _network: &Network,
            _handler: Arc<dyn Handler>,
        ) -> Result<Self, Failure> {
            Err(refuse_connection())
        }
    }
}
