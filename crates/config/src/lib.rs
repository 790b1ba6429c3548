//! Reads configuration files and plans the servers: which are declared, and which of them may run.
//!
//! | step, in the order of the data | module |
//! |---|---|
//! | the files and folders of a user | [`Paths`] |
//! | sources are read | [`load_config`] with [`RunOptions`] → [`LoadedConfig`]: `sources`, `project_roots` |
//! | servers of one run, in a word of the command line | [`InlineServer`] |
//! | agents that files describe | [`load_agents`] → [`AgentSpec`]; their [`front_matter`] |
//! | **the plan status of every declared server** | **[`plan`]**, the place to start reading |
//! | approvals of servers, accepted tool definitions | `approval_store`, [`trust`] |
//! | edits for the user: add, remove, enable, disable, approve | [`change`]: `edit_target`, [`json_editor`], `change_error` |
//! | import of servers from other programs | [`import`]: `import_format` |
//! | the gateway in the files of MCP clients | [`client_setup`] |
//! | reconnect requests to running hosts | [`reconnect_requests`] |
//!
//! The crate reads and writes configuration files and connects to no server.

mod agent_spec;
mod approval_store;
pub mod change;
mod change_error;
pub mod client_setup;
mod edit_target;
pub mod front_matter;
pub mod import;
mod import_format;
mod inline_server;
pub mod json_editor;
mod paths;
pub mod plan;
mod project_roots;
pub mod reconnect_requests;
mod server_entry;
mod setup_error;
mod sources;
pub mod trust;

pub use agent_spec::{AgentSpec, BUILT_IN_SERVER, StartPolicy};
pub use change_error::ChangeError;
pub use inline_server::{InlineServer, InlineServerError, url_transport};
pub use paths::Paths;
pub use project_roots::{is_too_wide, named_folders, project_folder};
pub use server_entry::ServerEntry;
pub use sources::{
    Agents, ConfigProblem, Connector, ConnectorList, EditorChoice, FilesFingerprint, LoadedConfig,
    MissingServer, RunOptions, SettingSource, Severity, UnknownAgent, load_agents, load_agents_without,
    load_as_if_approved, load_config, suggest_similar,
};
