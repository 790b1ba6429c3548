//! Classifies responses with an error status.
//!
//! The only place that interprets statuses, and the text of a body: real servers report an expired session
//! in three ways, one of them only in the text.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use mcparley_model::limits::CHALLENGE_CHARS;
use mcparley_model::text::{Untrusted, truncate_text};
use reqwest::Response;
use reqwest::header::{HeaderMap, RETRY_AFTER, WWW_AUTHENTICATE};

use super::body;
use crate::failure::{Failure, RpcError};
use crate::message::{self, Id, RpcMessage};

/// A response with an error status.
#[derive(Debug)]
pub(in crate::transport) struct HttpRefusal<'r> {
    pub(in crate::transport) status: u16,
    pub(in crate::transport) headers: &'r HeaderMap,
    pub(in crate::transport) body: Bytes,
    /// The id of the request it answers, if it was one.
    pub(in crate::transport) call: Option<u64>,
    /// The session id of the request.
    pub(in crate::transport) session: Option<&'r str>,
}

/// Reads and classifies a response in `session` to a message that is not a JSON-RPC request.
pub(in crate::transport) async fn read_refusal(response: Response, session: Option<&str>) -> Failure {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = body::read_beginning(response).await;
    HttpRefusal { status, headers: &headers, body, call: None, session }.to_failure()
}

impl HttpRefusal<'_> {
    /// Converts the response to a failure.
    pub(in crate::transport) fn to_failure(&self) -> Failure {
        match self.status {
            401 => return Failure::Unauthorized { challenge: read_challenge(self.headers) },
            403 => return Failure::Forbidden { challenge: read_challenge(self.headers) },
            _ => {}
        }
        if self.is_session_expiry() {
            return Failure::SessionExpired;
        }
        if let Some(error) = self.rpc_error() {
            return Failure::ErrorResponse(error);
        }
        Failure::Status {
            code: self.status,
            retry_after: self.retry_after(SystemTime::now()),
            text: Untrusted::new(body::body_excerpt(&self.body)),
        }
    }

    /// Whether the response means that the session has expired, which needs a session.
    fn is_session_expiry(&self) -> bool {
        let Some(session) = self.session else { return false };
        match self.status {
            404 => true,
            400 => {
                let text = String::from_utf8_lossy(&self.body).to_lowercase();
                text.contains("session") || text.contains(&session.to_lowercase())
            }
            _ => false,
        }
    }

    /// The JSON-RPC error in the body, if it can be for this request.
    fn rpc_error(&self) -> Option<RpcError> {
        let bare = self.body.trim_ascii();
        message::parse_messages(&self.body.slice_ref(bare)).into_iter().find_map(|message| match message {
            RpcMessage::Response { id, outcome: Err(error) } => match id {
                Some(Id::Number(id)) => (self.call == Some(id)).then_some(error),
                Some(Id::Text(_)) => None,
                None => Some(error),
            },
            RpcMessage::Response { outcome: Ok(_), .. }
            | RpcMessage::Request { .. }
            | RpcMessage::Notification { .. }
            | RpcMessage::Damaged { .. }
            | RpcMessage::Noise => None,
        })
    }

    /// Parses `Retry-After`, in seconds or as a date (RFC 9110, 10.2.3).
    fn retry_after(&self, now: SystemTime) -> Option<Duration> {
        let text = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
        match text.parse() {
            Ok(seconds) => Some(Duration::from_secs(seconds)),
            Err(_) => Some(httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()),
        }
    }
}

/// Joins the `WWW-Authenticate` headers, which are parts of one challenge (RFC 9110, 5.3).
pub(super) fn read_challenge(headers: &HeaderMap) -> Option<Untrusted> {
    let parts = headers.get_all(WWW_AUTHENTICATE).iter();
    let parts: Vec<_> = parts.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!parts.is_empty())
        .then(|| Untrusted::new(truncate_text(&parts.join(", "), CHALLENGE_CHARS).into_owned()))
}

#[cfg(test)]
mod tests;
