//! Merges the answers of several hooks: the strictest verdict, the last change, every context.

use mcparley_model::permission::{HookAdvice, PermissionVerdict};
use serde_json::Value;

use super::{PostHookAnswer, PreHookAnswer};
use mcparley_pool::elicit::ElicitationReply;

/// The merged answer of all pre hooks.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct MergedPreHooks {
    pub(crate) advice: Option<HookAdvice>,
    pub(crate) arguments: Option<Value>,
    pub(crate) context: Vec<String>,
}

/// Merges pre hook answers: the strictest verdict, with the first hook that gave it; the arguments of the
/// last hook that changed them.
pub(super) fn merge_pre_hooks(answers: Vec<(String, PreHookAnswer)>) -> MergedPreHooks {
    let mut together = MergedPreHooks::default();
    for (hook, PreHookAnswer { verdict, reason, arguments, context }) in answers {
        let strictness = |advice: &HookAdvice| strictness(advice.verdict);
        let so_far = together.advice.as_ref().map(strictness);
        if let Some(verdict) = verdict
            && so_far.is_none_or(|so_far| self::strictness(verdict) > so_far)
        {
            together.advice = Some(HookAdvice { verdict, hook, reason });
        }
        together.arguments = arguments.or(together.arguments);
        together.context.extend(context);
    }
    together
}

fn strictness(verdict: PermissionVerdict) -> u8 {
    match verdict {
        PermissionVerdict::Allow => 0,
        PermissionVerdict::Ask => 1,
        PermissionVerdict::Deny => 2,
    }
}

/// Merges post hook answers: the last replacement, and every context.
pub(super) fn merge_post_hooks(
    answers: impl IntoIterator<Item = PostHookAnswer>,
) -> (Option<Value>, Vec<String>) {
    let (mut last, mut contexts) = (None, Vec::new());
    for PostHookAnswer { replacement, context } in answers {
        last = replacement.or(last);
        contexts.extend(context);
    }
    (last, contexts)
}

/// Merges replies to an elicitation: decline before cancel before accept; of several equal ones the last.
pub(super) fn merge_replies(replies: impl IntoIterator<Item = ElicitationReply>) -> Option<ElicitationReply> {
    let weight = |reply: &ElicitationReply| match reply {
        ElicitationReply::Accept(_) => 0,
        ElicitationReply::Cancel => 1,
        ElicitationReply::Decline => 2,
    };
    replies.into_iter().max_by_key(weight)
}
