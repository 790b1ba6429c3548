//! What hooks do around one call: before it is permitted, and when it has ended (K1).
//!
//! A result that hooks change is changed in every form it has: who passes the answer on must not pass on what a hook
//! took away.

use mcparley_model::hook::Event;
use mcparley_model::permission::Advice;
use mcparley_wire::RawJson;
use serde_json::{Value, json};

use super::bind::Bound;
use super::error::CallError;
use super::outcome::{Block, Outcome};
use super::shape::shape;
use super::wish::Call;
use crate::hooks::{Ended, HookRunner, Said, ToolUse};
use crate::host::Host;

/// State of the hooks of one call: their answers, and the input of those that run after it.
#[derive(Debug, Default)]
pub(super) struct HookState {
    /// What the model is to be told besides the result.
    context: Vec<String>,
    /// What the tool was called with, if a hook wants to hear of its end.
    used: Option<Box<Used>>,
    /// Whether hooks were heard; they take time, and things change meanwhile.
    pub(super) were_heard: bool,
}

#[derive(Debug)]
struct Used {
    arguments: Value,
    use_id: Option<String>,
}

impl Host {
    /// Hears the hooks before a tool is used. Arguments they change take the place of the call's, and must fit too.
    pub(super) async fn hear_before(
        &self,
        bound: &Bound,
        call: &mut Call,
        hook_state: &mut HookState,
    ) -> Result<Option<Advice>, CallError> {
        if !self.hooks().hears(Event::PreToolUse) {
            return Ok(None);
        }
        // Rare and large: it would make every call's future as large.
        let about = bound.used_with(&call.arguments, call.use_id.as_deref());
        let Said { advice, arguments, context } = Box::pin(self.hooks().before(about)).await;
        (hook_state.were_heard, hook_state.context) = (true, context);
        if let Some(arguments) = arguments {
            (call.arguments, call.written) = (arguments, None);
            bound.check(call)?;
        }
        Ok(advice)
    }

    /// Hears the hooks after a tool was used, and changes the result as they say.
    pub(super) async fn hear_after(
        &self,
        bound: &Bound,
        hook_state: HookState,
        result: Result<Outcome, CallError>,
    ) -> Result<Outcome, CallError> {
        let HookState { mut context, used, .. } = hook_state;
        let mut replacement = None;
        if let Some(used) = used {
            let about = bound.used_with(&used.arguments, used.use_id.as_deref());
            let (event, ended) = ended(&result);
            if self.hooks().hears(event) {
                let (other, more) = Box::pin(self.hooks().after(event, about, ended)).await;
                replacement = other;
                context.extend(more);
            }
        }
        let outcome = result?;
        let outcome = match replacement {
            Some(replacement) => replaced(&outcome, replacement).map_err(|failure| bound.failed(failure))?,
            None => outcome,
        };
        Ok(with_context(outcome, context))
    }
}

impl HookState {
    /// Whether the result may become another one by what hooks said, or say yet.
    pub(super) fn has_more_to_say(&self) -> bool {
        !self.context.is_empty() || self.used.is_some()
    }

    /// Keeps what hooks are told when the call has ended.
    pub(super) fn keep(&mut self, hooks: &HookRunner, call: &Call) {
        if hooks.hears(Event::PostToolUse) || hooks.hears(Event::PostToolUseFailure) {
            let (arguments, use_id) = (call.arguments.clone(), call.use_id.clone());
            self.used = Some(Box::new(Used { arguments, use_id }));
        }
    }
}

impl Bound {
    fn used_with<'u>(&'u self, arguments: &'u Value, use_id: Option<&'u str>) -> ToolUse<'u> {
        let entry = self.entry.as_ref();
        ToolUse { name: &entry.name, server: entry.server(), tool: &entry.tool.name, arguments, use_id }
    }
}

fn ended(result: &Result<Outcome, CallError>) -> (Event, Ended<'_>) {
    match result {
        Ok(outcome) if outcome.is_error => (Event::PostToolUseFailure, Ended::Outcome(outcome)),
        Ok(outcome) => (Event::PostToolUse, Ended::Outcome(outcome)),
        Err(error) => (Event::PostToolUseFailure, Ended::Error(error)),
    }
}

/// The result a hook has given: a text or a list of blocks, read like a server's.
fn replaced(outcome: &Outcome, by: Value) -> Result<Outcome, mcparley_wire::Failure> {
    let content = match by {
        Value::String(text) => json!([{ "type": "text", "text": text }]),
        list => list,
    };
    let raw = RawJson::of(&json!({ "content": content, "isError": outcome.is_error }));
    raw.map_err(|_| mcparley_wire::Failure::Damaged(mcparley_wire::Damage::Shape)).and_then(shape)
}

/// The result with what hooks tell besides, at its end.
fn with_context(mut outcome: Outcome, context: Vec<String>) -> Outcome {
    if context.is_empty() {
        return outcome;
    }
    let mut raw: Value = outcome.raw.decode().unwrap_or_default();
    let written = raw.get_mut("content").and_then(Value::as_array_mut);
    if let Some(written) = written {
        written.extend(context.iter().map(|text| json!({ "type": "text", "text": text })));
        outcome.raw = RawJson::of(&raw).unwrap_or(outcome.raw);
    }
    outcome.content.extend(context.into_iter().map(Block::Text));
    outcome
}
