//! What a server of the new era wants before it answers: its result says so, and the request is made again with what it
//! wanted (SEP-2322).
//!
//! Only reading it is done here; who fulfils it, and how often, is for others to decide.

use std::collections::HashSet;
use std::fmt;

use mcparley_model::limits::INPUT_REQUESTS;
use mcparley_model::text::display;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::failure::{Damage, Failure};
use crate::json::RawJson;

/// What a request came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// The result.
    Complete(RawJson),
    /// None yet: the server wants something first.
    Wants(Wanted),
    /// None yet: the server works on it by itself, and says so (SEP-2663).
    Task(RawJson),
}

/// What a server wants before it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its requests, in its order.
    pub requests: Vec<Want>,
    /// What it wants to be told again, byte for byte.
    pub state: Option<RawJson>,
}

/// One thing that a server wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// What the server calls it.
    pub key: String,
    /// The method, as servers of the old era would ask with.
    pub method: String,
    /// Its parameters.
    pub params: Option<RawJson>,
}

impl Wanted {
    pub(super) fn read(answer: &RawJson) -> Result<Self, Failure> {
        let state = present(answer, "requestState");
        let requests = present(answer, "inputRequests");
        if state.is_none() && requests.is_none() {
            return Err(Failure::Protocol("it wants something and does not say what".into()));
        }
        let requests = requests.map(|requests| wants(&requests)).transpose()?.unwrap_or_default();
        Ok(Self { requests, state })
    }
}

impl Wanted {
    /// What the task of a server wants before it goes on, as the answer to a look at it says.
    ///
    /// # Errors
    /// A [`Failure`] when that cannot be read.
    pub fn of_task(answer: &RawJson) -> Result<Vec<Want>, Failure> {
        present(answer, "inputRequests")
            .map(|requests| wants(&requests))
            .transpose()
            .map(Option::unwrap_or_default)
    }
}

fn wants(requests: &RawJson) -> Result<Vec<Want>, Failure> {
    let Keys(keys) = requests.decode()?;
    if keys.len() > INPUT_REQUESTS {
        return Err(Failure::Protocol(format!("it wants more than {INPUT_REQUESTS} things at once").into()));
    }
    let mut seen = HashSet::new();
    // Answers go by the key, so two wishes with one key cannot both be fulfilled.
    if let Some(twice) = keys.iter().find(|key| !seen.insert(key.as_str())) {
        let twice = display(twice);
        return Err(Failure::Protocol(format!("it wants two things under the same key `{twice}`").into()));
    }
    keys.into_iter().map(|key| Want::read(requests, key)).collect()
}

/// The keys of an object in their order, each as often as it stands there.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
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

impl Want {
    fn read(requests: &RawJson, key: String) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct Named {
            method: String,
        }
        let request = requests.member(&key).ok_or(Failure::Damaged(Damage::Shape))?;
        let Named { method } = request.decode()?;
        Ok(Self { key, method, params: present(&request, "params") })
    }
}

/// A member that is there and says something.
fn present(of: &RawJson, name: &str) -> Option<RawJson> {
    of.member(name).filter(|member| member.as_bytes() != b"null")
}

#[cfg(test)]
mod tests;
