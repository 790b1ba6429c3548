//! What the end of a command and its output mean.
//!
//! | how it ends | what it means |
//! |---|---|
//! | code 0, output beginning with `{` | its JSON says |
//! | code 0, other output | nothing; at the start of a session it is context |
//! | code 2 | no, and its standard error is the reason |
//! | anything else | it failed, and said nothing |

use mcparley_model::config::masked_text;
use mcparley_model::hook::Event;
use mcparley_model::limits::{EXCERPT_CHARS, HOOK_TEXT_CHARS};
use mcparley_model::permission::Verdict;
use mcparley_model::text::{clean, cut};
use mcparley_platform::process::Exit;
use serde::Deserialize;
use serde_json::Value;

use super::command::{Ran, RunError};
use crate::elicit::Reply;

/// What a command said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Answer {
    pub(super) verdict: Option<Verdict>,
    pub(super) reason: Option<String>,
    pub(super) arguments: Option<Value>,
    pub(super) context: Option<String>,
    pub(super) replacement: Option<Value>,
    pub(super) reply: Option<Reply>,
    /// For the person.
    pub(super) message: Option<String>,
}

/// Why a command has said nothing. A sentence for people, clean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mute(pub(super) String);

impl From<RunError> for Mute {
    fn from(error: RunError) -> Self {
        Self(error.to_string())
    }
}

impl Answer {
    pub(super) fn read(event: Event, ran: &Ran) -> Result<Self, Mute> {
        let printed = String::from_utf8_lossy(&ran.printed);
        let printed = printed.trim();
        match ran.exit {
            Exit { code: Some(0), .. } if printed.starts_with('{') => {
                let output = serde_json::from_str(printed);
                // What the reader says about a fault may repeat the text, so it is not asked.
                let output: Output = output.map_err(|_| Mute::of("its output is not as it must be"))?;
                output.answer(event)
            }
            Exit { code: Some(0), .. } => {
                let context = (event == Event::SessionStart).then(|| told(printed)).flatten();
                Ok(Self { context, ..Self::default() })
            }
            Exit { code: Some(2), .. } => Ok(Self::no(told(&String::from_utf8_lossy(&ran.said)))),
            Exit { code, signal } => Err(Mute(failure(code, signal, &ran.said))),
        }
    }

    fn no(reason: Option<String>) -> Self {
        Self { verdict: Some(Verdict::Deny), reason, reply: Some(Reply::Decline), ..Self::default() }
    }
}

impl Mute {
    fn of(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

fn failure(code: Option<i32>, signal: Option<i32>, said: &[u8]) -> String {
    let how = match (code, signal) {
        (Some(code), _) => format!("it exited with code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it was ended".to_owned(),
    };
    let said = String::from_utf8_lossy(said);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    match last {
        // Commands print what they were called with when they fail.
        Some(last) => format!("{how}: {}", cut(&clean(&masked_text(last)), EXCERPT_CHARS)),
        None => how,
    }
}

/// A text of a hook as it is passed on; nothing when there is none.
pub(super) fn told(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| cut(&clean(text), HOOK_TEXT_CHARS).into_owned())
}

/// The JSON a command prints. What it does not say is absent; what nobody knows is passed over.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    #[serde(rename = "continue")]
    goes_on: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    hook_specific_output: Option<Specific>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Specific {
    hook_event_name: Option<String>,
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Value>,
    additional_context: Option<String>,
    #[serde(rename = "updatedMCPToolOutput")]
    updated_mcp_tool_output: Option<Value>,
    action: Option<String>,
    content: Option<Value>,
}

impl Output {
    fn answer(self, event: Event) -> Result<Answer, Mute> {
        let Self { goes_on, stop_reason, system_message, decision, reason, hook_specific_output } = self;
        let specific = hook_specific_output.unwrap_or_default();
        if specific.hook_event_name.as_deref().is_some_and(|name| name != event.as_str()) {
            return Err(Mute::of("its output is about another event"));
        }
        let stops = goes_on == Some(false);
        let blocks = stops || decision.as_deref() == Some("block");
        let verdict = match (blocks, verdict(specific.permission_decision.as_deref())?, decision.as_deref()) {
            (true, _, _) => Some(Verdict::Deny),
            (false, Some(verdict), _) => Some(verdict),
            (false, None, Some("approve")) => Some(Verdict::Allow),
            (false, None, _) => None,
        };
        let reasons = [specific.permission_decision_reason, stop_reason.filter(|_| stops), reason];
        let reply = match (blocks, reply(specific.action.as_deref(), specific.content)?) {
            (true, _) => Some(Reply::Decline),
            (false, reply) => reply,
        };
        Ok(Answer {
            verdict,
            reason: reasons.into_iter().flatten().find_map(|reason| told(&reason)),
            arguments: object(specific.updated_input)?,
            context: specific.additional_context.as_deref().and_then(told),
            replacement: replacement(specific.updated_mcp_tool_output)?,
            reply,
            message: system_message.as_deref().and_then(told),
        })
    }
}

fn verdict(word: Option<&str>) -> Result<Option<Verdict>, Mute> {
    match word {
        None => Ok(None),
        Some("allow") => Ok(Some(Verdict::Allow)),
        Some("ask") => Ok(Some(Verdict::Ask)),
        Some("deny") => Ok(Some(Verdict::Deny)),
        Some(_) => Err(Mute::of("its `permissionDecision` is none of `allow`, `ask` and `deny`")),
    }
}

fn reply(action: Option<&str>, content: Option<Value>) -> Result<Option<Reply>, Mute> {
    match action {
        None => Ok(None),
        Some("accept") => Ok(Some(Reply::Accept(content.unwrap_or_else(|| Value::Object(<_>::default()))))),
        Some("decline") => Ok(Some(Reply::Decline)),
        Some("cancel") => Ok(Some(Reply::Cancel)),
        Some(_) => Err(Mute::of("its `action` is none of `accept`, `decline` and `cancel`")),
    }
}

fn object(value: Option<Value>) -> Result<Option<Value>, Mute> {
    match value {
        None | Some(Value::Object(_)) => Ok(value),
        Some(_) => Err(Mute::of("its `updatedInput` is no object")),
    }
}

fn replacement(value: Option<Value>) -> Result<Option<Value>, Mute> {
    match value {
        None | Some(Value::String(_) | Value::Array(_)) => Ok(value),
        Some(_) => Err(Mute::of("its `updatedMCPToolOutput` is neither a text nor a list")),
    }
}

#[cfg(test)]
mod tests;
