//! The body of a request: its media types, and its reading within the limits of size and time.

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use hyper::StatusCode;
use hyper::body::Incoming as RequestBody;
use hyper::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use hyper::http::request::Parts;
use mcparley_model::limits::DOOR_BODY_TIME;
use tokio::time::Instant;

use crate::guard::refusal::RequestRefusal;

/// Checks that the body is JSON by its header.
pub(crate) fn check_content_type(parts: &Parts) -> Result<(), RequestRefusal> {
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    match kind.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(RequestRefusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "content_type",
            "`Content-Type` must be `application/json`",
        )),
    }
}

/// Whether the client accepts a media type; without an `Accept` header it accepts all.
pub(crate) fn accepts(parts: &Parts, wanted: &str) -> bool {
    let mut values = parts.headers.get_all(ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let group = wanted.split('/').next().unwrap_or_default();
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim();
        let is_group = range.strip_suffix("/*").is_some_and(|it| it.eq_ignore_ascii_case(group));
        range == "*/*" || is_group || range.eq_ignore_ascii_case(wanted)
    })
}

/// Reads a body within the limits of size and time.
pub(crate) async fn read_body(
    parts: &Parts,
    body: RequestBody,
    limit: usize,
) -> Result<Bytes, RequestRefusal> {
    let too_large = || {
        let reason = format!("the body is larger than {} MiB", limit / (1024 * 1024));
        RequestRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "body_size", &reason)
    };
    let length = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let length = length.and_then(|length| length.parse::<usize>().ok());
    if length.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    // For the whole body: a client that sends a byte now and then must not hold its place.
    let deadline = Instant::now() + DOOR_BODY_TIME;
    let mut body = std::pin::pin!(body);
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    let late = |_| RequestRefusal::new(StatusCode::REQUEST_TIMEOUT, "body_time", "the body came too slowly");
    loop {
        let next = std::future::poll_fn(|context| body.as_mut().poll_frame(context));
        let Some(frame) = tokio::time::timeout_at(deadline, next).await.map_err(late)? else { break };
        let broken = |_| RequestRefusal::new(StatusCode::BAD_REQUEST, "body", "the body cannot be read");
        let Ok(part) = frame.map_err(broken)?.into_data() else { continue };
        if first.len() + rest.len() + part.len() > limit {
            return Err(too_large());
        }
        match (first.is_empty(), rest.is_empty()) {
            (true, true) => first = part,
            (false, _) => {
                rest.reserve(length.unwrap_or(0).max(first.len() + part.len()));
                rest.extend_from_slice(&std::mem::take(&mut first));
                rest.extend_from_slice(&part);
            }
            (true, false) => rest.extend_from_slice(&part),
        }
    }
    Ok(if rest.is_empty() { first } else { rest.freeze() })
}
