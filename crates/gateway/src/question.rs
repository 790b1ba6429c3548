//! The words in which a person is asked, as parameters of an elicitation.
//!
//! A person has to see all that a call would do, and nothing of it in disguise: arguments stand in full up to a limit, with
//! everything that hides written out (B40, B45).

use std::sync::atomic::{AtomicU64, Ordering};

use mcparley::elicit::{Ask, Elicitation};
use mcparley::model::limits::QUESTION_CHARS;
use mcparley::model::text::{clean_json, display, display_block, display_json};
use mcparley::{AlwaysScope, Answer, Question};
use serde_json::{Value, json};

/// The field of the form.
const DECISION: &str = "decision";

/// Its values: this once, from now on, and not at all.
const CHOICES: [&str; 3] = ["allow", "always allow", "deny"];

/// Asks for permission to make a call.
pub(crate) fn permission(question: &Question<'_>) -> Value {
    let Question { entry, arguments, decision, change, .. } = question;
    let of = entry.server().map(|server| format!(" of server `{}`", display(server.as_str())));
    let tool = display(entry.tool.name.as_str()).into_owned();
    let hint = if entry.tool.hints.read_only { "" } else { " It may change something." };
    // Whoever allowed the tool before has allowed another one.
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
        shown(arguments),
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
                    // Accepting the form as it is means yes to what it shows, once.
                    "default": once,
                },
            },
            "required": [DECISION],
        },
    })
}

/// What the filled-in form says.
pub(crate) fn answer(content: &Value) -> Answer {
    let [once, always, no] = CHOICES;
    match content.get(DECISION).and_then(Value::as_str) {
        Some(choice) if choice == once => Answer::Allow,
        // Where the repository that is worked on has no hand in it.
        Some(choice) if choice == always => Answer::Always(AlwaysScope::Private),
        Some(choice) if choice == no => Answer::Deny("the person said no".to_owned()),
        Some(_) | None => Answer::Deny("the client accepted the question without an answer to it".to_owned()),
    }
}

/// Passes on what a server asks; nothing if it cannot be.
pub(crate) fn elicitation(question: &Elicitation<'_>, with_id: bool) -> Option<Value> {
    static PAGES: AtomicU64 = AtomicU64::new(1);
    let of_calls = if question.is_call_known { "" } else { ", about one of the calls in flight" };
    let message =
        format!("Server `{}` asks{of_calls}: {}", display(question.server.as_str()), question.message);
    match question.ask {
        Ask::Form(form) => {
            let schema: Value = serde_json::from_str(&clean_json(form.schema().as_str())).ok()?;
            Some(json!({ "mode": "form", "message": message, "requestedSchema": schema }))
        }
        Ask::Page(page) => {
            let mut params = json!({ "mode": "url", "message": message, "url": page.url() });
            if with_id {
                // 2025-11-25 wants one; nothing of ours is called by it.
                let number = PAGES.fetch_add(1, Ordering::Relaxed);
                params["elicitationId"] = json!(format!("page-{number}"));
            }
            Some(params)
        }
        _ => None,
    }
}

/// The arguments for a person: laid out, in characters that hide nothing, and with a word about what is not shown.
fn shown(arguments: &Value) -> String {
    let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
    let text = display_json(&text);
    let rest = text.chars().count().saturating_sub(QUESTION_CHARS);
    if rest == 0 {
        return text.into_owned();
    }
    let beginning: String = text.chars().take(QUESTION_CHARS).collect();
    format!("{beginning}\n… {rest} more characters are not shown")
}
