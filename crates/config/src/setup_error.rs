//! Errors of connecting an MCP client to the gateway, and of undoing it.

use std::path::PathBuf;

use mcparley_model::explain::Explain;

/// The error of a client that was not connected or disconnected; its file is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The client has no configuration file in a project folder.
    #[error("{client} has no configuration file in a project folder")]
    NoProjectFile {
        /// The client.
        client: &'static str,
    },
    /// Servers of a project folder cannot be moved into user scope.
    #[error("servers of a project folder cannot be moved into user scope")]
    TakeOverFromFolder,
    /// Another server has the name of the gateway.
    #[error("{}: `mcparley` is the name of another server", file.display())]
    GatewayNameTaken {
        /// The file.
        file: PathBuf,
    },
    /// The file has changed since the change was planned.
    #[error("{} has just been changed by another program", file.display())]
    ChangedMeanwhile {
        /// The file.
        file: PathBuf,
    },
    /// There is no record of a connection.
    #[error("there is nothing to undo: `mcparley connect` did not change {}", file.display())]
    NotConnected {
        /// The client's file.
        file: PathBuf,
        /// The name of an entry that starts the gateway and `connect` did not write.
        entry: Option<String>,
    },
    /// The record or the backup of a connection cannot be used.
    #[error("{} is damaged or missing", file.display())]
    BrokenRecord {
        /// The file.
        file: PathBuf,
    },
}

impl Explain for SetupError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoProjectFile { .. } => "leave `--scope project` out".to_owned(),
            Self::TakeOverFromFolder => {
                "`mcparley import` adds them to local scope, where they need approval".to_owned()
            }
            Self::GatewayNameTaken { file } => {
                format!("rename that server in {} and try again", file.display())
            }
            Self::ChangedMeanwhile { .. } => "try again".to_owned(),
            Self::NotConnected { entry: Some(entry), file } => {
                format!("to disconnect it, remove `{entry}` from {}", file.display())
            }
            Self::NotConnected { entry: None, .. } => {
                "`mcparley connect` lists clients and their state".to_owned()
            }
            Self::BrokenRecord { .. } => {
                "remove the entry `mcparley` from the client's file by hand".to_owned()
            }
        })
    }
}
