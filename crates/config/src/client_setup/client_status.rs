//! Client status: which clients this machine has, and which of them use the gateway.

use std::path::PathBuf;

use serde::Serialize;

use super::gateway_entry::to_stdio;
use super::restore::find_gateway;
use super::{ClientProgram, SetupContext, SetupScope};

/// The state of one client.
#[derive(Clone, Debug, Serialize)]
pub struct ClientStatus {
    /// The client.
    pub client: ClientProgram,
    /// Its product name.
    pub title: &'static str,
    /// Whether its program or its settings folder was found.
    pub installed: bool,
    /// Its files: the user's, and the project's if it is connected there.
    pub files: Vec<ClientFileStatus>,
}

/// The state of one file of a client.
#[derive(Clone, Debug, Serialize)]
pub struct ClientFileStatus {
    /// The scope of the file.
    pub scope: SetupScope,
    /// The file.
    pub file: PathBuf,
    /// The name of the entry that starts the gateway.
    pub connected_as: Option<String>,
    /// The error of a file that cannot be read.
    pub problem: Option<String>,
}

impl ClientStatus {
    /// Whether one of the files has the gateway.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.files.iter().any(|file| file.connected_as.is_some())
    }
}

/// Lists all clients with their state.
#[must_use]
pub fn list_clients(context: &SetupContext<'_>) -> Vec<ClientStatus> {
    ClientProgram::ALL.into_iter().map(|client| client_status(client, context)).collect()
}

fn client_status(client: ClientProgram, context: &SetupContext<'_>) -> ClientStatus {
    let user = file_status(client, SetupScope::User, context);
    let has_settings = user.as_ref().is_some_and(|status| has_own_folder(&status.file, context));
    let project = file_status(client, SetupScope::Project, context);
    let project = project.filter(|status| status.connected_as.is_some());
    ClientStatus {
        client,
        title: client.title(),
        installed: has_settings || client.command().is_some_and(|command| is_program(command, context)),
        files: user.into_iter().chain(project).collect(),
    }
}

fn file_status(
    client: ClientProgram,
    scope: SetupScope,
    context: &SetupContext<'_>,
) -> Option<ClientFileStatus> {
    let file = client.config_file(scope, context)?;
    let (connected_as, problem) = match find_gateway(client, &file, context) {
        Ok(name) => (name, None),
        Err(error) => (None, Some(error.to_string())),
    };
    Some(ClientFileStatus { scope, file, connected_as, problem })
}

/// Whether the file exists, or the settings folder of the client that contains it.
fn has_own_folder(file: &std::path::Path, context: &SetupContext<'_>) -> bool {
    let shared = [context.places.home, context.places.config_home];
    let folder = file.parent().filter(|folder| !shared.contains(folder));
    file.exists() || folder.is_some_and(|folder| folder.is_dir())
}

fn is_program(command: &str, context: &SetupContext<'_>) -> bool {
    let stdio = to_stdio(&[command.to_owned()], context.loaded);
    stdio.is_some_and(|stdio| context.loaded.programs.find_program(command, &stdio).is_some())
}
