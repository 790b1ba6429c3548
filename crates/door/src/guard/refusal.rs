//! Refusals of HTTP requests.

use std::sync::Arc;

use hyper::StatusCode;
use mcparley::pool::principal::ClientIdentity;
use mcparley_wire::{INVALID_REQUEST, RawJson, RpcError};

use mcparley_gateway::cluster_link::unreachable_error;

/// The refusal of an HTTP request.
#[derive(Debug)]
pub(crate) struct RequestRefusal {
    pub(crate) status: StatusCode,
    /// The reason as a word, for the metrics.
    pub(crate) reason: &'static str,
    pub(crate) error: Box<RpcError>,
    pub(crate) id: Option<RawJson>,
    /// The methods that the path allows.
    pub(crate) allow: Option<&'static str>,
    /// The challenge of a request without a valid token.
    pub(crate) challenge: Option<Box<str>>,
    /// The misuse that the audit log records, if the request is one.
    pub(crate) misuse: Option<Misuse>,
}

/// A request that a well-behaved client does not send, such as one with the session of another principal.
#[derive(Debug)]
pub(crate) struct Misuse {
    /// The client, if its token was valid.
    pub(crate) client: Option<Arc<ClientIdentity>>,
}

impl RequestRefusal {
    /// A refusal with the code of an invalid request.
    pub(crate) fn new(status: StatusCode, reason: &'static str, message: &str) -> Self {
        Self::with_error(status, reason, RpcError::new(INVALID_REQUEST, message))
    }

    /// A refusal with this JSON-RPC error.
    pub(crate) fn with_error(status: StatusCode, reason: &'static str, error: RpcError) -> Self {
        Self { status, reason, error: Box::new(error), id: None, allow: None, challenge: None, misuse: None }
    }

    /// The refusal of a method that the path does not have.
    pub(crate) fn method(allow: &'static str) -> Self {
        let refusal = Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", "method not allowed");
        Self { allow: Some(allow), ..refusal }
    }

    /// The refusal of a request while the gateway stops.
    pub(crate) fn draining() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "draining", "the gateway is stopping")
    }

    /// The refusal of a path that does not exist, or that this client must not learn of.
    pub(crate) fn path(reason: &'static str) -> Self {
        Self::new(StatusCode::NOT_FOUND, reason, "there is nothing at this path")
    }

    /// Adds the challenge.
    pub(crate) fn with_challenge(self, challenge: String) -> Self {
        Self { challenge: Some(challenge.into()), ..self }
    }

    /// Records the refusal in the audit log.
    pub(crate) fn with_misuse(self, client: Option<&Arc<ClientIdentity>>) -> Self {
        Self { misuse: Some(Misuse { client: client.cloned() }), ..self }
    }

    /// The refusal of a message that belongs to another gateway, which cannot be reached now.
    pub(crate) fn unreachable() -> Self {
        Self::with_error(StatusCode::SERVICE_UNAVAILABLE, "cluster", unreachable_error())
    }

    /// Adds the id of the refused request.
    pub(crate) fn for_request(self, id: Option<&RawJson>) -> Self {
        Self { id: id.cloned(), ..self }
    }
}
