//! The script of a model: its turns, and texts that it captures from requests.

use serde_json::{Map, Value, json};

/// The script, with the turns that are left.
#[derive(Debug)]
pub(super) struct Script {
    turns: std::vec::IntoIter<Value>,
    /// The number of the last turn, from 1.
    number: usize,
    captured: Vec<(String, String)>,
}

/// One turn, with all captured texts filled in.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) number: usize,
    value: Value,
}

/// A tool call of a turn.
#[derive(Debug)]
pub(super) struct TurnCall<'t> {
    pub(super) id: String,
    pub(super) name: &'t str,
    pub(super) arguments: &'t Value,
}

impl Script {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut script: Value = serde_json::from_str(text).map_err(|error| format!("the script: {error}"))?;
        match script["turns"].take() {
            Value::Array(turns) => Ok(Self { turns: turns.into_iter(), number: 0, captured: Vec::new() }),
            _ => Err("the script has no `turns`".to_owned()),
        }
    }

    /// The turn that answers a request.
    pub(super) fn next_turn(&mut self, request: &Value) -> Result<Turn, String> {
        let Some(turn) = self.turns.next() else { return Err("the script has no more turns".to_owned()) };
        self.number += 1;
        let mut texts = Vec::new();
        collect_strings(request, &mut texts);
        for (name, place) in turn["capture"].as_object().unwrap_or(&Map::new()) {
            let found = texts.iter().rev().find_map(|text| find_between(text, place));
            let found = found.ok_or_else(|| format!("nothing to capture as `{name}`"))?;
            self.captured.push((name.clone(), found));
        }
        for expected in turn["expect"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !texts.iter().any(|text| text.contains(expected)) {
                return Err(format!("turn {}: the request lacks `{expected}`", self.number));
            }
        }
        Ok(Turn { number: self.number, value: self.fill_in(&turn) })
    }

    /// Replaces `${name}` by the captured text.
    fn fill_in(&self, turn: &Value) -> Value {
        match turn {
            Value::String(text) => {
                let fill = |text: String, (name, value): &(String, String)| {
                    text.replace(&format!("${{{name}}}"), value)
                };
                self.captured.iter().fold(text.clone(), fill).into()
            }
            Value::Array(items) => items.iter().map(|item| self.fill_in(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.fill_in(value))).collect()
            }
            other => other.clone(),
        }
    }
}

impl Turn {
    pub(super) fn with_text(text: &str) -> Self {
        Self { number: 0, value: json!({ "text": text }) }
    }

    pub(super) fn text(&self) -> &str {
        self.value["text"].as_str().unwrap_or_default()
    }

    /// The text in pieces, each of a few characters.
    pub(super) fn pieces(&self) -> Vec<String> {
        let chars: Vec<char> = self.text().chars().collect();
        let size = chars.len().div_ceil(3).max(1);
        chars.chunks(size).map(|piece| piece.iter().collect()).collect()
    }

    pub(super) fn calls(&self) -> Vec<TurnCall<'_>> {
        let calls = self.value["calls"].as_array().into_iter().flatten().enumerate();
        calls
            .map(|(place, call)| TurnCall {
                id: format!("call_{}_{}", self.number, place + 1),
                name: call["name"].as_str().unwrap_or_default(),
                arguments: &call["arguments"],
            })
            .collect()
    }

    pub(super) fn stop(&self) -> Option<&str> {
        self.value["stop"].as_str()
    }

    pub(super) fn thinking(&self) -> Option<&str> {
        self.value["thinking"].as_str()
    }

    /// The error status, if the turn is an error response.
    pub(super) fn status(&self) -> Option<u16> {
        self.value["status"].as_u64().and_then(|status| u16::try_from(status).ok())
    }

    pub(super) fn headers(&self) -> Vec<(&str, &str)> {
        let headers = self.value["headers"].as_object().into_iter().flatten();
        headers.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect()
    }

    /// A member of the turn, such as `error`.
    pub(super) fn member(&self, name: &str) -> &Value {
        &self.value[name]
    }

    pub(super) fn is_set(&self, name: &str) -> bool {
        self.value[name] == true
    }

    /// How often the text is sent.
    pub(super) fn repeat(&self) -> u64 {
        self.value["repeat"].as_u64().unwrap_or(1)
    }
}

fn collect_strings<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, texts)),
        Value::Object(members) => members.values().for_each(|value| collect_strings(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text between the texts `after` and `before`.
fn find_between(text: &str, place: &Value) -> Option<String> {
    let (after, before) = (place["after"].as_str()?, place["before"].as_str()?);
    let (_, rest) = text.split_once(after)?;
    rest.split_once(before).map(|(found, _)| found.to_owned())
}
