//! Setup record: the files that a connection changed, with a backup of each, in our state folder.
//!
//! A backup may hold the secrets of its original, so record and backups are readable by the owner only. They
//! are written before the files are changed: after a crash an undo finds either the old text, which it leaves
//! alone, or the new one.

use std::path::{Path, PathBuf};

use crate::json_editor::EditError;
use mcparley_model::hex::Hex;
use mcparley_model::limits::CONFIG_FILE_BYTES;
use mcparley_model::scope::Source;
use mcparley_platform::file::{self, Creation};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::gateway_entry::is_gateway_entry;
use super::server_table::{ServerTable, TableEdit};
use super::{ClientProgram, SetupScope};
use crate::change_error::ChangeError;
use crate::paths::Paths;
use crate::setup_error::SetupError;
use crate::sources::LoadedConfig;

/// The record of one connected client file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SetupRecord {
    pub(super) client: String,
    pub(super) scope: SetupScope,
    /// The changed files: the client's own, then ours if servers were taken over.
    pub(super) files: Vec<ChangedFile>,
}

/// A file that was changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ChangedFile {
    pub(super) file: PathBuf,
    /// The name of the backup; absent if there was no file.
    pub(super) backup: Option<String>,
    /// The digest of the text after the change.
    pub(super) after: String,
    /// The entries that were added, with the digest of each.
    pub(super) added: Vec<(String, String)>,
    /// The entries that were removed.
    pub(super) removed: Vec<String>,
    /// The folders that were created for the file, outermost first.
    pub(super) created_folders: Vec<PathBuf>,
}

/// The folder of one record and its backups.
#[derive(Clone, Debug)]
pub(super) struct RecordFolder(PathBuf);

impl RecordFolder {
    /// The folder for `file` of `client`.
    pub(super) fn for_file(paths: &Paths, client: ClientProgram, scope: SetupScope, file: &Path) -> Self {
        let digest = digest_text(&file.to_string_lossy());
        let short = digest.get(..12).unwrap_or(&digest);
        Self(paths.client_setups.join(format!("{client}-{}-{short}", scope.as_str())))
    }

    /// The path of a backup.
    pub(super) fn backup_path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Reads the record; `None` if there is none.
    pub(super) fn read_record(&self) -> Result<Option<SetupRecord>, ChangeError> {
        let path = self.record_path();
        let text = file::read_text(&path, CONFIG_FILE_BYTES).map_err(ChangeError::Read)?;
        let Some(text) = text else { return Ok(None) };
        match serde_json::from_str(&text.text) {
            Ok(record) => Ok(Some(record)),
            Err(_) => Err(SetupError::BrokenRecord { file: path }.into()),
        }
    }

    /// Reads the text of a changed file before the change; `None` if there was no file.
    pub(super) fn read_backup(&self, changed: &ChangedFile) -> Result<Option<String>, ChangeError> {
        let Some(name) = &changed.backup else { return Ok(None) };
        let path = self.0.join(name);
        let text = file::read_text(&path, CONFIG_FILE_BYTES).map_err(ChangeError::Read)?;
        text.map(|text| Some(text.text)).ok_or_else(|| SetupError::BrokenRecord { file: path }.into())
    }

    /// Writes the record.
    pub(super) fn write_record(&self, record: &SetupRecord) -> Result<(), ChangeError> {
        let path = self.record_path();
        match serde_json::to_string_pretty(record) {
            Ok(text) => write_private(&path, &text),
            // A path that is not UTF-8.
            Err(_) => Err(SetupError::BrokenRecord { file: path }.into()),
        }
    }

    /// Removes the record and its backups.
    pub(super) fn remove_all(&self, record: &SetupRecord) -> Result<(), ChangeError> {
        let backups = record.files.iter().filter_map(|changed| changed.backup.as_deref());
        for path in backups.map(|name| self.0.join(name)).chain([self.record_path()]) {
            file::remove_file_if(&path, CONFIG_FILE_BYTES, |_| true).map_err(ChangeError::from_removal)?;
        }
        file::remove_empty_folders([self.0.as_path()].into_iter());
        Ok(())
    }

    fn record_path(&self) -> PathBuf {
        self.0.join("record.json")
    }
}

impl ChangedFile {
    /// Writes the backup of a file that is about to change; `before` is its text.
    ///
    /// After an earlier change the first backup counts. If another program has changed the file in between, the
    /// backup becomes the text as an undo of the earlier change would leave it.
    pub(super) fn write_backup(
        self,
        earlier: Option<&Self>,
        table: ServerTable,
        before: Option<&str>,
        folder: &RecordFolder,
        loaded: &LoadedConfig,
    ) -> Result<Self, ChangeError> {
        let Some(text) = before else { return Ok(self) };
        let Some(earlier) = earlier else {
            write_private(&folder.backup_path(&backup_name(&self.file)), text)?;
            return Ok(self);
        };
        let names = |one: &[String], other: &[String]| [one, other].concat();
        let merged = Self {
            removed: names(&earlier.removed, &self.removed),
            created_folders: earlier.created_folders.clone(),
            ..self
        };
        if earlier.is_unchanged(text) {
            let added =
                earlier.added.iter().filter(|(name, _)| !merged.added.iter().any(|(new, _)| new == name));
            let added = added.cloned().chain(merged.added.clone()).collect();
            return Ok(Self { backup: earlier.backup.clone(), added, ..merged });
        }
        let first = folder.read_backup(earlier)?;
        let undone = earlier.undo_edits(table, text, first.as_deref(), loaded)?;
        write_private(&folder.backup_path(&backup_name(&merged.file)), &undone)?;
        Ok(Self { backup: Some(backup_name(&merged.file)), ..merged })
    }

    /// The text without this change, if other changes have been made to it since.
    ///
    /// Entries that were added are removed unless they were changed since, entries that were removed are put
    /// back unless there are others of the name.
    pub(super) fn undo_edits(
        &self,
        table: ServerTable,
        text: &str,
        before: Option<&str>,
        loaded: &LoadedConfig,
    ) -> Result<String, EditError> {
        let source = Source::from_path(self.file.as_path());
        let current = table.read_entries(&source, text)?;
        let earlier =
            before.map(|before| table.read_entries(&source, before)).transpose()?.unwrap_or_default();
        let has = |entries: &[(String, Value)], name: &str| entries.iter().any(|(found, _)| found == name);
        let mut edits = Vec::new();
        for name in self.removable_names(&current, loaded) {
            edits.push(match before.filter(|_| has(&earlier, name)) {
                Some(from) => TableEdit::Restore { name, from },
                None => TableEdit::Remove(name),
            });
        }
        if let Some(from) = before {
            let gone = self.removed.iter().filter(|name| !has(&current, name));
            edits.extend(gone.map(|name| TableEdit::Restore { name, from }));
        }
        if !before.is_some_and(|before| table.exists_in(&source, before)) {
            edits.push(TableEdit::DropEmpty);
        }
        table.edit_text(&source, Some(text), &edits)
    }

    /// The added entries that are still as they were written, or that still start the gateway.
    fn removable_names(&self, current: &[(String, Value)], loaded: &LoadedConfig) -> Vec<&str> {
        let is_ours =
            |entry: &Value, digest: &str| digest_entry(entry) == digest || is_gateway_entry(entry, loaded);
        let added = self.added.iter().filter(|(name, digest)| {
            current.iter().any(|(found, entry)| found == name && is_ours(entry, digest))
        });
        added.map(|(name, _)| name.as_str()).collect()
    }

    /// The added entries that were changed since, and that an undo leaves alone.
    pub(super) fn changed_names(
        &self,
        table: ServerTable,
        text: &str,
        loaded: &LoadedConfig,
    ) -> Result<Vec<String>, EditError> {
        let current = table.read_entries(&Source::from_path(self.file.as_path()), text)?;
        let removable = self.removable_names(&current, loaded);
        let added = self.added.iter().map(|(name, _)| name);
        let is_left = |name: &&String| {
            current.iter().any(|(found, _)| found == *name) && !removable.contains(&name.as_str())
        };
        Ok(added.filter(is_left).cloned().collect())
    }

    /// Whether a text is the one that the change left behind.
    pub(super) fn is_unchanged(&self, text: &str) -> bool {
        digest_text(text) == self.after
    }
}

/// The digest of an entry, to recognize it later, whatever the order of its fields.
pub(super) fn digest_entry(entry: &Value) -> String {
    let mut sorted = entry.clone();
    sorted.sort_all_objects();
    digest_text(&sorted.to_string())
}

/// The digest of a text.
pub(super) fn digest_text(text: &str) -> String {
    Hex(&Sha256::digest(text.as_bytes())).to_string()
}

/// The folders above `file` that do not exist, outermost first.
pub(super) fn missing_folders(file: &Path) -> Vec<PathBuf> {
    let missing = file.ancestors().skip(1).take_while(|folder| !folder.exists());
    let mut folders: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    folders.reverse();
    folders
}

/// The name of the backup of a file.
pub(super) fn backup_name(file: &Path) -> String {
    format!("{}.before", file.file_name().unwrap_or_default().to_string_lossy())
}

fn write_private(path: &Path, text: &str) -> Result<(), ChangeError> {
    let written = file::update_file(path, Creation::PRIVATE, CONFIG_FILE_BYTES, |_| Ok(text.to_owned()));
    written.map(|_| ()).map_err(ChangeError::from)
}
