//! Errors that keep an agent from starting.

use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::name::ServerName;
use mcparley_model::text::{display_line, round_duration};

use mcparley_config::{MissingServer, UnknownAgent, suggest_similar};

use mcparley_pool::connection::Unavailable;

/// The reason why an agent does not start. Servers that were started for the agent have been stopped again.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A server that the agent requires does not exist or may not run.
    #[error("agent `{}` requires server `{}`, {}", display_line(agent), display_line(missing.name.as_str()), missing.describe())]
    Missing {
        /// The agent.
        agent: String,
        /// The server.
        missing: MissingServer,
    },
    /// A server that the agent requires cannot be used.
    #[error("agent `{}` requires server `{}`: {why}", display_line(agent), display_line(server.as_str()))]
    Unavailable {
        /// The agent.
        agent: String,
        /// The server.
        server: ServerName,
        /// The reason why the server is unavailable.
        #[source]
        why: Unavailable,
    },
    /// A server that the agent requires did not answer in time.
    #[error(
        "agent `{}` requires server `{}`, which does not answer within {:?}",
        display_line(agent),
        display_line(server.as_str()),
        round_duration(*limit)
    )]
    TimedOut {
        /// The agent.
        agent: String,
        /// The server.
        server: ServerName,
        /// The time limit that passed.
        limit: Duration,
    },
    /// No file describes an agent of this name.
    #[error(transparent)]
    Unknown(#[from] UnknownAgent),
    /// The host is shutting down.
    #[error("agent `{}` cannot begin: the host has ended", display_line(agent))]
    Ended {
        /// The agent.
        agent: String,
    },
}

impl Explain for AgentError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { missing, .. } => suggest_similar(&missing.similar),
            Self::Unknown(unknown) => unknown.hint(),
            Self::Unavailable { .. } | Self::TimedOut { .. } | Self::Ended { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    //! The texts of the errors.
    use super::*;

    // U3
    #[test]
    fn agent_error_rounds_the_limit() {
        let (agent, server) = ("helper".to_owned(), ServerName::new("slow"));
        let error = AgentError::TimedOut { agent, server, limit: Duration::from_micros(29_998_231) };
        assert_eq!(
            error.to_string(),
            "agent `helper` requires server `slow`, which does not answer within 30s"
        );
    }
}
