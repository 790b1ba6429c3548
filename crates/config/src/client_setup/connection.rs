//! Connection of a client: decides how its file changes, and then writes it.
//!
//! [`plan_connection`] only reads, so that the change can be shown first. [`write_connection`] writes a plan,
//! and refuses if the file has changed meanwhile.

use std::path::PathBuf;

use mcparley_model::limits::CONFIG_FILE_BYTES;
use mcparley_model::scope::{Scope, Source};
use mcparley_platform::file::{self, Creation};
use serde_json::Value;

use super::gateway_entry::is_gateway_entry;
use super::restore::restore_file;
use super::server_table::{MCP_SERVERS, ServerTable, TableEdit};
use super::setup_record::{
    ChangedFile, RecordFolder, SetupRecord, backup_name, digest_entry, digest_text, missing_folders,
};
use super::take_over::{TakeOver, add_moved_servers, plan_take_over};
use super::{ClientProgram, GATEWAY_NAME, GatewayCommand, SetupContext, SetupScope};
use crate::change_error::ChangeError;
use crate::plan::{PlanStatus, PlannedServer};
use crate::setup_error::SetupError;
use crate::sources::LoadedConfig;

/// A wish to connect a client.
#[derive(Clone, Debug)]
pub struct ConnectRequest {
    /// The client.
    pub client: ClientProgram,
    /// The scope of its file.
    pub scope: SetupScope,
    /// The command that starts the gateway.
    pub command: GatewayCommand,
    /// Whether the client's own servers are moved into our user scope.
    pub take_over: bool,
}

/// A planned connection of a client.
#[derive(Clone, Debug)]
pub struct ClientConnection {
    /// The client.
    pub client: ClientProgram,
    /// The scope of its file.
    pub scope: SetupScope,
    /// The client's file.
    pub file: PathBuf,
    /// The name of the gateway in the file.
    pub name: String,
    /// The entry of the gateway.
    pub entry: Value,
    /// The change of the entry.
    pub change: ConnectionChange,
    /// The names of the client's own servers, which it starts beside the gateway.
    pub own_servers: Vec<String>,
    /// The names of servers of this folder that the client starts beside the gateway; `--take-over` leaves
    /// them.
    pub folder_servers: Vec<String>,
    /// The servers that are moved, if that was wished.
    pub take_over: Option<TakeOver>,
    /// The text of the file when the plan was made.
    before: Option<String>,
}

/// The change of the gateway's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionChange {
    /// The client has the entry already.
    None,
    /// The entry is added.
    Add,
    /// An older entry of the gateway is replaced.
    Replace,
}

impl ClientConnection {
    /// Whether writing the plan would change a file.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.change != ConnectionChange::None
            || self.take_over.as_ref().is_some_and(|taken| !taken.moved.is_empty())
    }

    fn edits(&self) -> Vec<TableEdit<'_>> {
        let moved = self.take_over.iter().flat_map(|taken| &taken.moved);
        let entry = (self.change != ConnectionChange::None).then_some((self.name.as_str(), &self.entry));
        let set = entry.map(|(name, entry)| TableEdit::Set(name, entry));
        moved.map(|server| TableEdit::Remove(&server.name)).chain(set).collect()
    }
}

/// Plans the connection of a client; reads files and writes none.
///
/// # Errors
/// When the client has no file for this scope, when its file cannot be read, and when the name of the gateway
/// belongs to another server there.
pub fn plan_connection(
    request: &ConnectRequest,
    context: &SetupContext<'_>,
) -> Result<ClientConnection, ChangeError> {
    let ConnectRequest { client, scope, command, take_over } = request;
    let (client, scope) = (*client, *scope);
    let Some(file) = client.config_file(scope, context) else {
        return Err(SetupError::NoProjectFile { client: client.title() }.into());
    };
    if *take_over && scope == SetupScope::Project {
        return Err(SetupError::TakeOverFromFolder.into());
    }
    let before = file::read_text(&file, CONFIG_FILE_BYTES).map_err(ChangeError::Read)?.map(|text| text.text);
    let source = Source::from_path(&file);
    let table = ServerTable::for_client(client, before.as_deref());
    let entries = table.read_entries(&source, before.as_deref().unwrap_or_default())?;
    let entry = command.to_entry(client, table.is_nested());
    let (gateways, others): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|(_, entry)| is_gateway_entry(entry, context.loaded));
    if others.iter().any(|(name, _)| name == GATEWAY_NAME) {
        return Err(SetupError::GatewayNameTaken { file }.into());
    }
    // An entry of the user's own making keeps its name.
    let (name, change) = match gateways.first() {
        Some((name, existing)) if has_same_launch(existing, &entry) => (name.clone(), ConnectionChange::None),
        Some((name, _)) => (name.clone(), ConnectionChange::Replace),
        None => (GATEWAY_NAME.to_owned(), ConnectionChange::Add),
    };
    let take_over = match (take_over, before.as_deref()) {
        (true, Some(text)) => Some(plan_take_over(client, &source, text, &others, context)),
        (true, None) => Some(TakeOver::default()),
        (false, _) => None,
    };
    let own_servers = others.into_iter().map(|(name, _)| name).collect();
    let folder_servers = list_folder_servers(client, scope, context);
    Ok(ClientConnection {
        client,
        scope,
        file,
        name,
        entry,
        change,
        own_servers,
        folder_servers,
        take_over,
        before,
    })
}

/// The servers of local and project scope in files that Claude Code reads too. No other client reads them.
fn list_folder_servers(client: ClientProgram, scope: SetupScope, context: &SetupContext<'_>) -> Vec<String> {
    if client != ClientProgram::ClaudeCode {
        return Vec::new();
    }
    let is_read_by_client = |server: &&PlannedServer| match server.scope {
        Scope::Local => server.origin.source.path() == Some(context.paths.claude.json.as_path()),
        // With project scope these are the client's own servers.
        Scope::Project => scope == SetupScope::User,
        _ => false,
    };
    let runs = |server: &&PlannedServer| server.status == PlanStatus::Ready;
    let servers = context.loaded.plan.servers.iter().filter(runs).filter(is_read_by_client);
    servers.map(|server| server.name.as_str().to_owned()).collect()
}

/// Whether an existing entry starts the same command; its other fields belong to the user.
fn has_same_launch(existing: &Value, entry: &Value) -> bool {
    ["command", "args"].iter().all(|field| existing.get(field) == entry.get(field))
}

/// Writes a planned connection, with a backup of every file before it is changed.
///
/// # Errors
/// A [`ChangeError`]; the client's file is unchanged then, and servers that were moved are moved back.
pub fn write_connection(plan: &ClientConnection, context: &SetupContext<'_>) -> Result<(), ChangeError> {
    if !plan.has_changes() {
        return Ok(());
    }
    let folder = RecordFolder::for_file(context.paths, plan.client, plan.scope, &plan.file);
    let earlier = folder.read_record()?;
    let taken = match &plan.take_over {
        Some(taken) => add_moved_servers(taken, earlier.as_ref(), &folder, context)?,
        None => earlier.as_ref().and_then(|record| record.files.get(1).cloned()),
    };
    let written = write_client_file(plan, earlier.as_ref(), taken.as_ref(), &folder, context.loaded);
    if written.is_err()
        && plan.take_over.is_some()
        && let Some(taken) = &taken
    {
        restore_file(taken, |_| MCP_SERVERS, &folder, context)?;
    }
    written
}

fn write_client_file(
    plan: &ClientConnection,
    earlier: Option<&SetupRecord>,
    taken: Option<&ChangedFile>,
    folder: &RecordFolder,
    loaded: &LoadedConfig,
) -> Result<(), ChangeError> {
    let source = Source::from_path(&plan.file);
    let created_folders = missing_folders(&plan.file);
    let creation = match plan.scope {
        SetupScope::User => Creation::PRIVATE,
        SetupScope::Project => Creation::SHARED,
    };
    let written = file::update_file(&plan.file, creation, CONFIG_FILE_BYTES, |text| {
        if text != plan.before.as_deref() {
            return Err(SetupError::ChangedMeanwhile { file: plan.file.clone() }.into());
        }
        let table = ServerTable::for_client(plan.client, text);
        let new = table.edit_text(&source, text, &plan.edits())?;
        let first = earlier.and_then(|record| record.files.first());
        let changed = record_change(plan, (text, &new), created_folders)
            .write_backup(first, table, text, folder, loaded)?;
        folder.write_record(&SetupRecord {
            client: plan.client.as_str().to_owned(),
            scope: plan.scope,
            files: std::iter::once(changed).chain(taken.cloned()).collect(),
        })?;
        Ok(new)
    });
    written.map(|_| ()).map_err(ChangeError::from_update)
}

/// The record of the change of the client's file, from the text before it to the text after it.
fn record_change(
    plan: &ClientConnection,
    (before, after): (Option<&str>, &str),
    created_folders: Vec<PathBuf>,
) -> ChangedFile {
    let moved = plan.take_over.iter().flat_map(|taken| &taken.moved).map(|server| server.name.clone());
    ChangedFile {
        file: plan.file.clone(),
        backup: before.map(|_| backup_name(&plan.file)),
        after: digest_text(after),
        added: vec![(plan.name.clone(), digest_entry(&plan.entry))],
        removed: moved.collect(),
        created_folders,
    }
}
