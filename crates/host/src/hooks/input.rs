//! What a command is told, as JSON on its standard input; in the words of Claude Code's contract.

use std::borrow::Cow;
use std::path::Path;

use mcparley_model::hook::Event;
use mcparley_model::name::ServerName;
use mcparley_model::permission::Mode;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Ended, ToolUse};
use crate::call::{CallError, Outcome};
use crate::elicit::{Ask, Elicitation};

/// What every command is told.
#[derive(Clone, Copy)]
pub(super) struct Common<'i> {
    pub(super) session: &'i str,
    pub(super) cwd: &'i Path,
    pub(super) mode: Mode,
}

#[derive(Serialize)]
struct Input<'i, T> {
    session_id: &'i str,
    cwd: Cow<'i, str>,
    permission_mode: Mode,
    hook_event_name: Event,
    #[serde(flatten)]
    about: T,
}

#[derive(Serialize)]
struct AboutTool<'i> {
    tool_name: &'i str,
    tool_input: &'i Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<&'i str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_server: Option<Server<'i>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_response: Option<&'i Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct Server<'i> {
    name: &'i ServerName,
    source: &'i str,
}

#[derive(Serialize)]
struct AboutQuestion<'i> {
    mcp_server_name: &'i ServerName,
    mcp_server: Server<'i>,
    message: &'i str,
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_schema: Option<&'i RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'i str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation_id: Option<&'i str>,
}

#[derive(Serialize)]
struct AboutStart {
    source: &'static str,
}

impl Common<'_> {
    pub(super) fn tool(
        &self,
        event: Event,
        about: ToolUse<'_>,
        source: &str,
        ended: Option<Ended<'_>>,
    ) -> Vec<u8> {
        let (tool_response, error) = match ended {
            None => (None, None),
            Some(Ended::Outcome(outcome)) => (Some(outcome), outcome.is_error.then(|| outcome.text())),
            Some(Ended::Error(error)) => (None, Some(CallError::to_string(error))),
        };
        self.written(
            event,
            AboutTool {
                tool_name: about.name.as_str(),
                tool_input: about.arguments,
                tool_use_id: about.use_id,
                mcp_server: about.server.map(|name| Server { name, source }),
                tool_response,
                error,
            },
        )
    }

    pub(super) fn question(&self, question: &Elicitation<'_>, source: &str) -> Vec<u8> {
        let (mode, form, page) = match question.ask {
            Ask::Form(form) => ("form", form.schema().as_raw_value(), None),
            Ask::Page(page) => ("url", None, Some(page)),
        };
        let about = AboutQuestion {
            mcp_server_name: question.server,
            mcp_server: Server { name: question.server, source },
            message: question.message,
            mode,
            requested_schema: form,
            url: page.map(|page| page.url()),
            elicitation_id: page.and_then(|page| page.id()),
        };
        self.written(Event::Elicitation, about)
    }

    pub(super) fn start(&self) -> Vec<u8> {
        self.written(Event::SessionStart, AboutStart { source: "startup" })
    }

    fn written(&self, event: Event, about: impl Serialize) -> Vec<u8> {
        let (session_id, cwd) = (self.session, self.cwd.to_string_lossy());
        let input = Input { session_id, cwd, permission_mode: self.mode, hook_event_name: event, about };
        // Texts, numbers and JSON: there is nothing in it that could not be written.
        serde_json::to_vec(&input).unwrap_or_default()
    }
}
