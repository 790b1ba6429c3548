//! What is read of a result that wants something.

use super::super::{Answered, sorted};
use super::*;

fn read(answer: &str) -> Result<Answered, Failure> {
    sorted(RawJson::parse(answer).unwrap())
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

// T9 B115
#[test]
fn what_a_server_wants_is_read_in_its_order_and_its_state_stays_as_it_was_written() {
    let answer = r#"{"resultType":"input_required","inputRequests":{
        "b":{"method":"elicitation/create","params":{"x": 1.10}},"a":{"method":"roots/list"}},
        "requestState": "\u00e9\/\ud83d\ude00"}"#;
    let requests = vec![
        Want { key: "b".into(), method: "elicitation/create".into(), params: Some(raw(r#"{"x": 1.10}"#)) },
        Want { key: "a".into(), method: "roots/list".into(), params: None },
    ];
    let state = Some(raw(r#""\u00e9\/\ud83d\ude00""#));
    assert_eq!(read(answer).unwrap(), Answered::Wants(Wanted { requests, state }));
}

// T9
#[test]
fn a_server_may_want_nothing_but_to_be_asked_again() {
    let wanted = read(r#"{"resultType":"input_required","requestState":"s"}"#).unwrap();
    assert_eq!(wanted, Answered::Wants(Wanted { requests: Vec::new(), state: Some(raw(r#""s""#)) }));
    let unsaid = read(r#"{"resultType":"input_required"}"#).unwrap_err();
    assert!(matches!(unsaid, Failure::Protocol(_)), "{unsaid}");
}

// T9
#[test]
fn a_result_that_does_not_say_what_it_is_is_complete() {
    let answer = r#"{"content":[],"inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}"#;
    assert_eq!(read(answer).unwrap(), Answered::Complete(raw(answer)));
    let task = r#"{"resultType":"task","taskId":"t"}"#;
    assert_eq!(read(task).unwrap(), Answered::Task(raw(task)));
    let unknown = read(r#"{"resultType":"later"}"#).unwrap_err();
    assert!(matches!(unknown, Failure::Protocol(_)), "{unknown}");
}

// T9 B114
#[test]
fn wishes_without_a_method_or_without_end_are_refused() {
    let damaged = read(r#"{"resultType":"input_required","inputRequests":{"a":{}}}"#).unwrap_err();
    assert!(matches!(damaged, Failure::Damaged(Damage::Shape)), "{damaged}");
    let many: Vec<String> =
        (0..=INPUT_REQUESTS).map(|number| format!(r#""{number}":{{"method":"roots/list"}}"#)).collect();
    let many = format!(r#"{{"resultType":"input_required","inputRequests":{{{}}}}}"#, many.join(","));
    let refused = read(&many).unwrap_err();
    assert!(matches!(refused, Failure::Protocol(_)), "{refused}");
}

// B116
#[test]
fn wishes_with_one_key_are_refused_by_its_name() {
    let form = r#"{"method":"elicitation/create","params":{}}"#;
    let answer = format!(
        r#"{{"resultType":"input_required","inputRequests":{{"a":{form},"b":{form},"\u0061":{{"method":"roots/list"}}}}}}"#
    );
    let refused = read(&answer).unwrap_err();
    let expected = "the server broke the protocol: it wants two things under the same key `a`";
    assert_eq!(refused.to_string(), expected);
    let task = Wanted::of_task(&raw(&answer)).unwrap_err();
    assert_eq!(task.to_string(), expected);
}
