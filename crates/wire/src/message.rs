//! Reads the envelope of a JSON-RPC message and leaves its payload as it is.
//!
//! Keys are exact, and those that decide may stand only once: a message that two readers understand
//! differently is damage, not a message (H22).

mod batch;
mod envelope;
mod plain;

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::failure::{Damage, RpcError};
use crate::json::RawJson;
use crate::params::{self, Meta, Params};
use crate::salvage::{self, Outline};
use envelope::Envelope;

/// The name of a request, chosen by whoever sends it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// A whole number.
    Number(u64),
    /// Text, or a number no counter of ours gives.
    Text(String),
}

/// A message that came.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    /// The other side wants an answer.
    Request { id: RawJson, method: String, params: Option<RawJson> },
    /// The other side tells something.
    Notification { method: String, params: Option<RawJson> },
    /// The answer to a request of ours; without an id only errors come.
    Response { id: Option<Id>, outcome: Result<RawJson, RpcError> },
    /// Something that begins like a message and is none.
    Damaged { id: Option<Id>, damage: Damage, form: Form },
    /// Something that was not meant as one.
    Noise,
}

/// What a damaged message has of a message. Servers that log JSON on the channel of their messages are many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Nothing that only messages have.
    Foreign,
    /// An id beside a result or an error, and no version.
    Unversioned,
    /// A version and a method: nobody waits for it.
    Request,
    /// A version and no method.
    Answer,
}

impl From<&Outline> for Form {
    fn from(outline: &Outline) -> Self {
        match (outline.has_version, outline.has_method, &outline.id) {
            (true, true, _) => Self::Request,
            (true, false, _) => Self::Answer,
            (false, _, Some(_)) if outline.has_outcome => Self::Unversioned,
            (false, _, _) => Self::Foreign,
        }
    }
}

/// Reads one line or body. An array is a batch of the 2025-03-26 revision and gives all its messages.
pub(crate) fn read(line: &Bytes) -> Vec<Message> {
    match line.first() {
        Some(b'{') => vec![read_one(line)],
        Some(b'[') => {
            let mut messages = Vec::new();
            let read =
                batch::each(line, |part| messages.push(read_one(&line.slice_ref(part.get().as_bytes()))));
            match read {
                Ok(()) => messages,
                Err(_) => vec![broken(line)],
            }
        }
        Some(_) | None => vec![Message::Noise],
    }
}

fn read_one(line: &Bytes) -> Message {
    if let Some((id, result)) = plain::answer(line) {
        let outcome = Ok(RawJson::from_bytes(line.slice_ref(result)));
        return Message::Response { id: Some(Id::Number(id)), outcome };
    }
    let envelope: Envelope<'_> = match serde_json::from_slice(line) {
        Ok(envelope) => envelope,
        Err(_) => return broken(line),
    };
    match envelope.check() {
        Err(damage) => {
            // As its bytes say it: where `id` stands twice, the first counts.
            let id = salvage::id(line);
            Message::Damaged { form: Form::from(&envelope.outline(id.clone())), id, damage }
        }
        Ok(()) => sort(line, &envelope),
    }
}

fn sort(line: &Bytes, envelope: &Envelope<'_>) -> Message {
    let raw = |raw: Option<&RawValue>| raw.map(|raw| RawJson::slice(line, raw));
    if let Some(method) = &envelope.method {
        let (method, params) = (method.clone().into_owned(), raw(envelope.params));
        return match envelope.id {
            Some(id) if id.get() != "null" => {
                Message::Request { id: RawJson::slice(line, id), method, params }
            }
            Some(_) | None => Message::Notification { method, params },
        };
    }
    let id = envelope.id.and_then(|id| Id::read(id.get()));
    match (envelope.result, envelope.error) {
        (Some(result), None) => Message::Response { id, outcome: Ok(RawJson::slice(line, result)) },
        (None, Some(error)) => match RpcError::read(error.get()) {
            Some(error) => Message::Response { id, outcome: Err(error) },
            None => Message::Damaged { id, damage: Damage::Error, form: Form::Answer },
        },
        (Some(_), Some(_)) => Message::Damaged { id, damage: Damage::Both, form: Form::Answer },
        (None, None) => Message::Damaged { id, damage: Damage::Neither, form: Form::Answer },
    }
}

/// A line that is no JSON.
fn broken(line: &Bytes) -> Message {
    let outline = Outline::of(line);
    Message::Damaged { form: Form::from(&outline), id: outline.id, damage: Damage::NotJson }
}

impl Id {
    /// Reads an id in every form servers give ours back: `7`, `7.0` and `"7"`.
    pub(crate) fn read(raw: &str) -> Option<Self> {
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

/// Room for an envelope around method and parameters.
const MARGIN: usize = 80;

/// A request of ours, as it is written.
pub(crate) fn request(id: u64, method: &str, params: Option<&RawJson>) -> Vec<u8> {
    let room = params.map_or(0, |params| params.as_bytes().len());
    let mut bytes = begin_request(id, method, room);
    if let Some(params) = params {
        bytes.extend_from_slice(PARAMS);
        bytes.extend_from_slice(params.as_bytes());
    }
    bytes.push(b'}');
    bytes
}

/// A request of ours whose parameters are written where they stand.
pub(crate) fn request_with(id: u64, method: &str, params: &Params, always: &Meta) -> Vec<u8> {
    let mut bytes = begin_request(id, method, params.room(always));
    if !params.is_empty(always) {
        bytes.extend_from_slice(PARAMS);
        params.write(always, &mut bytes);
    }
    bytes.push(b'}');
    bytes
}

const PARAMS: &[u8] = br#","params":"#;

fn begin_request(id: u64, method: &str, room: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MARGIN + method.len() + room);
    bytes.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    bytes.extend_from_slice(id.to_string().as_bytes());
    bytes.extend_from_slice(br#","method":"#);
    params::string(&mut bytes, method);
    bytes
}

/// A notification of ours, as it is written.
pub(crate) fn notification(method: &str, params: Option<&RawJson>) -> Vec<u8> {
    let mut bytes = br#"{"jsonrpc":"2.0","method":"#.to_vec();
    finish(&mut bytes, method, params);
    bytes
}

fn finish(bytes: &mut Vec<u8>, method: &str, params: Option<&RawJson>) {
    params::string(bytes, method);
    if let Some(params) = params {
        bytes.extend_from_slice(br#","params":"#);
        bytes.extend_from_slice(params.as_bytes());
    }
    bytes.push(b'}');
}

/// Our answer to a request of the other side, which gets its id back byte for byte.
pub(crate) fn response(id: &RawJson, outcome: &Result<RawJson, RpcError>) -> Vec<u8> {
    let result = match outcome {
        Ok(result) => result.as_bytes(),
        Err(error) => return refusal(Some(id), error),
    };
    let mut bytes = Vec::with_capacity(MARGIN + id.as_bytes().len() + result.len());
    bytes.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    bytes.extend_from_slice(id.as_bytes());
    bytes.extend_from_slice(br#","result":"#);
    bytes.extend_from_slice(result);
    bytes.push(b'}');
    bytes
}

/// An error of ours; without an id when it could not be told which request it is about.
pub(crate) fn refusal(id: Option<&RawJson>, error: &RpcError) -> Vec<u8> {
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
