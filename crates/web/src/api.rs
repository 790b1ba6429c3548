//! The sections and actions of the page, each as JSON.
//!
//! | module | content |
//! |---|---|
//! | `servers` | the servers with their states |
//! | `actions` | reconnect, enable, disable and sign in |
//! | `tools` | the tools, and the schema of one |
//! | `call` | a call from the form of a tool |
//! | `result` | the result of a call, with images that were checked |
//! | `questions` | the open questions of this gateway and of others, and their answers |
//! | `calls` | running and finished calls |
//! | `trust` | items of the folder that wait for approval |

pub(crate) mod actions;
pub(crate) mod call;
pub(crate) mod calls;
pub(crate) mod questions;
mod result;
pub(crate) mod servers;
pub(crate) mod tools;
pub(crate) mod trust;

use hyper::StatusCode;
use mcparley_door::PageRequest;
use serde::de::DeserializeOwned;

use crate::response::{ErrorResponse, error_response};

/// Parses the body of a request.
///
/// # Errors
/// When the body is not the JSON that the route takes.
fn parse_body<T: DeserializeOwned>(request: &PageRequest) -> Result<T, ErrorResponse> {
    serde_json::from_slice(&request.body).map_err(|error| {
        error_response(StatusCode::BAD_REQUEST, &format!("the body is not valid: {error}"), None)
    })
}

/// The value of a query parameter.
///
/// # Errors
/// When it is missing.
pub(crate) fn query_value(request: &PageRequest, name: &str) -> Result<String, ErrorResponse> {
    let query = request.parts.uri.query().unwrap_or_default();
    let found = url::form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name);
    found.map(|(_, value)| value.into_owned()).ok_or_else(|| {
        error_response(StatusCode::BAD_REQUEST, &format!("the parameter `{name}` is missing"), None)
    })
}
