//! Client setup: writes the gateway into the configuration file of an MCP client, and takes it out again.
//!
//! | step | module |
//! |---|---|
//! | the clients: their files, questions and restart | `client` |
//! | the entry in the format of the client | `gateway_entry` |
//! | edits of the table of servers in a JSON or TOML file | `server_table` |
//! | **a connection: plan it, show it, write it** | `connection` |
//! | the client's own servers move into user scope | `take_over` |
//! | backups, and the record of the changed files | `setup_record` |
//! | undo | `restore` |
//! | the clients of this machine and their state | `client_status` |
//!
//! Every write goes through `platform::file`. The backup is written before the file is changed.

mod client;
mod client_status;
mod connection;
mod gateway_entry;
mod restore;
mod server_table;
mod setup_record;
mod take_over;

#[cfg(test)]
mod tests;

use crate::import::ImportPaths;
use crate::paths::Paths;
use crate::sources::{LoadedConfig, RunOptions};

pub use crate::setup_error::SetupError;
pub use client::{ClientProgram, SetupScope};
pub use client_status::{ClientFileStatus, ClientStatus, list_clients};
pub use connection::{ClientConnection, ConnectRequest, ConnectionChange, plan_connection, write_connection};
pub use gateway_entry::GatewayCommand;
pub use restore::{Restoration, RestoredFile, undo_connection};
pub use take_over::{MovedServer, TakeOver};

/// The name of the gateway in the files of clients.
pub const GATEWAY_NAME: &str = "mcparley";

/// The folders, options and configuration that a client setup works with.
#[derive(Clone, Copy, Debug)]
pub struct SetupContext<'c> {
    /// Our own paths.
    pub paths: &'c Paths,
    /// The folders in which other programs store their settings.
    pub places: ImportPaths<'c>,
    /// The options of this run.
    pub run_options: &'c RunOptions,
    /// The loaded configuration.
    pub loaded: &'c LoadedConfig,
}
