//! Refusals of HTTP requests.

use hyper::StatusCode;
use mcparley_wire::{INVALID_REQUEST, RawJson, RpcError};

use crate::cluster_link::unreachable_error;

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
}

impl RequestRefusal {
    /// A refusal with the code of an invalid request.
    pub(crate) fn new(status: StatusCode, reason: &'static str, message: &str) -> Self {
        Self::with_error(status, reason, RpcError::new(INVALID_REQUEST, message))
    }

    /// A refusal with this JSON-RPC error.
    pub(crate) fn with_error(status: StatusCode, reason: &'static str, error: RpcError) -> Self {
        Self { status, reason, error: Box::new(error), id: None, allow: None }
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

    /// The refusal of a message that belongs to another gateway, which cannot be reached now.
    pub(crate) fn unreachable() -> Self {
        Self::with_error(StatusCode::SERVICE_UNAVAILABLE, "cluster", unreachable_error())
    }

    /// Adds the id of the refused request.
    pub(crate) fn for_request(self, id: Option<&RawJson>) -> Self {
        Self { id: id.cloned(), ..self }
    }
}
