//! What a server of the new era wants before it answers: its result says so, and the request is made again with what it
//! wanted (SEP-2322).
//!
//! Only reading it is done here; who fulfils it, and how often, is for others to decide.

use mcparley_model::limits::INPUT_REQUESTS;
use serde::Deserialize;
use serde_json::{Map, Value};

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
    let names: Map<String, Value> = requests.decode()?;
    if names.len() > INPUT_REQUESTS {
        return Err(Failure::Protocol(format!("it wants more than {INPUT_REQUESTS} things at once").into()));
    }
    names.into_iter().map(|(key, _)| Want::read(requests, key)).collect()
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
