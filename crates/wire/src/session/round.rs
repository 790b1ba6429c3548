//! Input that a server of the new era requires before it answers: the result lists input requests, and the
//! client repeats the request with their responses (SEP-2322).
//!
//! This file only parses the result; callers decide on the answers, and on the number of round trips.

use std::collections::HashSet;
use std::fmt;

use mcparley_model::limits::INPUT_REQUESTS;
use mcparley_model::text::display_line;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::failure::{Damage, Failure};
use mcparley_json::RawJson;

/// The outcome of one round trip of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoundOutcome {
    /// The final result.
    Complete(RawJson),
    /// No result yet: the server requires input first.
    InputRequired(Box<RequiredInput>),
    /// No result yet: the server has created a task for it (SEP-2663).
    Task(RawJson),
}

/// The input that a server requires before it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredInput {
    /// The input requests, in the order of the server.
    pub requests: Vec<InputRequest>,
    /// Opaque state that the client returns byte for byte.
    pub state: Option<RawJson>,
    /// The whole result, as the server wrote it.
    pub result: RawJson,
}

/// One input request of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRequest {
    /// The server's key for the request, under which it is answered.
    pub key: String,
    /// The method that a server of the old era would call.
    pub method: String,
    /// The parameters.
    pub params: Option<RawJson>,
}

impl RequiredInput {
    pub(super) fn from_result(answer: &RawJson) -> Result<Self, Failure> {
        let state = non_null_member(answer, "requestState");
        let requests = non_null_member(answer, "inputRequests");
        if state.is_none() && requests.is_none() {
            return Err(Failure::Protocol(
                "its result has neither `inputRequests` nor `requestState`".into(),
            ));
        }
        let requests =
            requests.map(|requests| parse_input_requests(&requests)).transpose()?.unwrap_or_default();
        Ok(Self { requests, state, result: answer.clone() })
    }
}

impl RequiredInput {
    /// The input requests of a server's task, from the response to `tasks/get`.
    ///
    /// # Errors
    /// A [`Failure`] when they cannot be parsed.
    pub fn for_task(answer: &RawJson) -> Result<Vec<InputRequest>, Failure> {
        non_null_member(answer, "inputRequests")
            .map(|requests| parse_input_requests(&requests))
            .transpose()
            .map(Option::unwrap_or_default)
    }
}

fn parse_input_requests(requests: &RawJson) -> Result<Vec<InputRequest>, Failure> {
    let KeyList(keys) = requests.decode()?;
    if keys.len() > INPUT_REQUESTS {
        return Err(Failure::Protocol(
            format!("it sends more than {INPUT_REQUESTS} input requests at once").into(),
        ));
    }
    let mut seen = HashSet::new();
    // Responses go by the key, so two input requests with the same key cannot both be answered.
    if let Some(twice) = keys.iter().find(|key| !seen.insert(key.as_str())) {
        let twice = display_line(twice);
        return Err(Failure::Protocol(format!("it sends two input requests with the key `{twice}`").into()));
    }
    keys.into_iter().map(|key| InputRequest::from_requests(requests, key)).collect()
}

/// The keys of an object in their order, duplicates included.
struct KeyList(Vec<String>);

impl<'de> Deserialize<'de> for KeyList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeysVisitor).map(Self)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of input requests")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
        let mut keys = Vec::new();
        while let Some((key, IgnoredAny)) = map.next_entry()? {
            keys.push(key);
        }
        Ok(keys)
    }
}

impl InputRequest {
    fn from_requests(requests: &RawJson, key: String) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct MethodField {
            method: String,
        }
        let request = requests.member(&key).ok_or(Failure::Damaged(Damage::Shape))?;
        let MethodField { method } = request.decode()?;
        Ok(Self { key, method, params: non_null_member(&request, "params") })
    }
}

/// A member that is present and not null.
fn non_null_member(of: &RawJson, name: &str) -> Option<RawJson> {
    of.member(name).filter(|member| member.as_bytes() != b"null")
}

#[cfg(test)]
mod tests;
