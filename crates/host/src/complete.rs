//! Asks servers how an argument of a prompt or of a resource template could go on (X8).

use std::collections::BTreeMap;

use mcparley_model::limits::{COMPLETION_CHARS, COMPLETION_TIME, COMPLETION_VALUES};
use mcparley_model::name::ServerName;
use mcparley_model::text::{display, hidden_count};
use mcparley_wire::peer::CallOptions;
use mcparley_wire::{Failure, Params, Phase, RawJson, Session};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::connection::Unavailable;
use crate::host::Host;

/// What an argument belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A prompt.
    Prompt {
        /// Its server.
        server: ServerName,
        /// What the server calls it.
        name: String,
    },
    /// A template of resources.
    Template {
        /// Its server.
        server: ServerName,
        /// The template, as the server lists it.
        uri: String,
    },
}

/// How an argument could go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The values, the best first, at most a hundred. One that hides something is left out.
    pub values: Vec<String>,
    /// How many there are in all, as the server says.
    pub total: Option<u64>,
    /// Whether there are more than these.
    pub has_more: bool,
}

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompleteError {
    /// There is no such server.
    #[error("there is no server `{}`", display(server.as_str()))]
    UnknownServer {
        /// The name.
        server: ServerName,
    },
    /// The server does not complete anything.
    #[error("server `{}` does not offer completion", display(server.as_str()))]
    NotOffered {
        /// The server.
        server: ServerName,
    },
    /// The server cannot be used.
    #[error("server `{}` cannot be used: {why}", display(server.as_str()))]
    Unavailable {
        /// The server.
        server: ServerName,
        /// Why.
        #[source]
        why: Unavailable,
    },
    /// The server was asked, and did not answer.
    #[error("server `{}` did not complete it: {failure}", display(server.as_str()))]
    Failed {
        /// The server.
        server: ServerName,
        /// Why.
        #[source]
        failure: Failure,
    },
}

impl Host {
    /// Asks how `argument` could go on that begins with `value`; `known` are other arguments that are settled already.
    ///
    /// Dropping the future takes the question back, so whoever asks with every key drops the last one first.
    ///
    /// # Errors
    /// A [`CompleteError`].
    pub async fn complete(
        &self,
        of: &Reference,
        argument: &str,
        value: &str,
        known: &BTreeMap<String, String>,
    ) -> Result<Completion, CompleteError> {
        let server = of.server();
        let connection =
            self.connection(server).ok_or_else(|| CompleteError::UnknownServer { server: server.clone() })?;
        let failed = |failure| CompleteError::Failed {
            server: server.clone(),
            failure: connection.log().tellable(failure),
        };
        let asking = async {
            let unavailable = |why| CompleteError::Unavailable { server: server.clone(), why };
            let live = connection.lease().await.map_err(unavailable)?;
            if !live.session.about().offers("completions") {
                return Err(CompleteError::NotOffered { server: server.clone() });
            }
            ask(&live.session, of.params(argument, value, known)).await.map_err(failed)
        };
        let late = Failure::TimedOut { phase: Phase::Answering, after: COMPLETION_TIME };
        tokio::time::timeout(COMPLETION_TIME, asking).await.unwrap_or_else(|_| Err(failed(late)))
    }
}

async fn ask(session: &Session, params: Params) -> Result<Completion, Failure> {
    let answer = session.call("completion/complete", params, CallOptions::default()).await?;
    Completion::read(&answer)
}

impl Reference {
    /// The server that is asked.
    #[must_use]
    pub fn server(&self) -> &ServerName {
        match self {
            Self::Prompt { server, .. } | Self::Template { server, .. } => server,
        }
    }

    fn params(&self, argument: &str, value: &str, known: &BTreeMap<String, String>) -> Params {
        let reference = match self {
            Self::Prompt { name, .. } => json!({ "type": "ref/prompt", "name": name }),
            Self::Template { uri, .. } => json!({ "type": "ref/resource", "uri": uri }),
        };
        let argument = json!({ "name": argument, "value": value });
        let params = Params::new().with("ref", &reference).with("argument", &argument);
        // Servers from before 2025-06-18 have not heard of it.
        if known.is_empty() { params } else { params.with("context", &json!({ "arguments": known })) }
    }
}

impl Completion {
    fn read(answer: &RawJson) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct Wire {
            completion: Inner,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Inner {
            values: Vec<Value>,
            #[serde(default)]
            total: Value,
            #[serde(default)]
            has_more: Value,
        }
        let Wire { completion: Inner { values, total, has_more } } = answer.decode()?;
        let is_cut = values.len() > COMPLETION_VALUES;
        // Without what it hides, a value would be another one.
        let is_plain = |value: &str| hidden_count(value) == 0 && value.chars().count() <= COMPLETION_CHARS;
        let values = values.iter().filter_map(Value::as_str).filter(|value| is_plain(value));
        Ok(Self {
            values: values.take(COMPLETION_VALUES).map(str::to_owned).collect(),
            total: total.as_u64(),
            has_more: is_cut || has_more == Value::Bool(true),
        })
    }
}

impl CompleteError {
    /// Whether the server has no completion at all, so that asking again is of no use.
    #[must_use]
    pub fn is_not_offered(&self) -> bool {
        matches!(self, Self::NotOffered { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(completion: &Value) -> Result<Completion, Failure> {
        Completion::read(&RawJson::of(&json!({ "completion": completion })).unwrap())
    }

    // X8 N7
    #[test]
    fn values_are_bounded_and_those_that_hide_something_are_left_out() {
        let long = "x".repeat(COMPLETION_CHARS + 1);
        let odd = read(
            &json!({ "values": ["a", "b\u{202e}", 7, long, "c\u{1b}[31m"], "total": 5.5, "hasMore": "yes" }),
        );
        assert_eq!(odd.unwrap(), Completion { values: vec!["a".into()], total: None, has_more: false });
        let many: Vec<String> = (0..150).map(|number| number.to_string()).collect();
        let many = read(&json!({ "values": many, "total": 150 })).unwrap();
        assert_eq!((many.values.len(), many.total, many.has_more), (100, Some(150), true));
        assert!(read(&json!({ "values": "a" })).is_err());
        assert!(read(&json!(null)).is_err());
    }
}
