//! Questions about the daemon, for the command line: its state, its end, restarts of servers.
//!
//! The protocol is JSON-RPC 2.0, one message per line, after the first line of [`mcparley::pool::attach`]:
//!
//! | method | parameters | result |
//! |---|---|---|
//! | `daemon/status` | | [`DaemonStatus`] |
//! | `daemon/stop` | | empty; the daemon ends |
//! | `daemon/restart` | `signatures` | `ended`: the number of servers that end |

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use mcparley::pool::attach::protocol::{ATTACH_PROTOCOL, ClientHello, DaemonLine};
use mcparley_gateway::control::{ControlConnection, ControlError};
use mcparley_platform::file::check_private_folder;
use mcparley_platform::socket::SocketAddress;
use mcparley_wire::peer::{BoxedFuture, Handler};
use mcparley_wire::{INTERNAL, INVALID_PARAMS, Incoming, METHOD_NOT_FOUND, Notice, RawJson, RpcError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::paths::DaemonPaths;
use crate::shared_state::DaemonShared;
use crate::status::DaemonStatus;

/// Answers questions about the daemon.
pub(crate) struct ControlService {
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

impl ControlService {
    pub(crate) fn new(shared: &Arc<DaemonShared>) -> Self {
        Self { shared: Arc::clone(shared) }
    }

    fn answer_request(&self, incoming: &Incoming) -> Result<Value, RpcError> {
        match &*incoming.method {
            "daemon/status" => {
                let status = DaemonStatus {
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    pid: std::process::id(),
                    uptime_seconds: self.shared.started_at.elapsed().as_secs(),
                    is_draining: self.shared.is_draining(),
                    copies: self.shared.table.to_status(),
                };
                serde_json::to_value(status).map_err(|error| RpcError::new(INTERNAL, &error.to_string()))
            }
            "daemon/stop" => {
                self.shared.begin_stop();
                Ok(json!({}))
            }
            "daemon/restart" => {
                let params =
                    incoming.params.as_ref().and_then(|params| params.decode::<RestartParams>().ok());
                let params =
                    params.ok_or_else(|| RpcError::new(INVALID_PARAMS, "`signatures` is missing"))?;
                let ended = self
                    .shared
                    .table
                    .retire_copies(|copy| params.signatures.contains(&copy.creator.signature.to_string()));
                Ok(json!(RestartedServers { ended }))
            }
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        }
    }
}

impl Handler for ControlService {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let answer = self.answer_request(&incoming).and_then(|answer| {
            RawJson::from_value(&answer).map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
        });
        Box::pin(std::future::ready(answer))
    }

    fn handle_notice(&self, _notice: Notice) {}
}

/// A connection to the running daemon.
#[derive(Debug)]
pub struct DaemonConnection(ControlConnection);

impl DaemonConnection {
    /// Connects to the daemon; `None` if none is running.
    ///
    /// # Errors
    /// When other users could have placed the socket, or the daemon is of another version.
    pub fn open(paths: &DaemonPaths) -> Result<Option<Self>, ControlError> {
        check_private_folder(&paths.folder).map_err(|error| ControlError::Folder(error.into()))?;
        let stream = SocketAddress::new(&paths.folder, "daemon.sock")
            .and_then(|address| UnixStream::connect(&address.path));
        let stream = match stream {
            Ok(stream) => stream,
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let mut connection = ControlConnection::new(stream)?;
        let hello = serde_json::to_string(&ClientHello::Control { wire: ATTACH_PROTOCOL })
            .map_err(|_| ControlError::Malformed)?;
        let line = connection.exchange_line(&hello)?;
        match serde_json::from_slice(&line) {
            Ok(DaemonLine::Welcome { .. }) => Ok(Some(Self(connection))),
            Ok(DaemonLine::Refused { reason }) => {
                Err(ControlError::Io(io::Error::other(format!("the daemon refused: {}", reason.as_str()))))
            }
            Ok(_) | Err(_) => Err(ControlError::Malformed),
        }
    }

    /// The state of the daemon.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn status(&mut self) -> Result<DaemonStatus, ControlError> {
        self.0.send_request("daemon/status", &json!({}))
    }

    /// Ends the daemon.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn stop(&mut self) -> Result<(), ControlError> {
        let _empty: Value = self.0.send_request("daemon/stop", &json!({}))?;
        Ok(())
    }

    /// Ends the servers with these signatures, whose clients then start them again; returns their number.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn restart_servers(&mut self, signatures: Vec<String>) -> Result<usize, ControlError> {
        let done: RestartedServers = self.0.send_request("daemon/restart", &RestartParams { signatures })?;
        Ok(done.ended)
    }
}
