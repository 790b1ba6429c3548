//! Take-over: the client's own servers move into our user scope, so that none runs twice.
//!
//! They go into the user's settings file and not into `~/.claude.json`, because Claude Code reads the latter
//! and would start them beside the gateway.

use mcparley_model::approval::Provenance;
use mcparley_model::limits::CONFIG_FILE_BYTES;
use mcparley_model::name::{ServerName, check_new_server_name, normalize_server};
use mcparley_model::scope::{ConfigOrigin, Scope, Source};
use mcparley_model::signature::Signature;
use mcparley_platform::file::{self, Creation};
use serde_json::{Map, Value};

use super::server_table::{MCP_SERVERS, ServerTable, TableEdit};
use super::setup_record::{
    ChangedFile, RecordFolder, SetupRecord, backup_name, digest_entry, digest_text, missing_folders,
};
use super::{ClientProgram, SetupContext};
use crate::change::{FileChoice, NewServer, WriteScope, check_new_server, with_type};
use crate::change_error::ChangeError;
use crate::import_format::{App, ImportedServer, SkippedServer, parse_servers};

/// The servers that move, and those that stay with the client.
#[derive(Clone, Debug, Default)]
pub struct TakeOver {
    /// The servers that move.
    pub moved: Vec<MovedServer>,
    /// The servers that stay, each with the reason.
    pub left: Vec<SkippedServer>,
}

/// A server that moves into our user scope.
#[derive(Clone)]
pub struct MovedServer {
    /// Its name in the client's file.
    pub name: String,
    /// Its name in user scope.
    pub new_name: String,
    /// The entry to add; absent if user scope has the same server already.
    pub entry: Option<Map<String, Value>>,
    /// Notes for the user about the conversion.
    pub notes: Vec<String>,
}

impl std::fmt::Debug for MovedServer {
    /// Omits the entry, which may hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MovedServer")
            .field("name", &self.name)
            .field("new_name", &self.new_name)
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}

/// Plans the move of the servers in `text`; `others` are its entries without the gateway.
pub(super) fn plan_take_over(
    client: ClientProgram,
    source: &Source,
    text: &str,
    others: &[(String, Value)],
    context: &SetupContext<'_>,
) -> TakeOver {
    match client {
        ClientProgram::ClaudeCode => move_claude_servers(source, others, context),
        ClientProgram::Importable(_) if ServerTable::for_client(client, Some(text)).is_nested() => {
            leave_all(source, others, "the format of opencode 2 cannot be converted yet")
        }
        ClientProgram::Importable(app) => move_imported_servers(app, source, text, others, context),
    }
}

/// Moves entries as they are: Claude Code's format is ours.
fn move_claude_servers(source: &Source, others: &[(String, Value)], context: &SetupContext<'_>) -> TakeOver {
    let settings = context.paths.user_settings();
    let settled = |name: &str| {
        let declared = context.loaded.plan.servers.iter();
        declared
            .filter(|server| server.name.as_str() == name)
            .any(|server| server.origin.source.path() == Some(settings.as_path()))
    };
    let mut taken = TakeOver::default();
    for (name, entry) in others {
        match entry.as_object().filter(|_| !settled(name)) {
            Some(entry) => taken.moved.push(MovedServer {
                name: name.clone(),
                new_name: name.clone(),
                entry: Some(entry.clone()),
                notes: Vec::new(),
            }),
            None => taken.left.push(skip_server(
                source,
                name,
                "user scope has another entry of this name".to_owned(),
            )),
        }
    }
    taken
}

fn move_imported_servers(
    app: App,
    source: &Source,
    text: &str,
    others: &[(String, Value)],
    context: &SetupContext<'_>,
) -> TakeOver {
    let is_other = |name: &str| others.iter().any(|(other, _)| other == name);
    let harvest = match parse_servers(app, source.clone(), text) {
        Ok(harvest) => harvest,
        Err(error) => return leave_all(source, others, &error.to_string()),
    };
    let mut taken = TakeOver::default();
    taken.left.extend(harvest.skipped.into_iter().filter(|skipped| is_other(&skipped.name)));
    for imported in harvest.found.into_iter().filter(|imported| is_other(&imported.name)) {
        match move_imported(&imported, context) {
            Ok(moved) => taken.moved.push(moved),
            Err(reason) => taken.left.push(skip_server(source, &imported.name, reason)),
        }
    }
    taken
}

fn move_imported(imported: &ImportedServer, context: &SetupContext<'_>) -> Result<MovedServer, String> {
    let new_name: String = normalize_server(&ServerName::new(&imported.name)).chars().take(64).collect();
    let moved = |entry| MovedServer {
        name: imported.name.clone(),
        new_name: new_name.clone(),
        entry,
        notes: imported.notes.clone(),
    };
    let name = check_new_server_name(&new_name).map_err(|error| error.to_string())?;
    let new = NewServer {
        name: new_name.clone(),
        entry: imported.entry.clone(),
        scope: WriteScope::User,
        file: Some(FileChoice::Settings),
        replace: false,
        provenance: Provenance::Own,
    };
    let (raw, _) = check_new_server(context.run_options, context.loaded, &name, &new)
        .map_err(|error| error.to_string())?;
    let mut declared = context.loaded.plan.servers.iter();
    let existing = declared.rfind(|server| server.scope == Scope::User && server.name == name);
    let Some(existing) = existing else { return Ok(moved(Some(with_type(&imported.entry, &raw)))) };
    let config = raw.to_config(&context.run_options.env, &imported.origin).ok();
    let signature = |config| Signature::from_config(config);
    match (config.as_ref().map(signature), existing.config.as_ref().map(signature)) {
        (Some(one), Some(other)) if one == other => Ok(moved(None)),
        _ => Err(format!("user scope has another server named `{new_name}`")),
    }
}

fn leave_all(source: &Source, others: &[(String, Value)], reason: &str) -> TakeOver {
    let left = others.iter().map(|(name, _)| skip_server(source, name, reason.to_owned())).collect();
    TakeOver { moved: Vec::new(), left }
}

fn skip_server(source: &Source, name: &str, reason: String) -> SkippedServer {
    SkippedServer { name: name.to_owned(), origin: ConfigOrigin::for_source(source.clone()), reason }
}

/// Adds the moved servers to user scope in one write; returns the record of the change.
pub(super) fn add_moved_servers(
    taken: &TakeOver,
    earlier: Option<&SetupRecord>,
    folder: &RecordFolder,
    context: &SetupContext<'_>,
) -> Result<Option<ChangedFile>, ChangeError> {
    let earlier = earlier.and_then(|record| record.files.get(1));
    let entries: Vec<(&str, Value)> = taken
        .moved
        .iter()
        .filter_map(|server| Some((server.new_name.as_str(), Value::Object(server.entry.clone()?))))
        .collect();
    if entries.is_empty() {
        return Ok(earlier.cloned());
    }
    let settings = context.paths.user_settings();
    let source = Source::from_path(settings.as_path());
    let created_folders = missing_folders(&settings);
    let mut changed = None;
    let written = file::update_file(&settings, Creation::PRIVATE, CONFIG_FILE_BYTES, |text| {
        let edits: Vec<TableEdit<'_>> =
            entries.iter().map(|(name, entry)| TableEdit::Set(name, entry)).collect();
        let new = MCP_SERVERS.edit_text(&source, text, &edits)?;
        let fresh = ChangedFile {
            file: settings.clone(),
            backup: text.map(|_| backup_name(&settings)),
            after: digest_text(&new),
            added: entries.iter().map(|(name, entry)| ((*name).to_owned(), digest_entry(entry))).collect(),
            removed: Vec::new(),
            created_folders,
        };
        changed = Some(fresh.write_backup(earlier, MCP_SERVERS, text, folder, context.loaded)?);
        Ok(new)
    });
    written.map(|_| changed).map_err(ChangeError::from_update)
}
