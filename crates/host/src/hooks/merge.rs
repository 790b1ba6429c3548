//! What several hooks say together: the strictest word, the last change, every context.

use mcparley_model::permission::{Advice, Verdict};
use serde_json::Value;

use super::{After, Before};
use crate::elicit::Reply;

/// What all hooks said before a tool is used.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Said {
    pub(crate) advice: Option<Advice>,
    pub(crate) arguments: Option<Value>,
    pub(crate) context: Vec<String>,
}

/// The strictest verdict, with the first hook that gave it; the arguments of the last hook that changed them.
pub(super) fn before(said: Vec<(String, Before)>) -> Said {
    let mut together = Said::default();
    for (hook, Before { verdict, reason, arguments, context }) in said {
        let strictness = |advice: &Advice| strictness(advice.verdict);
        let so_far = together.advice.as_ref().map(strictness);
        if let Some(verdict) = verdict
            && so_far.is_none_or(|so_far| self::strictness(verdict) > so_far)
        {
            together.advice = Some(Advice { verdict, hook, reason });
        }
        together.arguments = arguments.or(together.arguments);
        together.context.extend(context);
    }
    together
}

fn strictness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Deny => 2,
    }
}

/// The last replacement, and every context.
pub(super) fn after(said: impl IntoIterator<Item = After>) -> (Option<Value>, Vec<String>) {
    let (mut last, mut contexts) = (None, Vec::new());
    for After { replacement, context } in said {
        last = replacement.or(last);
        contexts.extend(context);
    }
    (last, contexts)
}

/// A no before a putting aside before a yes; of several of a kind the last.
pub(super) fn replies(replies: impl IntoIterator<Item = Reply>) -> Option<Reply> {
    let weight = |reply: &Reply| match reply {
        Reply::Accept(_) => 0,
        Reply::Cancel => 1,
        Reply::Decline => 2,
    };
    replies.into_iter().max_by_key(weight)
}
