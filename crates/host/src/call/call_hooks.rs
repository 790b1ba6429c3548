//! Pre and post hooks of one call: before it is permitted, and after it has ended.
//!
//! A result that hooks change is changed in each of its forms: a caller that forwards the raw answer must
//! not forward text that a hook removed.

use mcparley_model::hook::HookEvent;
use mcparley_model::permission::HookAdvice;
use mcparley_wire::RawJson;
use serde_json::{Value, json};

use super::bind::BoundTool;
use super::requested_call::Call;
use crate::call_error::CallError;
use crate::hooks::{HookRunner, MergedPreHooks, ToolUse, ToolUseResult};
use crate::host::Host;
use mcparley_json::UnexpectedShape;
use mcparley_results::shape_outcome;
use mcparley_results::{CallOutcome, ContentBlock};

/// State of the hooks of one call: their answers, and the input of those that run after it.
#[derive(Debug, Default)]
pub(super) struct HookState {
    /// Context from hooks that the model is given besides the result.
    context: Vec<String>,
    /// The arguments of the tool, if a post hook is registered.
    post_input: Option<Box<PostHookInput>>,
    /// Whether hooks ran. They take time in which the tool may change.
    pub(super) have_run: bool,
}

/// The input of the post hooks.
#[derive(Debug)]
struct PostHookInput {
    arguments: Value,
    use_id: Option<Box<str>>,
}

impl Host {
    /// Runs the pre hooks of a tool. Arguments they change replace the call's, and are validated too.
    pub(super) async fn run_pre_hooks(
        &self,
        bound: &BoundTool,
        call: &mut Call,
        hook_state: &mut HookState,
    ) -> Result<Option<HookAdvice>, CallError> {
        if !self.hook_runner().has_hook_for(HookEvent::PreToolUse) {
            return Ok(None);
        }
        // Boxed: this rare, large future would enlarge the future of every call.
        let about = bound.tool_use(&call.arguments, call.use_id.as_deref());
        let MergedPreHooks { advice, arguments, context } =
            Box::pin(self.hook_runner().run_pre_hooks(about)).await;
        (hook_state.have_run, hook_state.context) = (true, context);
        if let Some(arguments) = arguments {
            (call.arguments, call.raw_arguments) = (arguments, None);
            bound.validate_arguments(call)?;
        }
        Ok(advice)
    }

    /// Runs the post hooks of a tool, and changes the result as they say.
    pub(super) async fn run_post_hooks(
        &self,
        bound: &BoundTool,
        hook_state: HookState,
        result: Result<CallOutcome, CallError>,
    ) -> Result<CallOutcome, CallError> {
        let HookState { mut context, post_input: used, .. } = hook_state;
        let mut replacement = None;
        if let Some(used) = used {
            let about = bound.tool_use(&used.arguments, used.use_id.as_deref());
            let (event, ended) = post_hook_event(&result);
            if self.hook_runner().has_hook_for(event) {
                let (other, more) = Box::pin(self.hook_runner().run_post_hooks(event, about, ended)).await;
                replacement = other;
                context.extend(more);
            }
        }
        let outcome = result?;
        let outcome = match replacement {
            Some(replacement) => replace_outcome(&outcome, replacement)
                .map_err(|shape| bound.call_failed_error(shape.into()))?,
            None => outcome,
        };
        Ok(append_context(outcome, context))
    }
}

impl HookState {
    /// Whether hooks may change the result: they gave context, or post hooks will run.
    pub(super) fn may_change_result(&self) -> bool {
        !self.context.is_empty() || self.post_input.is_some()
    }

    /// Stores the input of the post hooks before the call consumes it.
    pub(super) fn store_post_input(&mut self, hooks: &HookRunner, call: &Call) {
        if hooks.has_hook_for(HookEvent::PostToolUse) || hooks.has_hook_for(HookEvent::PostToolUseFailure) {
            let (arguments, use_id) = (call.arguments.clone(), call.use_id.clone());
            self.post_input = Some(Box::new(PostHookInput { arguments, use_id }));
        }
    }
}

impl BoundTool {
    fn tool_use<'u>(&'u self, arguments: &'u Value, use_id: Option<&'u str>) -> ToolUse<'u> {
        let entry = self.entry.as_ref();
        ToolUse { name: &entry.name, server: entry.server(), tool: &entry.tool.name, arguments, use_id }
    }
}

/// The event and the input of the post hooks for this result.
fn post_hook_event(result: &Result<CallOutcome, CallError>) -> (HookEvent, ToolUseResult<'_>) {
    match result {
        Ok(outcome) if outcome.is_error => (HookEvent::PostToolUseFailure, ToolUseResult::Outcome(outcome)),
        Ok(outcome) => (HookEvent::PostToolUse, ToolUseResult::Outcome(outcome)),
        Err(error) => (HookEvent::PostToolUseFailure, ToolUseResult::Error(error)),
    }
}

/// Replaces the result by that of a hook: a text or a list of blocks, parsed like a server's.
fn replace_outcome(outcome: &CallOutcome, by: Value) -> Result<CallOutcome, UnexpectedShape> {
    let content = match by {
        Value::String(text) => json!([{ "type": "text", "text": text }]),
        list => list,
    };
    let raw = RawJson::from_value(&json!({ "content": content, "isError": outcome.is_error }));
    raw.map_err(|_| UnexpectedShape).and_then(shape_outcome)
}

/// Appends the context from hooks to the result, in its blocks and in its raw form.
fn append_context(mut outcome: CallOutcome, context: Vec<String>) -> CallOutcome {
    if context.is_empty() {
        return outcome;
    }
    let mut raw: Value = outcome.raw.decode().unwrap_or_default();
    let written = raw.get_mut("content").and_then(Value::as_array_mut);
    if let Some(written) = written {
        written.extend(context.iter().map(|text| json!({ "type": "text", "text": text })));
        outcome.raw = RawJson::from_value(&raw).unwrap_or(outcome.raw);
    }
    outcome.content.extend(context.into_iter().map(ContentBlock::Text));
    outcome
}
