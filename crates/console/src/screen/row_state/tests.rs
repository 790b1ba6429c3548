//! Every state as the table of its symbol, words and reason.

use mcparley::config::plan::{BlockReason, SkipReason};
use mcparley::model::approval::PendingReason;
use mcparley::model::name::ServerName;
use mcparley::model::scope::{ConfigOrigin, Source};
use mcparley::pool::connect_error::ConnectError;

use super::*;

fn origin() -> ConfigOrigin {
    ConfigOrigin::for_source(Source::from_label("settings.json"))
}

fn planned(status: &PlanStatus) -> (&'static str, String, Option<String>) {
    let state = RowState::from_plan(status).unwrap();
    (state.symbol(), state.words(Instant::now()), state.reason().map(str::to_owned))
}

// U4 L1
#[test]
fn every_plan_status_has_a_symbol_a_word_and_its_reason() {
    let rows = [
        (PlanStatus::NeedsApproval(PendingReason::Undecided), "–", "waits for approval"),
        (PlanStatus::Rejected { by: origin() }, "–", "rejected"),
        (PlanStatus::Disabled { by: origin() }, "–", "disabled"),
        (PlanStatus::Blocked(BlockReason::Strict), "×", "blocked"),
        (PlanStatus::Shadowed { by: origin() }, "×", "shadowed"),
        (PlanStatus::Duplicate { of: ServerName::new("a"), origin: origin() }, "×", "duplicate"),
        (PlanStatus::Skipped(SkipReason::StartsItself), "×", "skipped"),
    ];
    for (status, symbol, words) in rows {
        let (shown_symbol, shown_words, reason) = planned(&status);
        assert_eq!((shown_symbol, shown_words.as_str()), (symbol, words), "{status:?}");
        assert_eq!(reason, status.reason());
    }
    assert_eq!(RowState::from_plan(&PlanStatus::Ready), None);
}

// U4 L1
#[test]
fn every_connection_status_has_a_symbol_and_words() {
    let now = Instant::now();
    let pending = |attempt, seconds: Option<u64>| ServerStatus::Pending {
        attempt,
        because: Some("connection refused".into()),
        downloader: None,
        retry_at: seconds.map(|seconds| now + Duration::from_secs(seconds)),
    };
    let downloading =
        ServerStatus::Pending { attempt: 0, because: None, downloader: Some("npx".into()), retry_at: None };
    let rows = [
        (ServerStatus::Dormant, "○", "starts on demand"),
        (pending(0, None), "◐", "connecting"),
        (downloading, "◐", "connecting, npx downloads it"),
        (pending(3, Some(4)), "◐", "reconnecting 3/5 in 4 s"),
        (pending(3, None), "◐", "reconnecting 3/5"),
        (ServerStatus::Failed(ConnectError::from_reason("no such file").into()), "×", "failed"),
        (ServerStatus::NeedsAuth, "○", "needs sign-in"),
        (ServerStatus::Disabled, "–", "disabled"),
        (ServerStatus::Stopped, "–", "disabled"),
    ];
    for (status, symbol, words) in rows {
        let state = RowState::from_connection(&status);
        assert_eq!((state.symbol(), state.words(now).as_str()), (symbol, words), "{status:?}");
    }
}

// U4 L6
#[test]
fn countdown_ends_at_zero_and_a_passed_time_is_not_negative() {
    let now = Instant::now();
    let state = RowState::Reconnecting {
        attempt: 1,
        retry_at: Some(now + Duration::from_millis(1_200)),
        reason: None,
    };
    assert!(state.counts_down());
    assert_eq!(state.words(now), "reconnecting 1/5 in 2 s");
    assert_eq!(state.words(now + Duration::from_secs(9)), "reconnecting 1/5 in 0 s");
}
