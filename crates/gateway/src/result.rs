//! What a call gave, in the words of a client's era.
//!
//! A result is passed on as it was written, byte for byte, as long as its client can read it and nothing is hidden in it
//! (N7). Only what the era decides changes: the type of the result, and who says it. Otherwise it is written anew from what
//! the host has made of it, so that one damaged or unknown block costs nothing but itself, and what was too long for a model
//! stays where it is stored (R2).

mod block;
mod faithful;

use std::borrow::Cow;
use std::fmt;

use mcparley::model::text::clean_json;
use mcparley::{Block, Outcome};
use mcparley_wire::{INTERNAL, RawJson, RpcError};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::caller::Caller;
use crate::greeting::{info, meta};
use crate::session::written;

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The result of a call.
pub(crate) fn of(outcome: &Outcome, caller: &Caller) -> Result<RawJson, RpcError> {
    // A note stands for a block that no client could use.
    let has_notes = outcome.content.iter().any(|block| matches!(block, Block::Note(_)));
    if outcome.is_fitted || has_notes || !faithful::reads(&outcome.raw, caller.spoken.version()) {
        return anew(outcome, caller);
    }
    let clean = clean_json(outcome.raw.as_str());
    let members: Members<'_> = serde_json::from_str(&clean)
        .map_err(|_| RpcError::new(INTERNAL, "the result cannot be read again"))?;
    let text =
        members.write(caller).ok_or_else(|| RpcError::new(INTERNAL, "the result cannot be written"))?;
    RawJson::parse(&text).map_err(|_| RpcError::new(INTERNAL, "the result cannot be written"))
}

/// The result from what the host has made of it.
fn anew(outcome: &Outcome, caller: &Caller) -> Result<RawJson, RpcError> {
    let version = caller.spoken.version();
    let mut content: Vec<Value> = outcome.content.iter().map(|it| block::written(it, version)).collect();
    let structured = outcome.structured.as_ref().and_then(|structured| structured.decode::<Value>().ok());
    let taken = structured.as_ref().filter(|it| faithful::takes_structured(it.is_object(), version));
    if content.is_empty() || (outcome.unsaid().is_some() && taken.is_none()) {
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
        result["_meta"] = meta();
    }
    written(&result)
}

/// The members of a result, in their order.
struct Members<'r>(Vec<(Cow<'r, str>, &'r RawValue)>);

impl Members<'_> {
    fn write(&self, caller: &Caller) -> Option<String> {
        let kept = self.0.iter().filter(|(name, _)| name != "resultType" && name != "_meta");
        let mut parts: Vec<String> = Vec::with_capacity(self.0.len() + 2);
        if caller.is_new() {
            parts.push(r#""resultType":"complete""#.to_owned());
        }
        for (name, value) in kept {
            parts.push(format!("{}:{}", serde_json::to_string(name).ok()?, value.get()));
        }
        let meta = self.0.iter().rfind(|(name, _)| name == "_meta").map(|(_, meta)| *meta);
        if let Some(meta) = self::meta_of(meta, caller) {
            parts.push(format!(r#""_meta":{meta}"#));
        }
        Some(format!("{{{}}}", parts.join(",")))
    }
}

/// Who says it is who passes it on.
fn meta_of(raw: Option<&RawValue>, caller: &Caller) -> Option<String> {
    let read = raw.and_then(|raw| serde_json::from_str::<Map<String, Value>>(raw.get()).ok());
    match (read, caller.is_new()) {
        (Some(mut meta), true) => {
            meta.insert(SERVER_INFO.to_owned(), info());
            Some(Value::Object(meta).to_string())
        }
        (None, true) => Some(meta().to_string()),
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

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        #[derive(serde::Deserialize)]
        struct Key<'k>(#[serde(borrow)] Cow<'k, str>);
        let mut members: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
        while let Some((Key(name), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            // Of two the last counts, as it does for the host.
            members.retain(|(known, _)| *known != name);
            members.push((name, value));
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests;
