//! Notifications and requests to the other side that belong to an inbound request.
//!
//! On stdio, WebSocket and in memory they use the whole connection; a transport with a stream for each
//! request has its own [`ReplySink`].

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::{BoxedFuture, Peer, PeerCallOptions, Shared};
use crate::failure::{Failure, RpcError};
use crate::message;
use mcparley_json::RawJson;

/// Sends replies that belong to one inbound request. Cheap to clone.
#[derive(Clone)]
pub struct Replies(Arc<dyn ReplySink>);

/// Result of a notification that is sent without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The notification is on its way.
    Sent,
    /// The notification was dropped, because the other side does not read fast enough.
    Dropped,
    /// The other side cannot be reached any more.
    Gone,
}

/// Error of a request to the other side.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The other side cannot be reached any more.
    #[error("the other side is gone")]
    Gone,
    /// The other side has answered with an error.
    #[error("the other side answered with error {}", .0.code)]
    Refused(RpcError),
    /// The response is malformed, or the request could not be sent.
    #[error(transparent)]
    Failed(Failure),
}

/// Sends the replies of one inbound request, or the messages of a session outside of requests.
pub trait ReplySink: Send + Sync {
    /// Sends a notification if the queue has space for it.
    fn send_notification(&self, message: Bytes) -> Delivery;

    /// Sends a request and waits for its response. Dropping the future cancels the request.
    fn send_request(
        self: Arc<Self>,
        method: &'static str,
        params: RawJson,
    ) -> BoxedFuture<'static, Result<RawJson, AskError>>;

    /// Waits until the other side cannot receive the response any more.
    fn wait_until_gone(self: Arc<Self>) -> BoxedFuture<'static, ()>;
}

impl Replies {
    /// Replies that are sent by this sink.
    #[must_use]
    pub fn new(sink: Arc<dyn ReplySink>) -> Self {
        Self(sink)
    }

    /// Replies that use the whole connection of a peer.
    #[must_use]
    pub fn over_peer(peer: &Peer) -> Self {
        let shared: Arc<Shared> = Arc::clone(&peer.shared);
        Self(shared)
    }

    /// Sends a notification that belongs to the request. Never waits.
    pub fn notify(&self, method: &str, params: Option<&RawJson>) -> Delivery {
        self.0.send_notification(Bytes::from(message::encode_notification(method, params)))
    }

    /// Sends a message that is encoded already. Never waits.
    pub fn forward_message(&self, message: Bytes) -> Delivery {
        self.0.send_notification(message)
    }

    /// Sends a request to the other side on behalf of the inbound request. Dropping the future cancels it.
    ///
    /// # Errors
    /// An [`AskError`].
    pub async fn ask(&self, method: &'static str, params: RawJson) -> Result<RawJson, AskError> {
        Arc::clone(&self.0).send_request(method, params).await
    }

    /// Waits until the other side cannot receive the response any more.
    pub async fn wait_until_gone(&self) {
        Arc::clone(&self.0).wait_until_gone().await;
    }
}

impl ReplySink for Shared {
    fn send_notification(&self, message: Bytes) -> Delivery {
        if self.over.load(Ordering::Acquire) {
            return Delivery::Gone;
        }
        if self.outbound.send_or_drop(message) { Delivery::Sent } else { Delivery::Dropped }
    }

    fn send_request(
        self: Arc<Self>,
        method: &'static str,
        params: RawJson,
    ) -> BoxedFuture<'static, Result<RawJson, AskError>> {
        let peer = Peer { shared: self };
        Box::pin(async move { Ok(peer.call(method, Some(&params), PeerCallOptions::default()).await?) })
    }

    fn wait_until_gone(self: Arc<Self>) -> BoxedFuture<'static, ()> {
        let peer = Peer { shared: self };
        Box::pin(async move { drop(peer.wait_until_ended().await) })
    }
}

impl From<Failure> for AskError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::ErrorResponse(error) => Self::Refused(error),
            Failure::Closed { .. } => Self::Gone,
            failure => Self::Failed(failure),
        }
    }
}

impl std::fmt::Debug for Replies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replies").finish_non_exhaustive()
    }
}
