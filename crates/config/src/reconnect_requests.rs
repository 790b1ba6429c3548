//! Reconnect requests: a file in which one process asks every running host to reconnect a server.
//!
//! Each request has an id. A host ignores the requests that it finds at its start and acts once on each later
//! one, so none is replayed. Only the last request per server is kept, and at most [`RECONNECT_REQUESTS`] in
//! all.

use std::collections::HashSet;
use std::path::Path;

use crate::json_editor::EditError;
use mcparley_model::config::ServerConfig;
use mcparley_model::limits::{RECONNECT_REQUEST_BYTES, RECONNECT_REQUESTS};
use mcparley_model::name::ServerName;
use mcparley_model::signature::Signature;
use mcparley_platform::file::{self, FileUpdateError, PrivateChange, SymlinkPolicy};
use mcparley_platform::random::random_id;
use serde::{Deserialize, Serialize};

use crate::change_error::ChangeError;
use crate::paths::Paths;

/// The file format. Files of another format are not read.
const FORMAT: u32 = 1;

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
struct RequestFile {
    format: u32,
    /// The requests, oldest first.
    requests: Vec<ReconnectRequest>,
}

/// A request to reconnect one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReconnectRequest {
    /// The id of this request; a second request for the same server has another one.
    id: String,
    /// The server's name.
    server: String,
    /// The project in which the server has this name.
    project: String,
    /// The signature of its entry, by which hosts in other folders recognize the server.
    signature: String,
}

impl ReconnectRequest {
    /// A new request for the server of this entry.
    pub fn new(paths: &Paths, server: &ServerName, config: &ServerConfig) -> Self {
        Self {
            id: random_id(),
            server: server.as_str().to_owned(),
            project: paths.project_key(),
            signature: Signature::from_config(config).to_string(),
        }
    }

    /// Whether the request is for the server of this name and signature in a project.
    ///
    /// It is for every server with the same signature, in any project, and for the server of the same name in
    /// the same project, where environment variables may differ between two terminals.
    pub fn is_for(&self, project: &str, server: &ServerName, signature: &Signature) -> bool {
        let is_named = self.server == server.as_str() && self.project == project;
        is_named || self.signature == signature.to_string()
    }

    /// Adds the request to the file and replaces an earlier one for the same server.
    ///
    /// # Errors
    /// When the file cannot be written, or others may write to it.
    pub fn write_to_file(&self, path: &Path) -> Result<(), ChangeError> {
        let written: Result<_, FileUpdateError<EditError>> =
            file::update_private(path, RECONNECT_REQUEST_BYTES, |old| {
                // A file that cannot be read contains no requests.
                let mut requests = old.and_then(parse_requests).unwrap_or_default();
                requests.retain(|known| !known.is_same_server(self));
                requests.push(self.clone());
                let surplus = requests.len().saturating_sub(RECONNECT_REQUESTS);
                requests.drain(..surplus);
                let content = serde_json::to_vec(&RequestFile { format: FORMAT, requests });
                Ok(content.map_or(PrivateChange::Keep, PrivateChange::Replace))
            });
        written?;
        Ok(())
    }

    fn is_same_server(&self, other: &Self) -> bool {
        self.signature == other.signature && self.project == other.project && self.server == other.server
    }
}

/// The requests in the file; `None` if it cannot be read, or if others may have written it.
pub fn read_requests(path: &Path) -> Option<Vec<ReconnectRequest>> {
    match file::read_private(path, RECONNECT_REQUEST_BYTES, SymlinkPolicy::Refuse) {
        Ok(Some(read)) => parse_requests(read.text.as_bytes()),
        Ok(None) => Some(Vec::new()),
        Err(_) => None,
    }
}

fn parse_requests(text: &[u8]) -> Option<Vec<ReconnectRequest>> {
    let file: RequestFile = serde_json::from_slice(text).ok()?;
    (file.format == FORMAT).then_some(file.requests)
}

/// The ids of the requests that a host has seen, so that it acts on each once.
#[derive(Debug, Default)]
pub struct SeenRequests(HashSet<String>);

impl SeenRequests {
    /// Remembers a request that came another way than by the file.
    pub fn mark_seen(&mut self, request: &ReconnectRequest) {
        self.0.insert(request.id.clone());
    }

    /// Returns the requests that are new, and remembers all of these.
    ///
    /// After a file that could not be read, the earlier requests stay known.
    pub fn take_new(&mut self, read: Option<Vec<ReconnectRequest>>) -> Vec<ReconnectRequest> {
        let Some(requests) = read else { return Vec::new() };
        let ids = requests.iter().map(|request| request.id.clone()).collect();
        let before = std::mem::replace(&mut self.0, ids);
        requests.into_iter().filter(|request| !before.contains(&request.id)).collect()
    }
}

#[cfg(test)]
mod tests;
