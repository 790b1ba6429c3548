//! Argument completion: asks a server for values of an argument of a prompt or of a resource template.

use std::collections::BTreeMap;

use mcparley_model::limits::{COMPLETION_CHARS, COMPLETION_TIME, COMPLETION_VALUES};
use mcparley_model::name::ServerName;
use mcparley_model::text::{display_line, hidden_count};
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{Failure, FailurePhase, ProtocolSession, RawJson, RequestParams};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::host::Host;
use mcparley_pool::connection::Unavailable;

/// The prompt or the resource template that an argument belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionTarget {
    /// An argument of a prompt.
    Prompt {
        /// The server of the prompt.
        server: ServerName,
        /// The server's name for the prompt.
        name: String,
    },
    /// A variable of a resource template.
    Template {
        /// The server of the template.
        server: ServerName,
        /// The URI template, as the server lists it.
        uri: String,
    },
}

/// The completion of an argument: values it could have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The values, the best first, at most a hundred. A value with hidden characters is left out.
    pub values: Vec<String>,
    /// The total number of values, as the server reports it.
    pub total: Option<u64>,
    /// Whether there are more values than these.
    pub has_more: bool,
}

/// The reason why an argument was not completed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompleteError {
    /// The server does not exist.
    #[error("there is no server `{}`", display_line(server.as_str()))]
    UnknownServer {
        /// The requested name.
        server: ServerName,
    },
    /// The server does not offer completion.
    #[error("server `{}` does not offer completion", display_line(server.as_str()))]
    NotOffered {
        /// The server.
        server: ServerName,
    },
    /// The server cannot be used.
    #[error("{}", why.describe_for(server))]
    Unavailable {
        /// The server.
        server: ServerName,
        /// The reason why the server is unavailable.
        why: Unavailable,
    },
    /// The completion request failed.
    #[error("server `{}` did not complete it: {failure}", display_line(server.as_str()))]
    Failed {
        /// The server.
        server: ServerName,
        /// The failure.
        #[source]
        failure: Failure,
    },
}

impl Host {
    /// Completes `argument`, which begins with `value`; `known` holds other arguments that are already
    /// filled in.
    ///
    /// Dropping the future cancels the request, so a program that asks on every key drops the previous
    /// future first.
    ///
    /// # Errors
    /// A [`CompleteError`].
    pub async fn complete_argument(
        &self,
        of: &CompletionTarget,
        argument: &str,
        value: &str,
        known: &BTreeMap<String, String>,
    ) -> Result<Completion, CompleteError> {
        let server = of.server();
        let connection =
            self.connection(server).ok_or_else(|| CompleteError::UnknownServer { server: server.clone() })?;
        let failed = |failure| CompleteError::Failed {
            server: server.clone(),
            failure: connection.log().redact_failure(failure),
        };
        let asking = async {
            let unavailable = |why| CompleteError::Unavailable { server: server.clone(), why };
            let live = connection.lease().await.map_err(unavailable)?;
            if !live.session.server_description().has_capability("completions") {
                return Err(CompleteError::NotOffered { server: server.clone() });
            }
            request_completion(&live.session, of.to_params(argument, value, known)).await.map_err(failed)
        };
        let late = Failure::TimedOut { phase: FailurePhase::Answering, after: COMPLETION_TIME };
        tokio::time::timeout(COMPLETION_TIME, asking).await.unwrap_or_else(|_| Err(failed(late)))
    }
}

async fn request_completion(session: &ProtocolSession, params: RequestParams) -> Result<Completion, Failure> {
    let answer = session.call("completion/complete", params, PeerCallOptions::default()).await?;
    Completion::parse(&answer)
}

impl CompletionTarget {
    /// The server that is asked.
    #[must_use]
    pub fn server(&self) -> &ServerName {
        match self {
            Self::Prompt { server, .. } | Self::Template { server, .. } => server,
        }
    }

    fn to_params(&self, argument: &str, value: &str, known: &BTreeMap<String, String>) -> RequestParams {
        let reference = match self {
            Self::Prompt { name, .. } => json!({ "type": "ref/prompt", "name": name }),
            Self::Template { uri, .. } => json!({ "type": "ref/resource", "uri": uri }),
        };
        let argument = json!({ "name": argument, "value": value });
        let params = RequestParams::new().with_member("ref", &reference).with_member("argument", &argument);
        // Servers from before 2025-06-18 do not know this parameter.
        if known.is_empty() { params } else { params.with_member("context", &json!({ "arguments": known })) }
    }
}

impl Completion {
    fn parse(answer: &RawJson) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct RawCompletion {
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
        let RawCompletion { completion: Inner { values, total, has_more } } = answer.decode()?;
        let is_cut = values.len() > COMPLETION_VALUES;
        // Removing hidden characters would make it a different value, so the whole value is left out.
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
    /// Whether the server offers no completion at all, so that asking again is useless.
    #[must_use]
    pub fn is_not_offered(&self) -> bool {
        matches!(self, Self::NotOffered { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(completion: &Value) -> Result<Completion, Failure> {
        Completion::parse(&RawJson::from_value(&json!({ "completion": completion })).unwrap())
    }

    // X8 N7
    #[test]
    fn completion_values_are_bounded_and_those_with_hidden_characters_are_left_out() {
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
