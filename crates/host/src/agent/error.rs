//! Why an agent does not begin, and what it does not find.

use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::name::ServerName;
use mcparley_model::text::{display, rounded};
use serde::Serialize;

use crate::connection::Unavailable;
use crate::sources::Problem;

/// A server that an agent names and that is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Missing {
    /// The name.
    pub name: ServerName,
    /// What the plan says about it; nothing when nobody has declared it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Names that look like it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<String>,
}

/// Why an agent does not begin. What was started for it has been stopped again.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A server it requires is not there.
    #[error("agent `{}` requires server `{}`, {}", display(agent), display(missing.name.as_str()), missing.in_words())]
    Missing {
        /// The agent.
        agent: String,
        /// The server.
        missing: Missing,
    },
    /// A server it requires cannot be used.
    #[error("agent `{}` requires server `{}`: {why}", display(agent), display(server.as_str()))]
    Unavailable {
        /// The agent.
        agent: String,
        /// The server.
        server: ServerName,
        /// Why.
        #[source]
        why: Unavailable,
    },
    /// A server it requires did not answer in time.
    #[error(
        "agent `{}` requires server `{}`, which does not answer within {:?}",
        display(agent),
        display(server.as_str()),
        rounded(*limit)
    )]
    Late {
        /// The agent.
        agent: String,
        /// The server.
        server: ServerName,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The host has been told to end.
    #[error("agent `{}` cannot begin: the host has ended", display(agent))]
    Ended {
        /// The agent.
        agent: String,
    },
    /// No file describes an agent of this name.
    #[error("there is no agent `{}`", display(name))]
    Unknown {
        /// The name.
        name: String,
        /// Names that look like it.
        similar: Vec<String>,
        /// Files that could not be read; one of them may describe it.
        problems: Vec<Problem>,
    },
}

impl Missing {
    fn in_words(&self) -> String {
        match &self.because {
            Some(because) => format!("which does not run: {because}"),
            None => "which nobody has declared".to_owned(),
        }
    }
}

impl Explain for AgentError {
    fn hint(&self) -> Option<String> {
        let similar = match self {
            Self::Missing { missing, .. } => &missing.similar,
            Self::Unknown { similar, problems, .. } => {
                if let Some(problem) = problems.first() {
                    return Some(format!("a file of an agent cannot be read: {problem}"));
                }
                similar
            }
            Self::Unavailable { .. } | Self::Late { .. } | Self::Ended { .. } => return None,
        };
        let quoted: Vec<String> = similar.iter().map(|name| format!("`{}`", display(name))).collect();
        (!quoted.is_empty()).then(|| format!("did you mean {}?", quoted.join(" or ")))
    }
}

#[cfg(test)]
mod tests {
    //! What people read.
    use super::*;

    // U3
    #[test]
    fn agent_error_rounds_the_limit() {
        let (agent, server) = ("helper".to_owned(), ServerName::new("slow"));
        let error = AgentError::Late { agent, server, limit: Duration::from_micros(29_998_231) };
        assert_eq!(
            error.to_string(),
            "agent `helper` requires server `slow`, which does not answer within 30s"
        );
    }
}
