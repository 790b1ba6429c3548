//! An open question as other processes see it.

use std::sync::{Arc, Mutex, PoisonError};

use mcparley::elicit::{ElicitationRequest, ParsedElicitation};
use mcparley::permission::PermissionSummary;
use mcparley::pool::principal::Principal;
use mcparley_wire::RawJson;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

/// An open question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingQuestion {
    /// The id by which it is answered.
    pub id: String,
    /// The time since it was asked, in seconds.
    pub age_seconds: u64,
    /// The server of the call; `None` for a tool of the host.
    pub server: Option<String>,
    /// The tool that is called.
    pub tool: String,
    /// The kind of question.
    pub kind: QuestionKind,
    /// The principal that calls the tool.
    pub principal: String,
    /// The name that the client gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The arguments of the call, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The content of the question, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<QuestionDetails>,
}

/// The kind of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionKind {
    /// Whether a call may be made.
    Permission,
    /// A form of the server.
    Form,
    /// A page that the server wants to be visited.
    Page,
    /// A request of the server to the client's model.
    Sampling,
}

/// The content of a question. Its texts come from servers and are untrusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QuestionDetails {
    /// The call that needs permission.
    Permission(Box<PermissionSummary>),
    /// The parameters of `elicitation/create` for a form.
    Form(Value),
    /// The parameters of `elicitation/create` for a page.
    Page(Value),
    /// The parameters of `sampling/createMessage`.
    Sampling(Value),
}

/// The call that questions belong to.
#[derive(Debug)]
pub(crate) struct QuestionSource {
    pub(crate) tool: String,
    pub(crate) principal: Arc<Principal>,
    pub(crate) client: Option<Arc<str>>,
    pub(crate) arguments: RawJson,
    /// The time of the last answer from another terminal.
    pub(crate) answered: Mutex<Option<Instant>>,
}

impl QuestionKind {
    /// The word for the kind.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Form => "form",
            Self::Page => "page",
            Self::Sampling => "sampling",
        }
    }
}

impl QuestionDetails {
    /// The content of a request to a client; `None` for requests that are no question to a user.
    pub(crate) fn from_request(method: &str, params: &RawJson) -> Option<Self> {
        let params: Value = params.decode().ok()?;
        match method {
            "elicitation/create" if params.get("mode").and_then(Value::as_str) == Some("url") => {
                Some(Self::Page(params))
            }
            "elicitation/create" => Some(Self::Form(params)),
            "sampling/createMessage" => Some(Self::Sampling(params)),
            _ => None,
        }
    }

    /// The kind of question.
    #[must_use]
    pub fn kind(&self) -> QuestionKind {
        match self {
            Self::Permission(_) => QuestionKind::Permission,
            Self::Form(_) => QuestionKind::Form,
            Self::Page(_) => QuestionKind::Page,
            Self::Sampling(_) => QuestionKind::Sampling,
        }
    }

    /// The form or page, if the question is one that can be shown.
    #[must_use]
    pub fn elicitation(&self) -> Option<ParsedElicitation> {
        match self {
            Self::Form(params) | Self::Page(params) => {
                ParsedElicitation::parse(RawJson::from_value(params).ok().as_ref()).ok()
            }
            Self::Permission(_) | Self::Sampling(_) => None,
        }
    }

    /// The mismatch of a form's content with the form. A form that cannot be shown is left to its server.
    pub(crate) fn find_mismatch(&self, content: &Value) -> Option<String> {
        let ElicitationRequest::Form(form) = self.elicitation()?.request else { return None };
        let mismatches = form.check_content(content).err()?;
        Some(mismatches.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }
}

impl QuestionSource {
    /// Notes that a question of the call was answered from another terminal.
    pub(crate) fn note_answer(&self) {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// The time of the last answer from another terminal.
    pub(crate) fn last_answer(&self) -> Option<Instant> {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
