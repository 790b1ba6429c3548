//! Parses the answer of a hook command from its exit code and output.
//!
//! | exit | meaning |
//! |---|---|
//! | code 0, output beginning with `{` | the JSON is the answer |
//! | code 0, other output | no answer; at the start of a session the output is context |
//! | code 2 | deny, with standard error as the reason |
//! | any other exit | the hook failed, and has no effect |

use mcparley_model::config::mask_secrets;
use mcparley_model::hook::HookEvent;
use mcparley_model::limits::{EXCERPT_CHARS, HOOK_TEXT_CHARS};
use mcparley_model::permission::PermissionVerdict;
use mcparley_model::text::{clean_text, truncate_text};
use mcparley_platform::process::ProcessExit;
use serde::Deserialize;
use serde_json::Value;

use super::command::{CommandRunError, FinishedCommand};
use mcparley_pool::elicit::ElicitationReply;

/// The answer of a hook command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HookAnswer {
    pub(super) verdict: Option<PermissionVerdict>,
    pub(super) reason: Option<String>,
    pub(super) arguments: Option<Value>,
    pub(super) context: Option<String>,
    pub(super) replacement: Option<Value>,
    pub(super) reply: Option<ElicitationReply>,
    /// A message for the user.
    pub(super) message: Option<String>,
}

/// The reason why a hook command has no answer: one sanitized sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HookFailure(pub(super) String);

impl From<CommandRunError> for HookFailure {
    fn from(error: CommandRunError) -> Self {
        Self(error.to_string())
    }
}

impl HookAnswer {
    pub(super) fn parse(event: HookEvent, ran: &FinishedCommand) -> Result<Self, HookFailure> {
        let printed = String::from_utf8_lossy(&ran.stdout);
        let printed = printed.trim();
        match ran.exit {
            ProcessExit { code: Some(0), .. } if printed.starts_with('{') => {
                let output = serde_json::from_str(printed);
                // The parser's error may quote the output, so it is not shown.
                let output: HookOutput =
                    output.map_err(|_| HookFailure::new("its output is not valid hook JSON"))?;
                output.into_answer(event)
            }
            ProcessExit { code: Some(0), .. } => {
                let context = (event == HookEvent::SessionStart).then(|| sanitize_text(printed)).flatten();
                Ok(Self { context, ..Self::default() })
            }
            ProcessExit { code: Some(2), .. } => {
                Ok(Self::denial(sanitize_text(&String::from_utf8_lossy(&ran.stderr))))
            }
            ProcessExit { code, signal } => Err(HookFailure(describe_failure(code, signal, &ran.stderr))),
        }
    }

    /// The answer that denies the call, or declines the question.
    fn denial(reason: Option<String>) -> Self {
        Self {
            verdict: Some(PermissionVerdict::Deny),
            reason,
            reply: Some(ElicitationReply::Decline),
            ..Self::default()
        }
    }
}

impl HookFailure {
    fn new(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

fn describe_failure(code: Option<i32>, signal: Option<i32>, stderr: &[u8]) -> String {
    let how = match (code, signal) {
        (Some(code), _) => format!("it exited with code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it was ended".to_owned(),
    };
    let stderr = String::from_utf8_lossy(stderr);
    let last = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
    match last {
        // Commands often print their arguments when they fail, so secrets are masked. Cleaned first: without its
        // hidden characters a text may be a secret that it was not with them.
        Some(last) => format!("{how}: {}", truncate_text(&mask_secrets(&clean_text(last)), EXCERPT_CHARS)),
        None => how,
    }
}

/// Sanitizes and shortens a text of a hook; `None` when it is empty.
pub(super) fn sanitize_text(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| truncate_text(&clean_text(text), HOOK_TEXT_CHARS).into_owned())
}

/// The JSON that a command prints. All members are optional, and unknown ones are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookOutput {
    #[serde(rename = "continue")]
    goes_on: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    hook_specific_output: Option<HookSpecificOutput>,
}

/// The `hookSpecificOutput` of the JSON.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookSpecificOutput {
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

impl HookOutput {
    fn into_answer(self, event: HookEvent) -> Result<HookAnswer, HookFailure> {
        let Self { goes_on, stop_reason, system_message, decision, reason, hook_specific_output } = self;
        let specific = hook_specific_output.unwrap_or_default();
        if specific.hook_event_name.as_deref().is_some_and(|name| name != event.as_str()) {
            return Err(HookFailure::new("its output names another event"));
        }
        let stops = goes_on == Some(false);
        let blocks = stops || decision.as_deref() == Some("block");
        let verdict =
            match (blocks, parse_verdict(specific.permission_decision.as_deref())?, decision.as_deref()) {
                (true, _, _) => Some(PermissionVerdict::Deny),
                (false, Some(verdict), _) => Some(verdict),
                (false, None, Some("approve")) => Some(PermissionVerdict::Allow),
                (false, None, _) => None,
            };
        let reasons = [specific.permission_decision_reason, stop_reason.filter(|_| stops), reason];
        let reply = match (blocks, parse_reply(specific.action.as_deref(), specific.content)?) {
            (true, _) => Some(ElicitationReply::Decline),
            (false, reply) => reply,
        };
        Ok(HookAnswer {
            verdict,
            reason: reasons.into_iter().flatten().find_map(|reason| sanitize_text(&reason)),
            arguments: check_object(specific.updated_input)?,
            context: specific.additional_context.as_deref().and_then(sanitize_text),
            replacement: check_replacement(specific.updated_mcp_tool_output)?,
            reply,
            message: system_message.as_deref().and_then(sanitize_text),
        })
    }
}

fn parse_verdict(word: Option<&str>) -> Result<Option<PermissionVerdict>, HookFailure> {
    match word {
        None => Ok(None),
        Some("allow") => Ok(Some(PermissionVerdict::Allow)),
        Some("ask") => Ok(Some(PermissionVerdict::Ask)),
        Some("deny") => Ok(Some(PermissionVerdict::Deny)),
        Some(_) => Err(HookFailure::new("its `permissionDecision` is none of `allow`, `ask` and `deny`")),
    }
}

fn parse_reply(
    action: Option<&str>,
    content: Option<Value>,
) -> Result<Option<ElicitationReply>, HookFailure> {
    match action {
        None => Ok(None),
        Some("accept") => {
            Ok(Some(ElicitationReply::Accept(content.unwrap_or_else(|| Value::Object(<_>::default())))))
        }
        Some("decline") => Ok(Some(ElicitationReply::Decline)),
        Some("cancel") => Ok(Some(ElicitationReply::Cancel)),
        Some(_) => Err(HookFailure::new("its `action` is none of `accept`, `decline` and `cancel`")),
    }
}

fn check_object(value: Option<Value>) -> Result<Option<Value>, HookFailure> {
    match value {
        None | Some(Value::Object(_)) => Ok(value),
        Some(_) => Err(HookFailure::new("its `updatedInput` is not an object")),
    }
}

fn check_replacement(value: Option<Value>) -> Result<Option<Value>, HookFailure> {
    match value {
        None | Some(Value::String(_) | Value::Array(_)) => Ok(value),
        Some(_) => Err(HookFailure::new("its `updatedMCPToolOutput` is neither a text nor a list")),
    }
}

#[cfg(test)]
mod tests;
