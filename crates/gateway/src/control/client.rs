//! Finds the running gateways of this user, and sends them requests.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

use mcparley_model::limits::CONTROL_SOCKETS;
use mcparley_platform::file::check_private_folder;
use mcparley_platform::socket::SocketAddress;
use serde::Deserialize;
use serde_json::{Value, json};

use super::connection::{ControlConnection, ControlError};
use super::{GatewayFacts, ReconnectRequest, SUFFIX};
use crate::pending::{PendingQuestion, TerminalAnswer};

/// A connection to a running gateway.
#[derive(Debug)]
pub struct GatewayConnection(ControlConnection);

/// The open questions of the running gateways.
#[derive(Debug)]
pub struct QuestionSurvey {
    /// The questions of all gateways that answered.
    pub questions: Vec<PendingQuestion>,
    /// The number of gateways that did not answer.
    pub silent: usize,
}

/// Connects to every running gateway of this user. Sockets that gateways left behind when they were killed
/// are removed.
///
/// # Errors
/// When other users could have placed sockets in the folder.
pub fn find_gateways(folder: &Path) -> Result<Vec<GatewayConnection>, ControlError> {
    check_private_folder(folder).map_err(|error| ControlError::Folder(error.into()))?;
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        // Without the folder there never was a gateway.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(SUFFIX)).take(CONTROL_SOCKETS).collect();
    names.sort();
    Ok(names.iter().filter_map(|name| connect_gateway(folder, name)).collect())
}

/// The open questions of all running gateways of this user, with their contents only if `with_details`.
///
/// # Errors
/// As [`find_gateways`].
pub fn open_questions(folder: &Path, with_details: bool) -> Result<QuestionSurvey, ControlError> {
    let mut survey = QuestionSurvey { questions: Vec::new(), silent: 0 };
    for mut gateway in find_gateways(folder)? {
        match gateway.pending_questions(with_details) {
            Ok(questions) => survey.questions.extend(questions),
            Err(_) => survey.silent += 1,
        }
    }
    Ok(survey)
}

/// Makes all running gateways of this user reconnect a server; returns how many of them have it.
///
/// # Errors
/// As [`find_gateways`].
pub fn reconnect_gateways(folder: &Path, request: &ReconnectRequest) -> Result<usize, ControlError> {
    let has_server = |gateway: &mut GatewayConnection| {
        gateway.reconnect_server(request).is_ok_and(|servers| !servers.is_empty())
    };
    Ok(find_gateways(folder)?.iter_mut().map(has_server).filter(|has_server| *has_server).count())
}

fn connect_gateway(folder: &Path, name: &str) -> Option<GatewayConnection> {
    let address = SocketAddress::new(folder, name).ok()?;
    match UnixStream::connect(&address.path) {
        Ok(stream) => Some(GatewayConnection(ControlConnection::new(stream).ok()?)),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            remove_stale_socket(&folder.join(name));
            None
        }
        Err(_) => None,
    }
}

#[expect(clippy::disallowed_methods, reason = "a socket has no content that could be torn")]
fn remove_stale_socket(path: &Path) {
    // Another reader may have been faster.
    let _gone = std::fs::remove_file(path);
}

impl GatewayConnection {
    /// The facts about the gateway.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn gateway_facts(&mut self) -> Result<GatewayFacts, ControlError> {
        self.0.send_request("control/about", &json!({}))
    }

    /// The open questions of the gateway, oldest first; their contents only if `with_details`.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn pending_questions(&mut self, with_details: bool) -> Result<Vec<PendingQuestion>, ControlError> {
        #[derive(Deserialize)]
        struct QuestionList {
            questions: Vec<PendingQuestion>,
        }
        let list: QuestionList =
            self.0.send_request("control/pending", &json!({ "details": with_details }))?;
        Ok(list.questions)
    }

    /// The question with this id, with its contents.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn find_question(&mut self, id: &str) -> Result<PendingQuestion, ControlError> {
        self.0.send_request("control/question", &json!({ "id": id }))
    }

    /// Answers a question.
    ///
    /// # Errors
    /// [`ControlError::UnknownQuestion`] if it has an answer already, [`ControlError::Refused`] if the answer
    /// does not fit it, or another [`ControlError`].
    pub fn answer_question(&mut self, id: &str, answer: &TerminalAnswer) -> Result<(), ControlError> {
        let _empty: Value = self.0.send_request("control/answer", &json!({ "id": id, "answer": answer }))?;
        Ok(())
    }

    /// Makes the gateway reconnect a server, and returns the names that it has there.
    ///
    /// # Errors
    /// A [`ControlError`].
    pub fn reconnect_server(&mut self, request: &ReconnectRequest) -> Result<Vec<String>, ControlError> {
        #[derive(Deserialize)]
        struct ReconnectedServers {
            servers: Vec<String>,
        }
        let done: ReconnectedServers =
            self.0.send_request("control/reconnect", &json!({ "request": request }))?;
        Ok(done.servers)
    }
}
