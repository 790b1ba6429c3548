//! Decides what an answer means whose status says no.
//!
//! The only place that looks at statuses, and at the words of a body: real servers tell the end of a session
//! in three ways (L7), one of them in words only.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use mcparley_model::limits::CHALLENGE_CHARS;
use mcparley_model::text::{Untrusted, cut};
use reqwest::Response;
use reqwest::header::{HeaderMap, RETRY_AFTER, WWW_AUTHENTICATE};

use super::body;
use crate::failure::{Failure, RpcError};
use crate::message::{self, Id, Message};

/// An answer that says no.
#[derive(Debug)]
pub(in crate::transport) struct Refusal<'r> {
    pub(in crate::transport) status: u16,
    pub(in crate::transport) headers: &'r HeaderMap,
    pub(in crate::transport) body: Bytes,
    /// The request it answers, if it was one.
    pub(in crate::transport) call: Option<u64>,
    /// The session the request was made in.
    pub(in crate::transport) session: Option<&'r str>,
}

/// What an answer means that has not been read yet, made in `session` and to no request of the protocol.
pub(in crate::transport) async fn of(response: Response, session: Option<&str>) -> Failure {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = body::beginning(response).await;
    Refusal { status, headers: &headers, body, call: None, session }.meaning()
}

impl Refusal<'_> {
    /// What it means.
    pub(in crate::transport) fn meaning(&self) -> Failure {
        match self.status {
            401 => return Failure::Unauthorized { challenge: challenge(self.headers) },
            403 => return Failure::Forbidden { challenge: challenge(self.headers) },
            _ => {}
        }
        if self.is_expiry() {
            return Failure::SessionExpired;
        }
        if let Some(error) = self.error() {
            return Failure::Answered(error);
        }
        Failure::Status {
            code: self.status,
            retry_after: self.retry_after(SystemTime::now()),
            text: Untrusted::new(body::excerpt(&self.body)),
        }
    }

    /// Without a session nothing can have expired (F50).
    fn is_expiry(&self) -> bool {
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

    /// The error of the protocol, if the body is one and can mean this request.
    fn error(&self) -> Option<RpcError> {
        let bare = self.body.trim_ascii();
        message::read(&self.body.slice_ref(bare)).into_iter().find_map(|message| match message {
            Message::Response { id, outcome: Err(error) } => match id {
                Some(Id::Number(id)) => (self.call == Some(id)).then_some(error),
                Some(Id::Text(_)) => None,
                None => Some(error),
            },
            Message::Response { outcome: Ok(_), .. }
            | Message::Request { .. }
            | Message::Notification { .. }
            | Message::Damaged { .. }
            | Message::Noise => None,
        })
    }

    /// In seconds or as a date (RFC 9110, 10.2.3).
    fn retry_after(&self, now: SystemTime) -> Option<Duration> {
        let text = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
        match text.parse() {
            Ok(seconds) => Some(Duration::from_secs(seconds)),
            Err(_) => Some(httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()),
        }
    }
}

/// Several headers are one challenge in parts (RFC 9110, 5.3).
pub(super) fn challenge(headers: &HeaderMap) -> Option<Untrusted> {
    let parts = headers.get_all(WWW_AUTHENTICATE).iter();
    let parts: Vec<_> = parts.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!parts.is_empty()).then(|| Untrusted::new(cut(&parts.join(", "), CHALLENGE_CHARS).into_owned()))
}

#[cfg(test)]
mod tests;
