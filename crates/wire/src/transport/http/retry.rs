//! Decides which requests are made again after a status that says no, and when (F52, F53).
//!
//! Pure, and only for what can be asked twice without harm: greetings and lists. What follows a failed tool is decided
//! by those who know the tool.

use std::time::Duration;

use mcparley_model::limits::{REQUEST_PAUSE, REQUEST_TRIES, RETRY_AFTER_LONGEST};

use super::head::Head;
use crate::failure::Failure;

/// How long to wait before the request is made again; `None` when it is not.
pub(in crate::transport) fn pause(head: &Head, failure: &Failure, tries: u32) -> Option<Duration> {
    let Failure::Status { code, retry_after, .. } = failure else { return None };
    after(head.method.as_deref()?, *code, tries, *retry_after)
}

/// The same for a `method` that was answered with `status` at the last of `tries`. Who wants to be left alone longer
/// than anybody waits is left alone.
fn after(method: &str, status: u16, tries: u32, retry_after: Option<Duration>) -> Option<Duration> {
    let passes = match status {
        429 | 502 | 503 | 504 => is_harmless(method) || method == "server/discover",
        // Old servers answer like this to the probe of the new era, and will do so again.
        500 => is_harmless(method),
        _ => false,
    };
    if !passes || tries >= REQUEST_TRIES {
        return None;
    }
    // What is due already, perhaps by a clock that is wrong, is no reason to hurry.
    let usual = REQUEST_PAUSE * 2_u32.pow(tries.saturating_sub(1));
    let pause = retry_after.unwrap_or_default().max(usual);
    (pause <= RETRY_AFTER_LONGEST).then_some(pause)
}

fn is_harmless(method: &str) -> bool {
    method == "initialize" || method.ends_with("/list")
}

#[cfg(test)]
mod tests {
    use super::*;

    // F52 F53
    #[test]
    fn greetings_and_lists_are_asked_for_three_times_and_nothing_else_is() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let table = [
            ("initialize", 500, 1, None, ms(500)),
            ("initialize", 502, 2, None, ms(1000)),
            ("initialize", 503, 3, None, None),
            ("tools/list", 504, 1, None, ms(500)),
            ("prompts/list", 429, 1, None, ms(500)),
            ("resources/templates/list", 503, 1, None, ms(500)),
            ("server/discover", 503, 1, None, ms(500)),
            ("server/discover", 500, 1, None, None),
            ("tools/call", 503, 1, seconds(1), None),
            ("tools/call", 429, 1, seconds(1), None),
            ("resources/read", 503, 1, None, None),
            ("tools/list", 501, 1, None, None),
            ("tools/list", 404, 1, None, None),
            ("tools/list", 400, 1, None, None),
            // When the server says when.
            ("tools/list", 503, 1, seconds(2), seconds(2)),
            ("tools/list", 503, 2, seconds(2), seconds(2)),
            ("tools/list", 503, 3, seconds(2), None),
            ("tools/list", 429, 1, seconds(60), seconds(60)),
            ("tools/list", 429, 1, seconds(61), None),
            ("tools/list", 429, 1, seconds(9_999_999), None),
            ("tools/list", 429, 1, seconds(0), ms(500)),
        ];
        for (method, status, tries, retry_after, expected) in table {
            let row = format!("{method} {status} {tries} {retry_after:?}");
            assert_eq!(after(method, status, tries, retry_after), expected, "{row}");
        }
    }
}
