//! Builds the questions for the user, as parameters of an elicitation.
//!
//! The user must see all effects of a call, undisguised: arguments are shown in full up to a limit, with
//! hidden characters escaped.

use std::sync::atomic::{AtomicU64, Ordering};

use mcparley::auth::BrowserPage;
use mcparley::config::change::AlwaysAllowScope;
use mcparley::elicit::{Elicitation, ElicitationRequest};
use mcparley::model::limits::QUESTION_CHARS;
use mcparley::model::name::ServerName;
use mcparley::model::text::{clean_json, display_block, display_json, display_line};
use mcparley::{PermissionAnswer, PermissionQuestion};
use serde_json::{Value, json};

/// The field of the permission form.
const DECISION: &str = "decision";

/// The values of the field: allow once, always allow, deny.
const CHOICES: [&str; 3] = ["allow", "always allow", "deny"];

/// The form that asks for permission to make a call.
pub(crate) fn permission_params(question: &PermissionQuestion<'_>) -> Value {
    let PermissionQuestion { entry, arguments, decision, change, .. } = question;
    let of = entry.server().map(|server| format!(" of server `{}`", display_line(server.as_str())));
    let tool = display_line(entry.tool.name.as_str()).into_owned();
    let hint = if entry.tool.hints.read_only { "" } else { " It may change something." };
    // An earlier permission was given to another definition of the tool.
    let difference = change.map(|change| {
        let change = display_block(&change.to_string()).into_owned();
        format!(
            "

The tool has changed since it was first seen or last reviewed:
{change}"
        )
    });
    // Clients cut long messages at the end, so the arguments come first.
    let message = format!(
        "`{tool}`{} is about to be called with these arguments:\n{}{}\n\nMay it be called?{hint} Asked because of {}.",
        of.unwrap_or_default(),
        render_arguments(arguments),
        difference.unwrap_or_default(),
        decision.why,
    );
    let [once, ..] = CHOICES;
    json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                DECISION: {
                    "type": "string",
                    "title": "Decision",
                    "description": "Whether this call may be made, or every call of this tool while it stays what it is",
                    "enum": CHOICES,
                    // Accepting the form unchanged means allowing the shown call once.
                    "default": once,
                },
            },
            "required": [DECISION],
        },
    })
}

/// Parses the user's answer from the submitted form.
pub(crate) fn parse_permission_answer(content: &Value) -> PermissionAnswer {
    let [once, always, no] = CHOICES;
    match content.get(DECISION).and_then(Value::as_str) {
        Some(choice) if choice == once => PermissionAnswer::Allow,
        // In the private scope, which the repository in use cannot influence.
        Some(choice) if choice == always => PermissionAnswer::Always(AlwaysAllowScope::Private),
        Some(choice) if choice == no => PermissionAnswer::Deny("the user denied it".to_owned()),
        Some(_) | None => {
            PermissionAnswer::Deny("the client accepted the question without an answer to it".to_owned())
        }
    }
}

/// The parameters that ask the user to sign in to a server on a page.
pub(crate) fn sign_in_params(server: &ServerName, page: &BrowserPage, with_id: bool) -> Value {
    let message = format!("Sign in to server `{}` on this page", display_line(server.as_str()));
    page_params(&message, page.as_str(), with_id)
}

/// The parameters of a question about a page.
fn page_params(message: &str, url: &str, with_id: bool) -> Value {
    static PAGES: AtomicU64 = AtomicU64::new(1);
    let mut params = json!({ "mode": "url", "message": message, "url": url });
    if with_id {
        // Required by 2025-11-25; the gateway itself never uses the id.
        let number = PAGES.fetch_add(1, Ordering::Relaxed);
        params["elicitationId"] = json!(format!("page-{number}"));
    }
    params
}

/// The parameters that forward an elicitation of a server; `None` if its schema is invalid.
pub(crate) fn elicitation_params(question: &Elicitation<'_>, with_id: bool) -> Option<Value> {
    let of_calls = if question.is_call_known { "" } else { ", about one of the calls in flight" };
    let message =
        format!("Server `{}` asks{of_calls}: {}", display_line(question.server.as_str()), question.message);
    match question.request {
        ElicitationRequest::Form(form) => {
            let schema: Value = serde_json::from_str(&clean_json(form.schema().as_str())).ok()?;
            Some(json!({ "mode": "form", "message": message, "requestedSchema": schema }))
        }
        ElicitationRequest::Page(page) => Some(page_params(&message, page.url(), with_id)),
    }
}

/// Renders arguments for the user: indented, with hidden characters escaped, and with a note about omitted
/// text.
fn render_arguments(arguments: &Value) -> String {
    let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
    let text = display_json(&text);
    let rest = text.chars().count().saturating_sub(QUESTION_CHARS);
    if rest == 0 {
        return text.into_owned();
    }
    let beginning: String = text.chars().take(QUESTION_CHARS).collect();
    format!("{beginning}\n… {rest} more characters are not shown")
}
