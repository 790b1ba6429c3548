//! The result of a call, in the form of the client's era.
//!
//! A result is forwarded byte for byte, as long as the client can parse it and it has no hidden characters.
//! Only the members that depend on the era change: the result type and the server info. Otherwise the result
//! is rebuilt from the host's outcome, so that a damaged or unknown block is replaced alone, and text that
//! was too long for a model stays in the result store.

mod block;
mod result_shape;

use std::borrow::Cow;
use std::fmt;

use mcparley::model::text::clean_json;
use mcparley::{CallOutcome, ContentBlock};
use mcparley_wire::{INTERNAL, RawJson, RpcError};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::client_abilities::Caller;
use crate::response::handshake::{result_meta, server_info};
use crate::response::serialize_result;

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The result of a call for a client.
pub(crate) fn result_for_client(outcome: &CallOutcome, caller: &Caller) -> Result<RawJson, RpcError> {
    // A note stands for a block that no client can use.
    let has_notes = outcome.content.iter().any(|block| matches!(block, ContentBlock::Note(_)));
    if outcome.is_fitted || has_notes || !result_shape::can_read_result(&outcome.raw, caller.spoken.version())
    {
        return rebuild_result(outcome, caller);
    }
    let clean = clean_json(outcome.raw.as_str());
    let members: ResultMembers<'_> = serde_json::from_str(&clean)
        .map_err(|_| RpcError::new(INTERNAL, "the result cannot be parsed again"))?;
    let text =
        members.to_json(caller).ok_or_else(|| RpcError::new(INTERNAL, "the result cannot be serialized"))?;
    RawJson::parse(&text).map_err(|_| RpcError::new(INTERNAL, "the result cannot be serialized"))
}

/// Rebuilds the result from the host's outcome.
fn rebuild_result(outcome: &CallOutcome, caller: &Caller) -> Result<RawJson, RpcError> {
    let version = caller.spoken.version();
    let mut content: Vec<Value> =
        outcome.content.iter().map(|it| block::block_to_json(it, version)).collect();
    let structured = outcome.structured.as_ref().and_then(|structured| structured.decode::<Value>().ok());
    let taken = structured.as_ref().filter(|it| result_shape::allows_structured(it.is_object(), version));
    if content.is_empty() || (outcome.unrepeated_structured().is_some() && taken.is_none()) {
        let text = outcome.structured.as_ref().map_or("(no content)", RawJson::as_str);
        content.push(json!({ "type": "text", "text": text }));
    }
    let mut result = json!({ "content": content });
    if let Some(structured) = taken {
        result["structuredContent"] = structured.clone();
    }
    if outcome.is_error {
        result["isError"] = json!(true);
    }
    if caller.is_new() {
        result["resultType"] = json!("complete");
        result["_meta"] = result_meta();
    }
    serialize_result(&result)
}

/// The members of a result, in their order.
struct ResultMembers<'r>(Vec<(Cow<'r, str>, &'r RawValue)>);

impl ResultMembers<'_> {
    fn to_json(&self, caller: &Caller) -> Option<String> {
        let kept = self.0.iter().filter(|(name, _)| name != "resultType" && name != "_meta");
        let mut parts: Vec<String> = Vec::with_capacity(self.0.len() + 2);
        if caller.is_new() {
            parts.push(r#""resultType":"complete""#.to_owned());
        }
        for (name, value) in kept {
            parts.push(format!("{}:{}", serde_json::to_string(name).ok()?, value.get()));
        }
        let meta = self.0.iter().rfind(|(name, _)| name == "_meta").map(|(_, meta)| *meta);
        if let Some(meta) = self::rewrite_meta(meta, caller) {
            parts.push(format!(r#""_meta":{meta}"#));
        }
        Some(format!("{{{}}}", parts.join(",")))
    }
}

/// The `_meta` of a forwarded result: the server info is that of the gateway.
fn rewrite_meta(raw: Option<&RawValue>, caller: &Caller) -> Option<String> {
    let read = raw.and_then(|raw| serde_json::from_str::<Map<String, Value>>(raw.get()).ok());
    match (read, caller.is_new()) {
        (Some(mut meta), true) => {
            meta.insert(SERVER_INFO.to_owned(), server_info());
            Some(Value::Object(meta).to_string())
        }
        (None, true) => Some(result_meta().to_string()),
        (Some(mut meta), false) => {
            let theirs = meta.shift_remove(SERVER_INFO);
            match (theirs, meta.is_empty()) {
                (None, _) => raw.map(|raw| raw.get().to_owned()),
                (Some(_), true) => None,
                (Some(_), false) => Some(Value::Object(meta).to_string()),
            }
        }
        (None, false) => None,
    }
}

impl<'de> Deserialize<'de> for ResultMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Deserializes the members of a result in their order.
struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = ResultMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ResultMembers<'de>, A::Error> {
        #[derive(serde::Deserialize)]
        struct MemberKey<'k>(#[serde(borrow)] Cow<'k, str>);
        let mut members: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
        while let Some((MemberKey(name), value)) = map.next_entry::<MemberKey<'de>, &'de RawValue>()? {
            // Of duplicate keys the last counts, as it does for the host.
            members.retain(|(known, _)| *known != name);
            members.push((name, value));
        }
        Ok(ResultMembers(members))
    }
}

#[cfg(test)]
mod tests;
