//! The control socket of a gateway: other processes of the same user list and answer its open questions, and
//! make it reconnect servers.
//!
//! Each running gateway has one Unix socket, `PID-NAME.sock`, in a folder that only its user can enter. The
//! protocol is JSON-RPC 2.0, one message per line:
//!
//! | method | parameters | result |
//! |---|---|---|
//! | `control/about` | | [`GatewayFacts`] |
//! | `control/pending` | `details`: whether with contents | `questions`: a list of [`crate::PendingQuestion`] |
//! | `control/question` | `id` | a [`crate::PendingQuestion`] with its contents |
//! | `control/answer` | `id`, `answer`: a [`crate::TerminalAnswer`] | empty |
//! | `control/reconnect` | `request`: a [`ReconnectRequest`] | `servers`: the names of the servers |
//!
//! | part | module |
//! |---|---|
//! | answers the requests, on any connection | `service` |
//! | listens on the socket | `listener` |
//! | finds the running gateways and sends them requests | `client` over `connection` |

mod client;
mod connection;
mod listener;
mod service;

use serde::{Deserialize, Serialize};

pub use client::{GatewayConnection, QuestionSurvey, find_gateways, open_questions, reconnect_gateways};
pub use connection::{ControlConnection, ControlError};
pub use listener::serve_control;
pub use mcparley::config::reconnect_requests::ReconnectRequest;

/// The version of the protocol.
const PROTOCOL: u32 = 1;

/// The error code for a question that does not exist, or no longer.
const UNKNOWN_QUESTION: i64 = -32004;

/// The error code for a limit that is reached: the request had no effect.
pub const AT_LIMIT: i64 = -32005;

/// The end of the names of sockets.
const SUFFIX: &str = ".sock";

/// The facts about a running gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayFacts {
    /// The version of the protocol.
    pub protocol: u32,
    /// The version of the program.
    pub version: String,
    /// The process id.
    pub pid: u32,
    /// The project that the gateway serves.
    pub project: String,
}
