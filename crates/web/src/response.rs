//! Responses with the security headers of the page.

use bytes::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use hyper::{Response, StatusCode};
use mcparley_door::{PAGE_PATH, PageBody};
use mcparley_model::text::clean_strings;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::asset::PageAsset;

/// The content-security policy: scripts and styles only from the files of the page, no frame, no form, and
/// no request to another server. Images of results are `data:` addresses.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The response to a request that cannot be answered.
pub(crate) type ErrorResponse = Box<Response<PageBody>>;

/// A response with JSON, without the hidden characters of its texts.
pub(crate) fn json_response(mut value: Value) -> Response<PageBody> {
    clean_strings(&mut value);
    build_response(StatusCode::OK, "application/json", value.to_string().into())
}

/// A response with an error for a person, and the way to correct it.
pub(crate) fn error_response(status: StatusCode, error: &str, hint: Option<&str>) -> ErrorResponse {
    let mut value = json!({ "error": error, "hint": hint });
    clean_strings(&mut value);
    Box::new(build_response(status, "application/json", value.to_string().into()))
}

/// The refusal of a method that the path does not have.
pub(crate) fn method_response(allowed: &'static str) -> ErrorResponse {
    let mut response = error_response(StatusCode::METHOD_NOT_ALLOWED, "method not allowed", None);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// A file of the page.
pub(crate) fn asset_response(asset: &'static PageAsset) -> Response<PageBody> {
    build_response(StatusCode::OK, asset.content_type, Bytes::from_static(asset.text.as_bytes()))
}

/// The redirect of `/ui` to the page.
pub(crate) fn redirect_response() -> Response<PageBody> {
    let mut response = build_response(StatusCode::PERMANENT_REDIRECT, "text/plain", Bytes::new());
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(PAGE_PATH));
    response
}

/// An event stream, which proxies must not buffer.
pub(crate) fn event_response(events: mpsc::Receiver<Bytes>) -> Response<PageBody> {
    let mut response = build_response(StatusCode::OK, "text/event-stream", Bytes::new());
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    *response.body_mut() = PageBody::Events(events);
    response
}

/// One event of a stream: its name and its JSON, without hidden characters.
pub(crate) fn encode_event(name: &str, mut value: Value) -> Bytes {
    clean_strings(&mut value);
    Bytes::from(format!("event: {name}\ndata: {value}\n\n"))
}

fn build_response(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<PageBody> {
    let mut response = Response::new(PageBody::Full(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    add_security_headers(headers);
    response
}

fn add_security_headers(headers: &mut HeaderMap) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
