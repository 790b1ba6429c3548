//! Parsing results that require input.

use super::super::{RoundOutcome, classify_result};
use super::*;

fn read(answer: &str) -> Result<RoundOutcome, Failure> {
    classify_result(RawJson::parse(answer).unwrap())
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

// T9 B115
#[test]
fn input_requests_keep_their_order_and_state_is_returned_byte_for_byte() {
    let answer = r#"{"resultType":"input_required","inputRequests":{
        "b":{"method":"elicitation/create","params":{"x": 1.10}},"a":{"method":"roots/list"}},
        "requestState": "\u00e9\/\ud83d\ude00"}"#;
    let requests = vec![
        InputRequest {
            key: "b".into(),
            method: "elicitation/create".into(),
            params: Some(raw(r#"{"x": 1.10}"#)),
        },
        InputRequest { key: "a".into(), method: "roots/list".into(), params: None },
    ];
    let state = Some(raw(r#""\u00e9\/\ud83d\ude00""#));
    assert_eq!(
        read(answer).unwrap(),
        RoundOutcome::InputRequired(Box::new(RequiredInput { requests, state, result: raw(answer) }))
    );
}

// T9
#[test]
fn result_with_only_request_state_is_accepted() {
    let answer = r#"{"resultType":"input_required","requestState":"s"}"#;
    let (requests, state, result) = (Vec::new(), Some(raw(r#""s""#)), raw(answer));
    let expected = RoundOutcome::InputRequired(Box::new(RequiredInput { requests, state, result }));
    assert_eq!(read(answer).unwrap(), expected);
    let unsaid = read(r#"{"resultType":"input_required"}"#).unwrap_err();
    assert!(matches!(unsaid, Failure::Protocol(_)), "{unsaid}");
}

// T9
#[test]
fn result_without_a_type_is_complete() {
    let answer = r#"{"content":[],"inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}"#;
    assert_eq!(read(answer).unwrap(), RoundOutcome::Complete(raw(answer)));
    let task = r#"{"resultType":"task","taskId":"t"}"#;
    assert_eq!(read(task).unwrap(), RoundOutcome::Task(raw(task)));
    let unknown = read(r#"{"resultType":"later"}"#).unwrap_err();
    assert!(matches!(unknown, Failure::Protocol(_)), "{unknown}");
}

// T9 B114
#[test]
fn input_requests_without_a_method_or_over_the_limit_are_refused() {
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
fn input_requests_with_a_duplicate_key_are_refused_with_the_key() {
    let form = r#"{"method":"elicitation/create","params":{}}"#;
    let answer = format!(
        r#"{{"resultType":"input_required","inputRequests":{{"a":{form},"b":{form},"\u0061":{{"method":"roots/list"}}}}}}"#
    );
    let refused = read(&answer).unwrap_err();
    let expected = "the server broke the protocol: it sends two input requests with the key `a`";
    assert_eq!(refused.to_string(), expected);
    let task = RequiredInput::for_task(&raw(&answer)).unwrap_err();
    assert_eq!(task.to_string(), expected);
}
