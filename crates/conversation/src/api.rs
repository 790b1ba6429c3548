//! The model APIs: requests to them, their answer streams and their errors, as pure functions.
//!
//! | API | module |
//! |---|---|
//! | Anthropic Messages | `anthropic` |
//! | OpenAI Chat Completions | `open_ai` |
//! | Gemini `streamGenerateContent` | `gemini` |
//! | errors of all of them | `api_error` |

mod anthropic;
mod api_error;
mod gemini;
mod open_ai;
#[cfg(test)]
mod tests;

use mcparley_model::secret::Secret;
use mcparley_wire::transport::http::event::Event;
use serde_json::Value;
use url::Url;

use crate::answer::ModelAnswer;
use crate::choice::{Credential, ModelChoice};
use crate::error::{ModelErrorKind, StreamProblem};
use crate::provider::Provider;
use crate::request::ModelRequest;

pub(crate) use api_error::{ApiErrorResponse, classify_error_response};

/// An HTTP request to a model's API.
#[derive(Debug)]
pub(crate) struct ApiRequest {
    pub(crate) url: Url,
    pub(crate) headers: Vec<(&'static str, Secret<String>)>,
    pub(crate) body: String,
}

/// Writes a request in the form of the chosen API.
pub(crate) fn write_request(choice: &ModelChoice, request: &ModelRequest<'_>) -> ApiRequest {
    let (path, query, body) = match choice.provider() {
        Provider::Anthropic => ("v1/messages".to_owned(), None, anthropic::write_body(choice, request)),
        Provider::OpenAi => ("chat/completions".to_owned(), None, open_ai::write_body(choice, request)),
        Provider::Gemini => {
            let path = format!("v1beta/models/{}:streamGenerateContent", choice.model());
            (path, Some("alt=sse"), gemini::write_body(request))
        }
    };
    let mut url = join_path(choice.base_url(), &path);
    url.set_query(query);
    ApiRequest { url, headers: auth_headers(choice), body }
}

/// Joins a path to a base address. A base that already ends with the path's first segment is not doubled:
/// people write `…/v1` both with and without.
fn join_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let before = base.path().trim_end_matches('/');
    let path = match path.split_once('/') {
        Some((first, rest)) if before.rsplit('/').next() == Some(first) => rest,
        _ => path,
    };
    url.set_path(&format!("{before}/{path}"));
    url
}

fn auth_headers(choice: &ModelChoice) -> Vec<(&'static str, Secret<String>)> {
    let bearer = |token: &Secret<String>| Secret::new(format!("Bearer {}", token.expose()));
    let mut headers = match (choice.provider(), choice.credential()) {
        (_, Credential::None) => Vec::new(),
        (Provider::Anthropic, Credential::Key(key)) => vec![("x-api-key", key.clone())],
        (Provider::Gemini, Credential::Key(key)) => vec![("x-goog-api-key", key.clone())],
        (Provider::OpenAi, Credential::Key(token)) | (_, Credential::Bearer(token)) => {
            vec![("authorization", bearer(token))]
        }
    };
    if choice.provider() == Provider::Anthropic {
        headers.push(("anthropic-version", Secret::new(anthropic::VERSION.to_owned())));
    }
    headers
}

/// Reads the answer stream of one API.
#[derive(Debug)]
pub(crate) enum AnswerReader {
    Anthropic(anthropic::AnthropicReader),
    OpenAi(open_ai::OpenAiReader),
    Gemini(gemini::GeminiReader),
}

impl AnswerReader {
    /// A reader; `number` makes the ids of calls unique where the API gives none.
    pub(crate) fn new(provider: Provider, number: usize) -> Self {
        match provider {
            Provider::Anthropic => Self::Anthropic(anthropic::AnthropicReader::default()),
            Provider::OpenAi => Self::OpenAi(open_ai::OpenAiReader::with_number(number)),
            Provider::Gemini => Self::Gemini(gemini::GeminiReader::with_number(number)),
        }
    }

    /// Reads the next event, and returns the text in it.
    pub(crate) fn read_event(&mut self, event: &Event) -> Result<Option<String>, ModelErrorKind> {
        let data = event.data.as_ref();
        if data.trim_ascii().is_empty() {
            return Ok(None);
        }
        if data == b"[DONE]" {
            if let Self::OpenAi(reader) = self {
                reader.end_stream();
            }
            return Ok(None);
        }
        let data: Value =
            serde_json::from_slice(data).map_err(|_| StreamProblem::Malformed("an event is not JSON"))?;
        match self {
            Self::Anthropic(reader) => reader.read_event(data),
            Self::OpenAi(reader) => reader.read_event(&data),
            Self::Gemini(reader) => reader.read_event(&data),
        }
    }

    /// Whether the answer is complete, so that no more events are needed.
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Self::Anthropic(reader) => reader.is_complete(),
            Self::OpenAi(reader) => reader.is_complete(),
            // Its streams have no mark at their end.
            Self::Gemini(_) => false,
        }
    }

    /// The answer, once the stream has ended.
    pub(crate) fn finish(self) -> Result<ModelAnswer, StreamProblem> {
        match self {
            Self::Anthropic(reader) => reader.finish(),
            Self::OpenAi(reader) => reader.finish(),
            Self::Gemini(reader) => reader.finish(),
        }
    }
}

/// The number at a path of members; zero if there is none.
fn number_at(value: &Value, path: &[&str]) -> u64 {
    let found = path.iter().try_fold(value, |value, name| value.get(name));
    found.and_then(Value::as_u64).unwrap_or_default()
}

/// The text of a member.
fn text_at<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}
