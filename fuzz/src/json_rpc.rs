//! Oracle of the parser and the encoder of JSON-RPC messages.
//!
//! A message that is encoded and parsed again is the same message, and its payload is passed on byte for byte.
//! An object without repeated members is classified like a plain reading of its members, in whatever order they
//! are written.

use bytes::Bytes;
use mcparley_json::RawJson;
use mcparley_model::limits::BATCH_MESSAGES;
use mcparley_wire::served_message::{
    ClientBody, ClientMessage, ResponseParts, encode_error_message, encode_notification_message,
    encode_request_message, parse_client_body,
};
use mcparley_wire::{Id, RpcError};

use crate::members::ObjectMembers;

/// Checks the body of a request or a line of a server.
pub fn check_messages(data: &[u8]) {
    match parse_client_body(&Bytes::copy_from_slice(data)) {
        ClientBody::Batch(messages) => {
            assert!(messages.len() <= BATCH_MESSAGES);
            messages.iter().for_each(check_round_trip);
        }
        ClientBody::Single(message) => {
            check_round_trip(&message);
            check_classification(data.trim_ascii_start(), &message);
        }
    }
}

/// Encodes a message and parses it again.
fn check_round_trip(message: &ClientMessage) {
    let encoded = encode_message(message);
    let ClientBody::Single(again) = parse_client_body(&encoded) else {
        unreachable!("an encoded message is no batch")
    };
    assert_eq!(describe(message), describe(&again), "{}", String::from_utf8_lossy(&encoded));
}

fn encode_message(message: &ClientMessage) -> Bytes {
    match message {
        ClientMessage::Request { id, method, params } => {
            let number = id.as_str().parse::<u64>().ok().filter(|number| number.to_string() == id.as_str());
            match number {
                Some(number) => encode_request_message(number, method, params.as_ref()),
                None => encode_other_request(id, method, params.as_ref()),
            }
        }
        ClientMessage::Notification { method, params } => {
            encode_notification_message(method, params.as_ref())
        }
        ClientMessage::Response { id, outcome } => match (raw_id(id.as_ref()), outcome) {
            (Some(id), outcome) => {
                let ResponseParts { head, result, tail } = ResponseParts::new(&id, outcome);
                Bytes::from([head, result, tail].concat())
            }
            // A result without a known id belongs to no call: it is never encoded.
            (None, Ok(result)) => ["{\"jsonrpc\":\"2.0\",\"result\":", result.as_str(), "}"].concat().into(),
            (None, Err(error)) => encode_error_message(None, error),
        },
        ClientMessage::Invalid { id, error } => encode_error_message(id.as_ref(), error),
    }
}

/// Encodes a request with an id that is not one of ours.
fn encode_other_request(id: &RawJson, method: &str, params: Option<&RawJson>) -> Bytes {
    let method = serde_json::to_string(method).unwrap_or_default();
    let params = params.map(|params| format!(",\"params\":{}", params.as_str())).unwrap_or_default();
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":{method}{params}}}", id.as_str()).into()
}

fn raw_id(id: Option<&Id>) -> Option<RawJson> {
    match id? {
        Id::Number(number) => RawJson::from_value(number).ok(),
        Id::Text(text) => RawJson::from_value(text).ok(),
    }
}

/// Everything about a message, as text. An invalid message is described as the error that answers it.
fn describe(message: &ClientMessage) -> String {
    let raw = |raw: &Option<RawJson>| raw.as_ref().map(|raw| raw.as_str().to_owned());
    match message {
        ClientMessage::Request { id, method, params } => {
            format!("request {} {method:?} {:?}", id.as_str(), raw(params))
        }
        ClientMessage::Notification { method, params } => {
            format!("notification {method:?} {:?}", raw(params))
        }
        ClientMessage::Response { id, outcome: Ok(result) } => format!("result {id:?} {}", result.as_str()),
        ClientMessage::Response { id, outcome: Err(error) } => {
            format!("error {id:?} {}", describe_error(error))
        }
        ClientMessage::Invalid { id, error } => {
            let id = id.as_ref().and_then(|id| read_id(id.as_str()));
            format!("error {id:?} {}", describe_error(error))
        }
    }
}

fn describe_error(error: &RpcError) -> String {
    format!("{} {:?} {:?}", error.code, error.message.raw(), error.data.as_ref().map(RawJson::as_str))
}

fn read_id(raw: &str) -> Option<Id> {
    let text: Option<String> = serde_json::from_str(raw).ok();
    let digits = text.clone().unwrap_or_else(|| raw.strip_suffix(".0").unwrap_or(raw).to_owned());
    digits.parse().ok().map(Id::Number).or(text.map(Id::Text))
}

/// Compares the kind and the payload with a plain reading of the members.
fn check_classification(data: &[u8], message: &ClientMessage) {
    let Some(members) = ObjectMembers::parse(data).filter(|members| !members.has_duplicates()) else {
        return;
    };
    assert_eq!(described_kind(message), expected_kind(&members), "{}", String::from_utf8_lossy(data));
    let reversed = members.0.iter().rev().map(|(name, value)| {
        format!("{} :\t{}", serde_json::to_string(name).unwrap_or_default(), value.get())
    });
    let reversed = format!("{{ {} }}", reversed.collect::<Vec<_>>().join(" ,\r\n"));
    let ClientBody::Single(other) = parse_client_body(&reversed.into()) else {
        unreachable!("an object is no batch")
    };
    if !matches!(message, ClientMessage::Invalid { .. }) {
        assert_eq!(describe(message), describe(&other), "the order of members means nothing");
    }
}

/// The kind of a message with its payload; for an error only the kind.
fn described_kind(message: &ClientMessage) -> String {
    match message {
        ClientMessage::Request { .. }
        | ClientMessage::Notification { .. }
        | ClientMessage::Response { outcome: Ok(_), .. } => describe(message),
        ClientMessage::Response { outcome: Err(_), .. } => "error".to_owned(),
        ClientMessage::Invalid { .. } => "invalid".to_owned(),
    }
}

fn expected_kind(members: &ObjectMembers<'_>) -> String {
    let invalid = "invalid".to_owned();
    let id = members.first("id");
    let params = members.first("params");
    if members.first("jsonrpc") != Some(r#""2.0""#) {
        return invalid;
    }
    if let Some(method) = members.first("method") {
        let Ok(method) = serde_json::from_str::<String>(method) else { return invalid };
        return match id.filter(|id| *id != "null") {
            Some(id) if id.starts_with(['"', '-']) || id.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("request {id} {method:?} {params:?}")
            }
            Some(_) => invalid,
            None => format!("notification {method:?} {params:?}"),
        };
    }
    // Old libraries write `"error": null` beside a result.
    let error = members.first("error").filter(|error| *error != "null" || members.first("result").is_none());
    match (members.first("result"), error) {
        (Some(result), None) => format!("result {:?} {result}", id.and_then(read_id)),
        (None, Some(error)) if is_error(error) => "error".to_owned(),
        (Some(_), Some(_)) | (None, Some(_) | None) => invalid,
    }
}

/// Whether the text is an error object: a number as code and a text as message, each once.
fn is_error(raw: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct ErrorMembers {
        code: serde_json::Number,
        #[serde(rename = "message")]
        _message: String,
    }
    let parsed = serde_json::from_str::<ErrorMembers>(raw);
    let has_code = |error: ErrorMembers| error.code.as_i64().is_some() || error.code.as_f64().is_some();
    parsed.is_ok_and(has_code)
}
