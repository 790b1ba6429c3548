//! Answers from another terminal.

use mcparley::PermissionAnswer;
use mcparley::config::change::AlwaysAllowScope;
use mcparley::model::limits::QUESTION_CHARS;
use mcparley::model::text::{clean_text, display_line, truncate_text};
use mcparley_wire::{INTERNAL, RawJson, RpcError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::question::{QuestionDetails, QuestionKind};

/// The error code for a sampling request that a user rejects, as in the examples of the protocol.
const REJECTED: i64 = -1;

/// A result of a sampling request, for messages.
const SAMPLING_RESULT: &str =
    r#"`{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"me"}`"#;

/// An answer that a person gives in another terminal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TerminalAnswer {
    /// Allow the call once.
    Allow,
    /// Allow the call, and the tool from now on while its definition is unchanged.
    AlwaysTool {
        /// The settings that get the rule.
        scope: AlwaysAllowScope,
    },
    /// Allow the call, and every tool of the server from now on.
    AlwaysServer {
        /// The settings that get the rule.
        scope: AlwaysAllowScope,
    },
    /// Deny the call.
    Deny {
        /// The text that the model gets.
        #[serde(default)]
        message: Option<String>,
    },
    /// Accept a form with its content, a page, or a sampling request with its result.
    Accept {
        /// The content or the result.
        #[serde(default)]
        content: Option<Value>,
    },
    /// Decline.
    Decline,
    /// Dismiss the question without an answer.
    Cancel,
}

/// The reason why an answer was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// There is no such question, or no longer.
    #[error("there is no open question `{id}`")]
    Unknown {
        /// The id.
        id: String,
    },
    /// The answer is of another kind than the question.
    #[error("{}", wrong_kind_text(*kind))]
    WrongKind {
        /// The kind of the question.
        kind: QuestionKind,
    },
    /// The question comes from a rule that asks each time, so a rule that allows would have no effect.
    #[error("a rule asks for this call each time, so it can be allowed only once")]
    AskedEachTime,
    /// The result of a sampling request is not complete.
    #[error("the result of a sampling request needs `{member}`, as in {}", SAMPLING_RESULT)]
    IncompleteResult {
        /// The missing member.
        member: &'static str,
    },
    /// The content does not match the form.
    #[error("the content does not match the form: {mismatch}")]
    Mismatch {
        /// The mismatch.
        mismatch: String,
    },
}

impl AnswerError {
    pub(crate) fn unknown(id: &str) -> Self {
        Self::Unknown { id: display_line(&id.chars().take(64).collect::<String>()).into_owned() }
    }
}

/// The member that a result of a sampling request lacks.
fn missing_member(result: &Value) -> Option<&'static str> {
    let is_role = matches!(result["role"].as_str(), Some("assistant" | "user"));
    let is_content = result["content"].is_object() || result["content"].is_array();
    let members = [("role", is_role), ("content", is_content), ("model", result["model"].is_string())];
    members.into_iter().find(|(_, is_there)| !is_there).map(|(member, _)| member)
}

fn wrong_kind_text(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Permission => "the question is about a permission: allow or deny the call",
        QuestionKind::Form => "the question is a form: accept it with its content, decline or cancel it",
        QuestionKind::Page => "the question is about a page: accept, decline or cancel it",
        QuestionKind::Sampling => {
            "the question is a sampling request: accept it with a result, or decline it"
        }
    }
}

impl TerminalAnswer {
    /// Checks that the answer fits the question.
    pub(crate) fn check_fit(&self, details: &QuestionDetails) -> Result<(), AnswerError> {
        let wrong_kind = || Err(AnswerError::WrongKind { kind: details.kind() });
        match (self, details) {
            (Self::AlwaysTool { .. } | Self::AlwaysServer { .. }, QuestionDetails::Permission(question))
                if !question.offers_always =>
            {
                Err(AnswerError::AskedEachTime)
            }
            (
                Self::Allow | Self::AlwaysTool { .. } | Self::AlwaysServer { .. } | Self::Deny { .. },
                QuestionDetails::Permission(_),
            )
            | (Self::Decline | Self::Cancel, _)
            | (Self::Accept { .. }, QuestionDetails::Page(_)) => Ok(()),
            (Self::Accept { content }, QuestionDetails::Form(_)) => {
                match details.find_mismatch(content.as_ref().unwrap_or(&json!({}))) {
                    Some(mismatch) => Err(AnswerError::Mismatch { mismatch }),
                    None => Ok(()),
                }
            }
            (Self::Accept { content: Some(result @ Value::Object(_)) }, QuestionDetails::Sampling(_)) => {
                match missing_member(result) {
                    Some(member) => Err(AnswerError::IncompleteResult { member }),
                    None => Ok(()),
                }
            }
            (Self::Accept { .. }, QuestionDetails::Permission(_) | QuestionDetails::Sampling(_))
            | (Self::Allow | Self::AlwaysTool { .. } | Self::AlwaysServer { .. } | Self::Deny { .. }, _) => {
                wrong_kind()
            }
        }
    }

    /// The answer to a permission question.
    pub(crate) fn into_permission(self) -> PermissionAnswer {
        match self {
            Self::Allow => PermissionAnswer::Allow,
            Self::AlwaysTool { scope } => PermissionAnswer::Always(scope),
            Self::AlwaysServer { scope } => PermissionAnswer::AlwaysServer(scope),
            Self::Deny { message: Some(message) } => {
                PermissionAnswer::Deny(truncate_text(&clean_text(&message), QUESTION_CHARS).into_owned())
            }
            Self::Deny { message: None } | Self::Decline | Self::Cancel | Self::Accept { .. } => {
                PermissionAnswer::Deny("the user denied it".to_owned())
            }
        }
    }

    /// The result of the server's request that asked.
    ///
    /// # Errors
    /// When a sampling request was declined, which only an error can say.
    pub(crate) fn into_result(self, kind: QuestionKind) -> Result<RawJson, RpcError> {
        let result = match (self, kind) {
            (Self::Accept { content: Some(result) }, QuestionKind::Sampling) => result,
            (_, QuestionKind::Sampling) => {
                return Err(RpcError::new(REJECTED, "the user rejected the sampling request"));
            }
            (Self::Accept { .. }, QuestionKind::Page) => json!({ "action": "accept" }),
            (Self::Accept { content }, _) => {
                json!({ "action": "accept", "content": content.unwrap_or_else(|| json!({})) })
            }
            (Self::Cancel, _) => json!({ "action": "cancel" }),
            (_, _) => json!({ "action": "decline" }),
        };
        RawJson::from_value(&result).map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
    }
}
