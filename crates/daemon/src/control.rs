//! Questions about the daemon, for the command line: its state, its end, restarts of servers.
//!
//! The protocol is JSON-RPC 2.0, one message per line, after the first line of [`mcparley::pool::attach`]:
//!
//! | method | parameters | result |
//! |---|---|---|
//! | `daemon/status` | | [`DaemonStatus`] |
//! | `daemon/stop` | | empty; the daemon ends |
//! | `daemon/restart` | `signatures` | `ended`: the number of servers that end |
//! | `daemon/start_task` | a [`TaskRequest`] | the [`crate::TaskRecord`]; the call is recorded and about to be sent |
//! | `daemon/tasks` | | a [`crate::TaskList`] |
//! | `daemon/task` | `id`, and `wait` for a running call | a list of one [`crate::StoredTask`], or of `null` |
//! | `daemon/cancel_task` | `id` | a list of the [`crate::TaskRecord`], which has ended, or of `null` |
//! | `daemon/remove_task` | `id` | whether there was one that has ended |

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use mcparley::pool::attach::DaemonSocketError;
use mcparley::pool::attach::protocol::{ATTACH_PROTOCOL, ClientHello, DaemonLine};
use mcparley_gateway::control::{AT_LIMIT, ControlConnection, ControlError};
use mcparley_wire::peer::{BoxedFuture, Handler};
use mcparley_wire::{INTERNAL, INVALID_PARAMS, Incoming, METHOD_NOT_FOUND, Notice, RawJson, RpcError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::paths::DaemonPaths;
use crate::share_facts::ShareFacts;
use crate::shared_state::DaemonShared;
use crate::status::DaemonStatus;
use crate::task_record::TaskRequest;

/// Answers questions about the daemon.
#[derive(Clone)]
pub(crate) struct DaemonControl {
    shared: Arc<DaemonShared>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RestartParams {
    signatures: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RestartedServers {
    ended: usize,
}

/// Names a durable call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TaskQuery {
    pub(crate) id: String,
    /// Whether a running call is waited for, for a moment.
    #[serde(default)]
    pub(crate) wait: bool,
}

impl DaemonControl {
    pub(crate) fn new(shared: &Arc<DaemonShared>) -> Self {
        Self { shared: Arc::clone(shared) }
    }

    async fn answer_request(&self, incoming: Incoming) -> Result<RawJson, RpcError> {
        let tasks = &self.shared.tasks;
        match &*incoming.method {
            "daemon/status" => {
                let status = DaemonStatus {
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    pid: std::process::id(),
                    uptime_seconds: self.shared.started_at.elapsed().as_secs(),
                    is_draining: self.shared.is_draining(),
                    running_tasks: tasks.running_count().await,
                    copies: self.shared.table.to_status(),
                };
                encode_answer(&status)
            }
            "daemon/stop" => {
                self.shared.begin_stop();
                encode_answer(&json!({}))
            }
            "daemon/restart" => {
                let params: RestartParams = decode_params(&incoming, "`signatures` is missing")?;
                let ended = self
                    .shared
                    .table
                    .retire_copies(|copy| params.signatures.contains(&copy.creator.signature.to_string()));
                encode_answer(&RestartedServers { ended })
            }
            "daemon/start_task" => {
                let request: TaskRequest = decode_params(&incoming, "the task cannot be read")?;
                let facts = ShareFacts::from_request(&request.attach)
                    .ok_or_else(|| RpcError::new(INVALID_PARAMS, "the server of the task cannot be read"))?;
                let started = tasks.start_task(&self.shared, facts, request).await;
                encode_answer(&started.map_err(|error| {
                    let code = if error.is_limit() { AT_LIMIT } else { INTERNAL };
                    RpcError::new(code, &error.to_string())
                })?)
            }
            "daemon/tasks" => encode_answer(&tasks.list_tasks().await),
            "daemon/task" => {
                let TaskQuery { id, wait } = decode_params(&incoming, "`id` is missing")?;
                encode_answer(&[tasks.find_task(&id, wait).await])
            }
            "daemon/cancel_task" => {
                let TaskQuery { id, .. } = decode_params(&incoming, "`id` is missing")?;
                encode_answer(&[tasks.cancel_task(&id).await])
            }
            "daemon/remove_task" => {
                let TaskQuery { id, .. } = decode_params(&incoming, "`id` is missing")?;
                encode_answer(&tasks.remove_task(&id).await)
            }
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        }
    }
}

fn decode_params<T: DeserializeOwned>(incoming: &Incoming, problem: &str) -> Result<T, RpcError> {
    let params = incoming.params.as_ref().and_then(|params| params.decode().ok());
    params.ok_or_else(|| RpcError::new(INVALID_PARAMS, problem))
}

fn encode_answer(answer: &impl Serialize) -> Result<RawJson, RpcError> {
    RawJson::from_value(answer).map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
}

impl Handler for DaemonControl {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let service = self.clone();
        Box::pin(async move { service.answer_request(incoming).await })
    }

    fn handle_notice(&self, _notice: Notice) {}
}

/// A connection to the running daemon.
#[derive(Debug)]
pub struct DaemonConnection {
    control: ControlConnection,
    socket: PathBuf,
}

impl DaemonConnection {
    /// Connects to the daemon; `None` if none is running.
    ///
    /// # Errors
    /// When other users could have placed the socket, or the daemon is of another version.
    pub fn open(paths: &DaemonPaths) -> Result<Option<Self>, ControlError> {
        let (stream, socket) = match paths.daemon_socket().connect_blocking() {
            Ok(connected) => connected,
            Err(error) if error.is_absent() => return Ok(None),
            Err(DaemonSocketError::Folder(error)) => return Err(ControlError::Folder(error.into())),
            Err(DaemonSocketError::Io(error)) => return Err(error.into()),
            Err(error @ DaemonSocketError::Foreign) => return Err(io::Error::other(error).into()),
        };
        let mut control = ControlConnection::new(stream)?;
        let hello = serde_json::to_string(&ClientHello::Control { wire: ATTACH_PROTOCOL })
            .map_err(|_| ControlError::Malformed)?;
        let line = control.exchange_line(&hello)?;
        match serde_json::from_slice(&line) {
            Ok(DaemonLine::Welcome { .. }) => Ok(Some(Self { control, socket })),
            Ok(DaemonLine::Refused { reason }) => {
                Err(ControlError::Io(io::Error::other(format!("the daemon refused: {}", reason.as_str()))))
            }
            Ok(_) | Err(_) => Err(ControlError::Malformed),
        }
    }

    /// Whether the daemon has closed its socket, which is the last thing it does.
    #[must_use]
    pub fn is_socket_gone(&self) -> bool {
        self.socket.symlink_metadata().is_err()
    }

    /// The state of the daemon.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn read_status(&mut self) -> Result<DaemonStatus, ControlError> {
        self.control.send_request("daemon/status", &json!({}))
    }

    /// Ends the daemon.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn stop_daemon(&mut self) -> Result<(), ControlError> {
        let _empty: Value = self.control.send_request("daemon/stop", &json!({}))?;
        Ok(())
    }

    /// Sends a request about durable calls.
    pub(crate) fn ask_about_tasks<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, ControlError> {
        self.control.send_request(method, params)
    }

    /// Ends the servers with these signatures, so that their clients start them again; returns their number.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn restart_servers(&mut self, signatures: Vec<String>) -> Result<usize, ControlError> {
        let done: RestartedServers =
            self.control.send_request("daemon/restart", &RestartParams { signatures })?;
        Ok(done.ended)
    }
}
