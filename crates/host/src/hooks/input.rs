//! The JSON input of a hook command, in the format of Claude Code's hook contract.

use std::borrow::Cow;
use std::path::Path;

use mcparley_model::hook::HookEvent;
use mcparley_model::name::ServerName;
use mcparley_model::permission::PermissionMode;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{ToolUse, ToolUseResult};
use crate::call_error::CallError;
use mcparley_pool::elicit::{Elicitation, ElicitationRequest};
use mcparley_results::CallOutcome;

/// The members that the input of every event has.
#[derive(Clone, Copy)]
pub(super) struct HookInputBase<'i> {
    pub(super) session: &'i str,
    pub(super) cwd: &'i Path,
    pub(super) mode: PermissionMode,
}

/// The JSON input of one event.
#[derive(Serialize)]
struct HookInput<'i, T> {
    session_id: &'i str,
    cwd: Cow<'i, str>,
    permission_mode: PermissionMode,
    hook_event_name: HookEvent,
    #[serde(flatten)]
    about: T,
}

/// The members of the tool events.
#[derive(Serialize)]
struct HookToolInput<'i> {
    tool_name: &'i str,
    tool_input: &'i Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<&'i str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_server: Option<HookServer<'i>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_response: Option<&'i CallOutcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The server of a tool or of a question.
#[derive(Serialize)]
struct HookServer<'i> {
    name: &'i ServerName,
    source: &'i str,
}

/// The members of the elicitation event.
#[derive(Serialize)]
struct HookElicitationInput<'i> {
    mcp_server_name: &'i ServerName,
    mcp_server: HookServer<'i>,
    message: &'i str,
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_schema: Option<&'i RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'i str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation_id: Option<&'i str>,
}

/// The members of the session start event.
#[derive(Serialize)]
struct HookStartInput {
    source: &'static str,
}

impl HookInputBase<'_> {
    pub(super) fn tool_input(
        &self,
        event: HookEvent,
        about: ToolUse<'_>,
        source: &str,
        ended: Option<ToolUseResult<'_>>,
    ) -> Vec<u8> {
        let (tool_response, error) = match ended {
            None => (None, None),
            Some(ToolUseResult::Outcome(outcome)) => {
                (Some(outcome), outcome.is_error.then(|| outcome.to_text()))
            }
            Some(ToolUseResult::Error(error)) => (None, Some(CallError::to_string(error))),
        };
        self.serialize_input(
            event,
            HookToolInput {
                tool_name: about.name.as_str(),
                tool_input: about.arguments,
                tool_use_id: about.use_id,
                mcp_server: about.server.map(|name| HookServer { name, source }),
                tool_response,
                error,
            },
        )
    }

    pub(super) fn elicitation_input(&self, question: &Elicitation<'_>, source: &str) -> Vec<u8> {
        let (mode, form, page) = match question.request {
            ElicitationRequest::Form(form) => ("form", form.schema().as_raw_value(), None),
            ElicitationRequest::Page(page) => ("url", None, Some(page)),
        };
        let about = HookElicitationInput {
            mcp_server_name: question.server,
            mcp_server: HookServer { name: question.server, source },
            message: question.message,
            mode,
            requested_schema: form,
            url: page.map(|page| page.url()),
            elicitation_id: page.and_then(|page| page.id()),
        };
        self.serialize_input(HookEvent::Elicitation, about)
    }

    pub(super) fn session_start_input(&self) -> Vec<u8> {
        self.serialize_input(HookEvent::SessionStart, HookStartInput { source: "startup" })
    }

    fn serialize_input(&self, event: HookEvent, about: impl Serialize) -> Vec<u8> {
        let (session_id, cwd) = (self.session, self.cwd.to_string_lossy());
        let input = HookInput { session_id, cwd, permission_mode: self.mode, hook_event_name: event, about };
        // The input holds only strings, numbers and JSON, so serializing cannot fail.
        serde_json::to_vec(&input).unwrap_or_default()
    }
}
