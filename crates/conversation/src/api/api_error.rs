//! Classifies the errors of model APIs. The only place that looks into their messages.

use std::time::Duration;

use mcparley_model::limits::conversation::MODEL_ERROR_CHARS;
use mcparley_model::text::{Untrusted, truncate_text};
use serde_json::Value;

use super::text_at;
use crate::error::ModelErrorKind;

/// An HTTP response with an error status.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApiErrorResponse<'r> {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<&'r str>,
    pub(crate) retry_after_ms: Option<&'r str>,
    pub(crate) body: &'r [u8],
    pub(crate) model: &'r str,
}

/// Classifies a response with an error status.
pub(crate) fn classify_error_response(response: &ApiErrorResponse<'_>) -> ModelErrorKind {
    let body: Value = serde_json::from_slice(response.body).unwrap_or_default();
    let error = error_object(&body);
    let message = match error.and_then(|error| text_at(error, "message")) {
        Some(message) => message.to_owned(),
        None => String::from_utf8_lossy(response.body).into_owned(),
    };
    let retry_after = parse_pause(response.retry_after, response.retry_after_ms);
    let words = ErrorWords { kind: error.and_then(error_kind).unwrap_or_default(), message: &message };
    classify(response.status, retry_after, &words, response.model)
}

/// Classifies an error that came inside of an answer stream.
pub(super) fn classify_stream_error(error: &Value) -> ModelErrorKind {
    let kind = error_kind(error).unwrap_or_default();
    let message = text_at(error, "message").unwrap_or_default();
    let status = match kind {
        "overloaded_error" | "api_error" | "server_error" | "UNAVAILABLE" | "INTERNAL" => 529,
        "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => 429,
        "authentication_error" | "permission_error" | "UNAUTHENTICATED" | "PERMISSION_DENIED" => 401,
        _ => 200,
    };
    classify(status, None, &ErrorWords { kind, message }, "")
}

/// The words of an API about an error.
struct ErrorWords<'w> {
    /// Its code for programs.
    kind: &'w str,
    message: &'w str,
}

fn classify(
    status: u16,
    retry_after: Option<Duration>,
    words: &ErrorWords<'_>,
    model: &str,
) -> ModelErrorKind {
    let message = Untrusted::new(truncate_text(words.message.trim(), MODEL_ERROR_CHARS).into_owned());
    match status {
        _ if is_context_error(status, words) => ModelErrorKind::ContextTooLong { message },
        401 | 403 => ModelErrorKind::Unauthorized { status, message },
        // Gemini answers a wrong key like this.
        400 if words.message.contains("API key not valid") => {
            ModelErrorKind::Unauthorized { status, message }
        }
        404 => ModelErrorKind::NotFound { model: model.to_owned(), message },
        // Waiting does not bring the money back.
        429 if words.kind == "insufficient_quota" => ModelErrorKind::Rejected { status, message },
        429 => ModelErrorKind::RateLimited { retry_after, message },
        408 | 409 | 500.. => ModelErrorKind::Overloaded { status, retry_after, message },
        _ => ModelErrorKind::Rejected { status, message },
    }
}

/// Whether the request was longer than the context. Only OpenAI has a code for it; the others say it in words.
fn is_context_error(status: u16, words: &ErrorWords<'_>) -> bool {
    let says = |text: &str| words.message.to_ascii_lowercase().contains(text);
    match status {
        413 => true,
        400 | 422 => {
            words.kind == "context_length_exceeded"
                || says("prompt is too long")
                || says("maximum context length")
                || (says("input token count") && says("exceeds"))
        }
        _ => false,
    }
}

/// The error of a body: `{ "error": { … } }`, which Gemini may put into a list.
fn error_object(body: &Value) -> Option<&Value> {
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    body.get("error").filter(|error| error.is_object())
}

/// The code of an error for programs: OpenAI's `code`, Gemini's `status`, Anthropic's `type`.
fn error_kind(error: &Value) -> Option<&str> {
    text_at(error, "code").or_else(|| text_at(error, "status")).or_else(|| text_at(error, "type"))
}

/// The pause that the API asks for, in seconds or milliseconds.
fn parse_pause(seconds: Option<&str>, milliseconds: Option<&str>) -> Option<Duration> {
    let number = |text: Option<&str>| text?.trim().parse::<f64>().ok().filter(|number| *number >= 0.0);
    let milliseconds = number(milliseconds).map(|number| number / 1000.0);
    milliseconds.or(number(seconds)).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}
