//! The state of a running daemon, as the command line shows it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The state of a running daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DaemonStatus {
    /// The version of the program.
    pub version: String,
    /// The process id.
    pub pid: u32,
    /// The seconds since its start.
    pub uptime_seconds: u64,
    /// Whether it ends with its last client.
    pub is_draining: bool,
    /// The number of durable calls that run.
    #[serde(default)]
    pub running_tasks: usize,
    /// The running servers, oldest first.
    pub copies: Vec<CopyStatus>,
}

/// The state of one running server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CopyStatus {
    /// The number of this copy of the server.
    pub copy: u64,
    /// The name of the server at the client that started it.
    pub server: String,
    /// The signature of the server's entry.
    pub signature: String,
    /// The process id, once the process is started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// Whether the server answers.
    pub is_ready: bool,
    /// The process ids of the clients that use it now.
    pub clients: Vec<u32>,
    /// The project folders of these clients.
    pub projects: Vec<PathBuf>,
    /// The seconds since the last client left, without clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<u64>,
    /// The reasons why it is not shared with every client.
    pub reasons: Vec<String>,
    /// The reason for several copies of one server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}
