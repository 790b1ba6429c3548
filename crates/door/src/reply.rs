//! HTTP responses: messages, event streams and refusals.

use bytes::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use mcparley_wire::served_message::encode_error_message;
use serde_json::Value;

use crate::body::DoorBody;
use crate::guard::refusal::RequestRefusal;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// The response of a refusal.
pub(crate) fn refusal_response(refusal: &RequestRefusal) -> Response<DoorBody> {
    let body = DoorBody::from_bytes(encode_error_message(refusal.id.as_ref(), &refusal.error));
    let mut response = message_response(refusal.status, body);
    let headers = response.headers_mut();
    match refusal.status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    let challenge = refusal.challenge.as_deref().and_then(|text| HeaderValue::from_str(text).ok());
    if let Some(challenge) = challenge {
        headers.insert(WWW_AUTHENTICATE, challenge);
    }
    if let Some(allow) = refusal.allow {
        headers.insert(ALLOW, HeaderValue::from_static(allow));
    }
    response
}

/// A response that tells the client to come back soon, if it is one of an overloaded or unreachable gateway.
pub(crate) fn retry_response(mut response: Response<DoorBody>) -> Response<DoorBody> {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// A response with one JSON message.
pub(crate) fn message_response(status: StatusCode, body: DoorBody) -> Response<DoorBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// A response with a JSON document.
pub(crate) fn json_response(document: &Value) -> Response<DoorBody> {
    message_response(StatusCode::OK, DoorBody::from_bytes(Bytes::from(document.to_string())))
}

/// A response without a body.
pub(crate) fn empty_response(status: StatusCode) -> Response<DoorBody> {
    let mut response = Response::new(DoorBody::from_bytes(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// A response of plain text.
pub(crate) fn text_response(status: StatusCode, text: impl Into<Bytes>) -> Response<DoorBody> {
    let mut response = Response::new(DoorBody::from_bytes(text.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// A response with metrics, in the format of OpenMetrics.
pub(crate) fn metrics_response(text: String) -> Response<DoorBody> {
    let mut response = text_response(StatusCode::OK, text);
    response.headers_mut().insert(CONTENT_TYPE, METRICS);
    response
}

/// A response with an event stream, which proxies must neither store nor buffer.
pub(crate) fn event_response(body: DoorBody) -> Response<DoorBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENTS);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
