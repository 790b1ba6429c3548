//! A connection to a control socket: requests of the command line, one at a time.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;

use mcparley::model::text::Untrusted;
use mcparley_model::limits::{CONTROL_ANSWER_BYTES, CONTROL_ANSWER_TIME};
use mcparley_platform::file::PrivateFolderError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AT_LIMIT, UNKNOWN_QUESTION};

/// The reason why a gateway did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The folder of the sockets cannot be used.
    #[error("the folder of control sockets cannot be used: {0}")]
    Folder(PrivateFolderError),
    /// The socket cannot be used.
    #[error("the control socket of a gateway cannot be used: {0}")]
    Io(#[from] io::Error),
    /// The gateway sent no valid answer.
    #[error("a gateway sent no valid answer on its control socket")]
    Malformed,
    /// The gateway has no such question, or no longer.
    #[error("the gateway has no such question any more")]
    UnknownQuestion,
    /// A limit is reached, and the request had no effect.
    #[error("{}", .0.display_line())]
    AtLimit(Untrusted),
    /// The gateway refused.
    #[error("{}", .0.display_line())]
    Refused(Untrusted),
}

/// A connection to a control socket, for one request after the other.
#[derive(Debug)]
pub struct ControlConnection {
    stream: BufReader<UnixStream>,
    next: u64,
}

impl ControlConnection {
    /// A connection over this stream, whose other side has to answer each request in time.
    ///
    /// # Errors
    /// When the stream takes no timeouts.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(CONTROL_ANSWER_TIME))?;
        stream.set_write_timeout(Some(CONTROL_ANSWER_TIME))?;
        Ok(Self { stream: BufReader::new(stream), next: 1 })
    }

    /// Sends one line and reads the next, before the first request.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn exchange_line(&mut self, line: &str) -> Result<Vec<u8>, ControlError> {
        self.stream.get_mut().write_all(format!("{line}\n").as_bytes())?;
        self.read_line()
    }

    fn read_line(&mut self) -> Result<Vec<u8>, ControlError> {
        let mut line = Vec::new();
        (&mut self.stream).take(CONTROL_ANSWER_BYTES).read_until(b'\n', &mut line)?;
        Ok(line)
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn send_request<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, ControlError> {
        #[derive(Deserialize)]
        struct ControlResponse {
            #[serde(default)]
            result: Option<Value>,
            #[serde(default)]
            error: Option<ResponseError>,
        }
        #[derive(Deserialize)]
        struct ResponseError {
            code: i64,
            message: String,
        }
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.next += 1;
        self.stream.get_mut().write_all(format!("{request}\n").as_bytes())?;
        let line = self.read_line()?;
        let response: ControlResponse = serde_json::from_slice(&line).map_err(|_| ControlError::Malformed)?;
        match (response.result, response.error) {
            (_, Some(ResponseError { code: UNKNOWN_QUESTION, .. })) => Err(ControlError::UnknownQuestion),
            (_, Some(ResponseError { code: AT_LIMIT, message })) => {
                Err(ControlError::AtLimit(Untrusted::new(message)))
            }
            (_, Some(error)) => Err(ControlError::Refused(Untrusted::new(error.message))),
            (Some(result), None) => serde_json::from_value(result).map_err(|_| ControlError::Malformed),
            (None, None) => Err(ControlError::Malformed),
        }
    }
}
