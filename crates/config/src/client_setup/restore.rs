//! Undo of a connection: puts files back from their backups, or takes out only our entries.

use std::path::PathBuf;

use mcparley_model::limits::CONFIG_FILE_BYTES;
use mcparley_platform::file::{self, Creation};
use serde::Serialize;

use super::gateway_entry::is_gateway_entry;
use super::server_table::{MCP_SERVERS, ServerTable};
use super::setup_record::{ChangedFile, RecordFolder};
use super::{ClientProgram, SetupContext, SetupScope};
use crate::change_error::ChangeError;
use crate::setup_error::SetupError;

/// A file that an undo has put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestoredFile {
    /// The file.
    pub file: PathBuf,
    /// The kind of restoration.
    pub restoration: Restoration,
    /// Entries that were changed since, and were left alone.
    pub left: Vec<String>,
}

/// The kind of restoration of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restoration {
    /// The file is byte for byte the same as before.
    Restored,
    /// The file was not there before and is removed.
    Removed,
    /// Another program changed the file since, so only our entries were taken out.
    EntriesOnly,
    /// The file is gone already.
    Missing,
}

/// Undoes the connection of a client: its own file first, then the servers that were taken over.
///
/// # Errors
/// When nothing was connected, or a file cannot be written.
pub fn undo_connection(
    client: ClientProgram,
    scope: SetupScope,
    context: &SetupContext<'_>,
) -> Result<Vec<RestoredFile>, ChangeError> {
    let Some(file) = client.config_file(scope, context) else {
        return Err(SetupError::NoProjectFile { client: client.title() }.into());
    };
    let folder = RecordFolder::for_file(context.paths, client, scope, &file);
    let Some(record) = folder.read_record()? else {
        let entry = find_gateway(client, &file, context)?;
        return Err(SetupError::NotConnected { file, entry }.into());
    };
    let mut restored = Vec::new();
    for (index, changed) in record.files.iter().enumerate() {
        restored.push(match index {
            0 => restore_file(changed, |text| ServerTable::for_client(client, Some(text)), &folder, context)?,
            _ => restore_file(changed, |_| MCP_SERVERS, &folder, context)?,
        });
    }
    folder.remove_all(&record)?;
    Ok(restored)
}

/// Restores one file.
pub(super) fn restore_file(
    changed: &ChangedFile,
    table: impl Fn(&str) -> ServerTable,
    folder: &RecordFolder,
    context: &SetupContext<'_>,
) -> Result<RestoredFile, ChangeError> {
    let report = |restoration| RestoredFile { file: changed.file.clone(), restoration, left: Vec::new() };
    let current = file::read_text(&changed.file, CONFIG_FILE_BYTES).map_err(ChangeError::Read)?;
    if current.is_none() {
        return Ok(report(Restoration::Missing));
    }
    let before = folder.read_backup(changed)?;
    if before.is_none() {
        let removed =
            file::remove_file_if(&changed.file, CONFIG_FILE_BYTES, |text| changed.is_unchanged(text));
        if removed.map_err(ChangeError::from_removal)? {
            file::remove_empty_folders(changed.created_folders.iter().map(PathBuf::as_path));
            return Ok(report(Restoration::Removed));
        }
    }
    let mut outcome = report(Restoration::Restored);
    let written = file::update_file(&changed.file, Creation::PRIVATE, CONFIG_FILE_BYTES, |text| {
        let text = text.unwrap_or_default();
        match &before {
            Some(before) if changed.is_unchanged(text) => Ok(before.clone()),
            before => {
                let table = table(text);
                outcome.restoration = Restoration::EntriesOnly;
                outcome.left = changed.changed_names(table, text, context.loaded)?;
                Ok(changed.undo_edits(table, text, before.as_deref(), context.loaded)?)
            }
        }
    });
    written.map(|_| outcome).map_err(ChangeError::from_update)
}

/// The name of an entry that starts the gateway, if the file has one.
pub(super) fn find_gateway(
    client: ClientProgram,
    file: &std::path::Path,
    context: &SetupContext<'_>,
) -> Result<Option<String>, ChangeError> {
    let text = file::read_text(file, CONFIG_FILE_BYTES).map_err(ChangeError::Read)?;
    let Some(text) = text else { return Ok(None) };
    let table = ServerTable::for_client(client, Some(&text.text));
    let entries = table.read_entries(&mcparley_model::scope::Source::from_path(file), &text.text)?;
    let gateway = entries.into_iter().find(|(_, entry)| is_gateway_entry(entry, context.loaded));
    Ok(gateway.map(|(name, _)| name))
}
