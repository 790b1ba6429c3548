//! The open questions: those of this gateway, and those of other gateways of the user, found by their control
//! sockets.

use std::sync::Arc;

use hyper::StatusCode;
use mcparley_door::PageRequest;
use mcparley_gateway::control::{ControlError, find_gateways, open_questions};
use mcparley_gateway::{AnswerError, PendingQuestion, TerminalAnswer};
use mcparley_platform::thread::run_blocking;
use serde::Deserialize;
use serde_json::{Value, json};

use super::parse_body;
use crate::page_state::PageState;
use crate::response::{ErrorResponse, error_response};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerRequest {
    id: String,
    answer: TerminalAnswer,
}

/// The questions of other gateways, with their contents.
pub(crate) async fn survey_gateways(state: &PageState) -> Vec<PendingQuestion> {
    let folder = state.options.control_folder.clone();
    let found = run_blocking(move || open_questions(&folder, true)).await;
    // A folder that other users could change has no questions that are safe to show.
    let questions = found.and_then(Result::ok).map(|survey| survey.questions).unwrap_or_default();
    // This gateway may have a control socket too.
    questions.into_iter().filter(|question| !state.gateway.owns_question(&question.id)).collect()
}

/// The questions of this gateway, then those of the others.
pub(crate) fn list_questions(state: &PageState, others: &[PendingQuestion]) -> Value {
    let own = state.gateway.pending_questions(true);
    let own = own.iter().map(|question| describe_question(question, true));
    let all: Vec<Value> =
        own.chain(others.iter().map(|question| describe_question(question, false))).collect();
    json!({ "questions": all })
}

fn describe_question(question: &PendingQuestion, is_own: bool) -> Value {
    let mut value = serde_json::to_value(question).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        members.insert("own".to_owned(), is_own.into());
        // Ages change all the time; the page needs them only when the question is new.
        members.remove("ageSeconds");
    }
    value
}

/// Answers a question of this gateway or of another one.
pub(crate) async fn answer_question(
    state: &Arc<PageState>,
    request: &PageRequest,
) -> Result<Value, ErrorResponse> {
    let AnswerRequest { id, answer } = parse_body(request)?;
    match state.gateway.answer_question(&id, answer.clone()) {
        Ok(()) => return Ok(json!({})),
        Err(AnswerError::Unknown { .. }) => {}
        Err(error) => return Err(error_response(StatusCode::CONFLICT, &error.to_string(), None)),
    }
    let folder = state.options.control_folder.clone();
    let answered = run_blocking(move || answer_elsewhere(&folder, &id, &answer)).await;
    match answered {
        Some(Ok(())) => {
            state.refresh_pages();
            Ok(json!({}))
        }
        Some(Err(error)) => Err(error_response(StatusCode::CONFLICT, &error.to_string(), None)),
        None => Err(error_response(StatusCode::INTERNAL_SERVER_ERROR, "the answer could not be sent", None)),
    }
}

/// Gives an answer to the gateway that has the question.
fn answer_elsewhere(folder: &std::path::Path, id: &str, answer: &TerminalAnswer) -> Result<(), ControlError> {
    for mut gateway in find_gateways(folder)? {
        match gateway.answer_question(id, answer) {
            // A gateway that does not answer does not hide the others.
            Err(ControlError::UnknownQuestion | ControlError::Io(_) | ControlError::Malformed) => {}
            other => return other,
        }
    }
    Err(ControlError::UnknownQuestion)
}
