//! Decides whether a request to a model is sent again, and after which pause (exponential backoff).
//!
//! Pure. A request has no effect except its cost, so it may be repeated, but not once a part of the answer
//! was shown: the user would read it twice.

use std::time::Duration;

use mcparley_model::limits::conversation::{MODEL_PAUSE, MODEL_PAUSE_LONGEST, MODEL_TRIES};
use mcparley_wire::Failure;

use crate::error::{ModelError, ModelErrorKind, StreamProblem};

/// The pause before the next attempt, after attempt number `tries` failed; `None` when there is none.
pub(crate) fn retry_pause(error: &ModelError, tries: u32) -> Option<Duration> {
    if error.has_begun || tries >= MODEL_TRIES {
        return None;
    }
    let usual = MODEL_PAUSE * 2_u32.pow(tries.saturating_sub(1));
    let pause = match &error.kind {
        ModelErrorKind::RateLimited { retry_after, .. } | ModelErrorKind::Overloaded { retry_after, .. } => {
            retry_after.unwrap_or(usual)
        }
        ModelErrorKind::Unreachable { failure: Failure::Closed { .. } } => usual,
        ModelErrorKind::Stream(StreamProblem::BrokeOff) => usual,
        ModelErrorKind::Unauthorized { .. }
        | ModelErrorKind::ContextTooLong { .. }
        | ModelErrorKind::NotFound { .. }
        | ModelErrorKind::Rejected { .. }
        | ModelErrorKind::Unreachable { .. }
        | ModelErrorKind::Stream(_) => return None,
    };
    (pause <= MODEL_PAUSE_LONGEST).then_some(pause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Provider;

    fn error(kind: ModelErrorKind, has_begun: bool) -> ModelError {
        ModelError { provider: Provider::Anthropic, kind, has_begun }
    }

    fn limited(seconds: Option<u64>) -> ModelErrorKind {
        let retry_after = seconds.map(Duration::from_secs);
        ModelErrorKind::RateLimited { retry_after, message: Default::default() }
    }

    fn overloaded() -> ModelErrorKind {
        ModelErrorKind::Overloaded { status: 529, retry_after: None, message: Default::default() }
    }

    // U4
    #[test]
    fn request_is_repeated_with_growing_pauses_until_a_part_of_the_answer_was_shown() {
        let closed = || ModelErrorKind::Unreachable { failure: Failure::Closed { exit: None, sent: true } };
        let rejected = || ModelErrorKind::Rejected { status: 400, message: Default::default() };
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let table = [
            (overloaded(), false, 1, seconds(1)),
            (overloaded(), false, 2, seconds(2)),
            (overloaded(), false, 3, seconds(4)),
            (overloaded(), false, 4, None),
            (overloaded(), true, 1, None),
            (limited(Some(0)), false, 1, seconds(0)),
            (limited(Some(7)), false, 3, seconds(7)),
            (limited(Some(61)), false, 1, None),
            (limited(None), false, 2, seconds(2)),
            (closed(), false, 1, seconds(1)),
            (StreamProblem::BrokeOff.into(), false, 1, seconds(1)),
            (StreamProblem::Silent.into(), false, 1, None),
            (rejected(), false, 1, None),
        ];
        for (kind, has_begun, tries, expected) in table {
            let error = error(kind, has_begun);
            assert_eq!(retry_pause(&error, tries), expected, "{error} at {tries}");
        }
    }
}
