//! Parses the envelope of a JSON-RPC message and leaves its payload untouched.
//!
//! Keys are exact, and the significant ones must be unique: a message that two parsers could understand
//! differently is malformed.

mod batch;
mod envelope;
mod fast_path;
pub(crate) mod response_parts;

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::failure::{Damage, RpcError};
use crate::params::{self, PeerRequestMeta, RequestParams};
use crate::salvage::{self, MessageOutline};
use envelope::Envelope;
use mcparley_json::RawJson;

/// The id of a request, chosen by its sender.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// A whole number.
    Number(u64),
    /// Text, or a number that our counter never yields.
    Text(String),
}

/// An inbound message.
#[derive(Clone, Debug)]
pub(crate) enum RpcMessage {
    /// A request of the other side, which expects a response.
    Request { id: RawJson, method: Box<str>, params: Option<RawJson> },
    /// A notification of the other side.
    Notification { method: Box<str>, params: Option<RawJson> },
    /// The response to a request of ours; without an id only errors come.
    Response { id: Option<Id>, outcome: Result<RawJson, RpcError> },
    /// Input that begins like a message and is malformed.
    Damaged { id: Option<Id>, damage: Damage, form: DamagedForm },
    /// Input that was not meant as a message.
    Noise,
}

/// The shape of a malformed message. Many servers log JSON on the channel of their messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DamagedForm {
    /// No member that only messages have.
    Foreign,
    /// An id beside a result or an error, and no version.
    Unversioned,
    /// A version and a method: no call waits for it.
    Request,
    /// A version and no method.
    Answer,
}

impl From<&MessageOutline> for DamagedForm {
    fn from(outline: &MessageOutline) -> Self {
        match (outline.has_version, outline.has_method, &outline.id) {
            (true, true, _) => Self::Request,
            (true, false, _) => Self::Answer,
            (false, _, Some(_)) if outline.has_outcome => Self::Unversioned,
            (false, _, _) => Self::Foreign,
        }
    }
}

/// Parses one line or body. An array is a batch of the 2025-03-26 revision and yields all its messages.
pub(crate) fn parse_messages(line: &Bytes) -> Vec<RpcMessage> {
    match line.first() {
        Some(b'{') => vec![parse_message(line)],
        Some(b'[') => {
            let mut messages = Vec::new();
            let read = batch::for_each_message(line, |part| {
                messages.push(parse_message(&line.slice_ref(part.get().as_bytes())))
            });
            match read {
                Ok(()) => messages,
                Err(_) => vec![damaged_message(line, Damage::NotJson)],
            }
        }
        Some(_) | None => vec![RpcMessage::Noise],
    }
}

fn parse_message(line: &Bytes) -> RpcMessage {
    if let Some((id, result, scan)) = fast_path::parse_plain_response(line) {
        let result = line.slice_ref(result);
        let outcome = match scan {
            Some(scan) => RawJson::from_scanned(result, scan),
            None => RawJson::from_bytes(result),
        };
        return RpcMessage::Response { id: Some(Id::Number(id)), outcome: Ok(outcome) };
    }
    let envelope: Envelope<'_> = match serde_json::from_slice(line) {
        Ok(envelope) => envelope,
        // JSON whose members have another type.
        Err(error) if error.is_data() => return damaged_message(line, Damage::Foreign),
        Err(_) => return damaged_message(line, Damage::NotJson),
    };
    match envelope.check_envelope() {
        Err(damage) => {
            // Taken from the bytes: if `id` is repeated, the first counts.
            let id = salvage::find_id(line);
            RpcMessage::Damaged { form: DamagedForm::from(&envelope.outline(id.clone())), id, damage }
        }
        Ok(()) => classify_message(line, &envelope),
    }
}

fn classify_message(line: &Bytes, envelope: &Envelope<'_>) -> RpcMessage {
    let raw = |raw: Option<&RawValue>| raw.map(|raw| RawJson::slice_message(line, raw));
    if let Some(method) = &envelope.method {
        let (method, params) = (Box::from(method.as_ref()), raw(envelope.params));
        return match envelope.id {
            Some(id) if id.get() != "null" => {
                RpcMessage::Request { id: RawJson::slice_message(line, id), method, params }
            }
            Some(_) | None => RpcMessage::Notification { method, params },
        };
    }
    let id = envelope.id.and_then(|id| Id::parse(id.get()));
    match (envelope.result, envelope.error) {
        (Some(result), None) => {
            RpcMessage::Response { id, outcome: Ok(RawJson::slice_message(line, result)) }
        }
        (None, Some(error)) => match RpcError::parse(error.get()) {
            Some(error) => RpcMessage::Response { id, outcome: Err(error) },
            None => RpcMessage::Damaged { id, damage: Damage::Error, form: DamagedForm::Answer },
        },
        (Some(_), Some(_)) => RpcMessage::Damaged { id, damage: Damage::Both, form: DamagedForm::Answer },
        (None, None) => RpcMessage::Damaged { id, damage: Damage::Neither, form: DamagedForm::Answer },
    }
}

/// The message for a line that cannot be parsed.
fn damaged_message(line: &Bytes, damage: Damage) -> RpcMessage {
    let outline = MessageOutline::from_bytes(line);
    RpcMessage::Damaged { form: DamagedForm::from(&outline), id: outline.id, damage }
}

impl Id {
    /// Parses an id in every form in which servers return ours: `7`, `7.0` and `"7"`.
    pub(crate) fn parse(raw: &str) -> Option<Self> {
        if let Ok(number) = raw.parse::<u64>() {
            return Some(Self::Number(number));
        }
        if let Some(whole) = raw.strip_suffix(".0") {
            return whole.parse().ok().map(Self::Number);
        }
        let text: String = serde_json::from_str(raw).ok()?;
        Some(text.parse().map_or(Self::Text(text), Self::Number))
    }
}

/// Capacity for an envelope around method and parameters.
const MARGIN: usize = 80;

/// Encodes a request of ours.
pub(crate) fn encode_request(id: u64, method: &str, params: Option<&RawJson>) -> Vec<u8> {
    let room = params.map_or(0, |params| params.as_bytes().len());
    let mut bytes = encode_request_start(id, method, room);
    if let Some(params) = params {
        bytes.extend_from_slice(PARAMS);
        bytes.extend_from_slice(params.as_bytes());
    }
    bytes.push(b'}');
    bytes
}

/// Encodes a request of ours, writing its parameters in place.
pub(crate) fn encode_request_with(
    id: u64,
    method: &str,
    params: &RequestParams,
    always: &PeerRequestMeta,
) -> Vec<u8> {
    let mut bytes = encode_request_start(id, method, params.size_estimate(always));
    if !params.is_empty(always) {
        bytes.extend_from_slice(PARAMS);
        params.write_json(always, &mut bytes);
    }
    bytes.push(b'}');
    bytes
}

const PARAMS: &[u8] = br#","params":"#;

fn encode_request_start(id: u64, method: &str, room: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MARGIN + method.len() + room);
    bytes.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    bytes.extend_from_slice(id.to_string().as_bytes());
    bytes.extend_from_slice(br#","method":"#);
    params::write_json_string(&mut bytes, method);
    bytes
}

/// Encodes a notification of ours.
pub(crate) fn encode_notification(method: &str, params: Option<&RawJson>) -> Vec<u8> {
    let mut bytes = br#"{"jsonrpc":"2.0","method":"#.to_vec();
    encode_method_and_params(&mut bytes, method, params);
    bytes
}

fn encode_method_and_params(bytes: &mut Vec<u8>, method: &str, params: Option<&RawJson>) {
    params::write_json_string(bytes, method);
    if let Some(params) = params {
        bytes.extend_from_slice(br#","params":"#);
        bytes.extend_from_slice(params.as_bytes());
    }
    bytes.push(b'}');
}

/// Encodes the part of a response before its result, with the id of the request byte for byte; a brace ends
/// the message behind the result.
pub(crate) fn encode_response_start(id: &RawJson) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MARGIN + id.as_bytes().len());
    bytes.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    bytes.extend_from_slice(id.as_bytes());
    bytes.extend_from_slice(br#","result":"#);
    bytes
}

/// Encodes an error of ours; without an id when the request could not be identified.
pub(crate) fn encode_error(id: Option<&RawJson>, error: &RpcError) -> Vec<u8> {
    #[derive(Serialize)]
    struct Error<'e> {
        code: i64,
        message: &'e str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'e RawValue>,
    }
    let mut bytes = br#"{"jsonrpc":"2.0","#.to_vec();
    if let Some(id) = id {
        bytes.extend_from_slice(br#""id":"#);
        bytes.extend_from_slice(id.as_bytes());
        bytes.push(b',');
    }
    bytes.extend_from_slice(br#""error":"#);
    let data = error.data.as_ref().and_then(RawJson::as_raw_value);
    let error = Error { code: error.code, message: error.message.raw(), data };
    bytes.extend_from_slice(&serde_json::to_vec(&error).unwrap_or_default());
    bytes.push(b'}');
    bytes
}

#[cfg(test)]
mod tests;
