//! Requests to reconnect a server, which one process leaves in a file for every host that runs.
//!
//! A request has an id of its own. A host takes the requests that it finds when it starts for old ones, and acts once on
//! each that is added later, so nothing is replayed. Of requests for the same server only the last is kept, and of all
//! only the latest [`RECONNECT_REQUESTS`].

use std::collections::HashSet;
use std::path::Path;

use mcparley_model::config::ServerConfig;
use mcparley_model::edit::EditError;
use mcparley_model::limits::{RECONNECT_REQUEST_BYTES, RECONNECT_REQUESTS};
use mcparley_model::name::ServerName;
use mcparley_model::signature::Signature;
use mcparley_platform::file::{self, Change, Links, UpdateError};
use serde::{Deserialize, Serialize};

use crate::chance;
use crate::change::ChangeError;
use crate::paths::Paths;

/// Files of another format are not read.
const FORMAT: u32 = 1;

/// One file.
#[derive(Debug, Serialize, Deserialize)]
struct RequestFile {
    format: u32,
    /// The oldest first.
    requests: Vec<ReconnectRequest>,
}

/// A request to connect anew to one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReconnectRequest {
    /// Tells this request from every other, also from one for the same server.
    id: String,
    /// The server's name.
    server: String,
    /// The project in which it has this name.
    project: String,
    /// The signature of its entry, by which hosts in other folders know it.
    signature: String,
}

impl ReconnectRequest {
    /// A new request for the server of this entry.
    pub(crate) fn new(paths: &Paths, server: &ServerName, config: &ServerConfig) -> Self {
        Self {
            id: chance::id(),
            server: server.as_str().to_owned(),
            project: paths.project_key(),
            signature: Signature::of(config).to_string(),
        }
    }

    /// Whether it is meant for the server of this name and signature in a project: for one with the same signature
    /// anywhere, and for one with the same name in the same project, whose variables may differ between two terminals.
    pub(crate) fn is_for(&self, project: &str, server: &ServerName, signature: &Signature) -> bool {
        let is_named = self.server == server.as_str() && self.project == project;
        is_named || self.signature == signature.to_string()
    }

    /// Adds it to the file; an earlier request for the same server gives way.
    ///
    /// # Errors
    /// When the file cannot be written, or others may write to it.
    pub(crate) fn write(&self, path: &Path) -> Result<(), ChangeError> {
        let written: Result<_, UpdateError<EditError>> =
            file::update_private(path, RECONNECT_REQUEST_BYTES, |old| {
                // Requests that cannot be read ask for nothing any more.
                let mut requests = old.and_then(parse).unwrap_or_default();
                requests.retain(|known| !known.is_same_server(self));
                requests.push(self.clone());
                let surplus = requests.len().saturating_sub(RECONNECT_REQUESTS);
                requests.drain(..surplus);
                let content = serde_json::to_vec(&RequestFile { format: FORMAT, requests });
                Ok(content.map_or(Change::Keep, Change::Replace))
            });
        written?;
        Ok(())
    }

    fn is_same_server(&self, other: &Self) -> bool {
        self.signature == other.signature && self.project == other.project && self.server == other.server
    }
}

/// The requests in the file; nothing if it cannot be read, or if others may have written it.
pub(crate) fn read_requests(path: &Path) -> Option<Vec<ReconnectRequest>> {
    match file::read_private(path, RECONNECT_REQUEST_BYTES, Links::Refuse) {
        Ok(Some(read)) => parse(read.text.as_bytes()),
        Ok(None) => Some(Vec::new()),
        Err(_) => None,
    }
}

fn parse(text: &[u8]) -> Option<Vec<ReconnectRequest>> {
    let file: RequestFile = serde_json::from_slice(text).ok()?;
    (file.format == FORMAT).then_some(file.requests)
}

/// The requests that a host knows already, so that it acts on each once.
#[derive(Debug, Default)]
pub(crate) struct SeenRequests(HashSet<String>);

impl SeenRequests {
    /// Gives the requests that were not there before, and knows all of these from now on. A file that could not be read
    /// tells nothing: its requests stay known.
    pub(crate) fn take_new(&mut self, read: Option<Vec<ReconnectRequest>>) -> Vec<ReconnectRequest> {
        let Some(requests) = read else { return Vec::new() };
        let ids = requests.iter().map(|request| request.id.clone()).collect();
        let before = std::mem::replace(&mut self.0, ids);
        requests.into_iter().filter(|request| !before.contains(&request.id)).collect()
    }
}

#[cfg(test)]
mod tests;
