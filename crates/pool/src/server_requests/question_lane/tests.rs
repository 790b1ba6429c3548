//! The question lane, with a paused clock.

use std::time::Duration;

use super::*;

fn caller(principal: &PrincipalId, is_exact: bool) -> LaneCaller<'_> {
    LaneCaller { principal: Some(principal), is_exact }
}

async fn enter_soon<'l>(lane: &'l QuestionLane, tool: &str, name: &str) -> Option<Option<LanePlace<'l>>> {
    let (principal, short) = (PrincipalId::new(name), Duration::from_millis(1));
    tokio::time::timeout(short, lane.wait_for_place(tool, caller(&principal, false))).await.ok()
}

// G3 X5
#[tokio::test(start_paused = true)]
async fn calls_of_a_tool_that_asks_run_for_one_principal_at_a_time() {
    let lane = QuestionLane::default();
    lane.learn_question(&lane.questions_of("ask"));
    let Some(Some(first)) = enter_soon(&lane, "ask", "ann").await else { panic!("the lane is free") };
    let Some(Some(second)) = enter_soon(&lane, "ask", "ann").await else { panic!("the lane is ann's") };
    assert!(enter_soon(&lane, "ask", "ben").await.is_none(), "ben waits");
    drop(first);
    assert!(enter_soon(&lane, "ask", "ben").await.is_none(), "ann has another call");
    drop(second);
    assert!(matches!(enter_soon(&lane, "ask", "ben").await, Some(Some(_))));
}

// G3 F90
#[tokio::test(start_paused = true)]
async fn quiet_tool_never_waits_and_an_unknown_one_only_for_a_while() {
    let lane = QuestionLane::default();
    lane.learn_quiet(&lane.questions_of("echo"));
    let ben = PrincipalId::new("ben");
    let Some(Some(place)) = enter_soon(&lane, "new", "ann").await else { panic!("the lane is free") };
    assert!(matches!(enter_soon(&lane, "echo", "ben").await, Some(None)));
    let begun = Instant::now();
    assert!(lane.wait_for_place("new", caller(&ben, false)).await.is_none());
    assert_eq!(begun.elapsed().as_millis(), UNKNOWN_TOOL_TIME.as_millis());
    drop(place);
    lane.learn_question(&lane.questions_of("new"));
    lane.learn_quiet(&lane.questions_of("new"));
    let Some(Some(_place)) = enter_soon(&lane, "new", "ann").await else { panic!("the lane is free") };
    let begun = Instant::now();
    assert!(lane.wait_for_place("new", caller(&ben, false)).await.is_none(), "no call waits for ever");
    assert_eq!(begun.elapsed().as_secs(), QUESTION_TIME.as_secs());
}

// G3 X5
#[tokio::test(start_paused = true)]
async fn exact_call_waits_until_the_one_before_it_has_asked() {
    let lane = QuestionLane::default();
    let ann = PrincipalId::new("ann");
    let Some(first) = lane.wait_for_place("new", caller(&ann, true)).await else {
        panic!("the lane is free")
    };
    let begun = Instant::now();
    assert!(lane.wait_for_place("new", caller(&ann, true)).await.is_some(), "it joins after a while");
    assert_eq!(begun.elapsed().as_millis(), UNKNOWN_TOOL_TIME.as_millis());
    lane.note_asked(first.call());
    let begun = Instant::now();
    assert!(lane.wait_for_place("new", caller(&ann, true)).await.is_some());
    assert!(begun.elapsed() < UNKNOWN_TOOL_TIME, "the one before it has asked");
}

// G3 F95
#[tokio::test(start_paused = true)]
async fn canceled_call_keeps_its_place_for_a_while() {
    let lane = QuestionLane::default();
    lane.learn_question(&lane.questions_of("ask"));
    let ben = PrincipalId::new("ben");
    let Some(Some(mut place)) = enter_soon(&lane, "ask", "ann").await else { panic!("the lane is free") };
    let (begun, time) = (Instant::now(), Duration::from_secs(3));
    place.keep_until(begun + time);
    drop(place);
    assert!(lane.wait_for_place("ask", caller(&ben, false)).await.is_some());
    assert_eq!(begun.elapsed().as_secs(), time.as_secs());
}
