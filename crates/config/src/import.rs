//! Import: finds servers that other programs have configured.
//!
//! [`find_servers`] only reads; [`crate::change::add_server`] then writes the entries that the user chose.
//! The file format of each program is implemented in `crate::import_format`.

use std::path::Path;

use crate::import_format::App;
use crate::plan::SkipReason;
use mcparley_model::config::{RawServer, TransportConfig};
use mcparley_model::document::JsonDocument;
use mcparley_model::explain::Explain;
use mcparley_model::limits::CONFIG_FILE_BYTES;
use mcparley_model::program::starts_mcparley;
use mcparley_model::scope::{ConfigOrigin, Source};
use mcparley_platform::file;
use serde_json::Value;

use crate::sources::{ConfigProblem, LoadedConfig, Severity};

pub use crate::import_format::{
    App as Program, ImportOutcome, ImportPaths, ImportedServer, Os, SkippedServer,
};

/// The servers in one file of another program.
#[derive(Clone, Debug)]
pub struct ImportedFile {
    /// The program.
    pub app: App,
    /// Its file.
    pub source: Source,
    /// The servers in it.
    pub harvest: ImportOutcome,
}

/// The result of an import search: files with servers, and files that could not be read.
#[derive(Clone, Debug, Default)]
pub struct ImportSearch {
    /// The files with servers.
    pub found: Vec<ImportedFile>,
    /// The files that could not be read.
    pub problems: Vec<ConfigProblem>,
}

/// Finds the servers of `apps` in their default files.
#[must_use]
pub fn find_servers(apps: &[App], paths: &ImportPaths<'_>) -> ImportSearch {
    let mut search = ImportSearch::default();
    for app in apps {
        for path in app.config_files(paths) {
            search.read_file(*app, &path, Severity::Found);
        }
    }
    search
}

/// Reads the servers of `app` from one file that the user named.
#[must_use]
pub fn read_servers(app: App, path: &Path) -> ImportSearch {
    let mut search = ImportSearch::default();
    search.read_file(app, path, Severity::Given);
    search
}

impl ImportSearch {
    /// Skips entries that would start mcparley itself, and lists them with that reason.
    pub fn skip_mcparley(&mut self, loaded: &LoadedConfig) {
        for harvest in self.found.iter_mut().map(|found| &mut found.harvest) {
            let found = std::mem::take(&mut harvest.found);
            let (own, others) = found.into_iter().partition(|imported| is_mcparley_entry(imported, loaded));
            harvest.found = others;
            let left_out = |imported: ImportedServer| SkippedServer {
                name: imported.name,
                origin: imported.origin,
                reason: SkipReason::StartsItself.to_string(),
            };
            harvest.skipped.extend(Vec::into_iter(own).map(left_out));
        }
    }

    fn read_file(&mut self, app: App, path: &Path, severity: Severity) {
        let source = Source::from_path(path);
        let text = match file::read_text(path, CONFIG_FILE_BYTES) {
            Ok(Some(text)) => text.text,
            Ok(None) if severity == Severity::Found => return,
            Ok(None) => return self.problems.push(ConfigProblem::missing_file(source)),
            Err(error) => return self.problems.push(ConfigProblem::unreadable_file(&error, severity)),
        };
        match crate::import_format::parse_servers(app, source.clone(), &text) {
            Ok(harvest) if harvest.found.is_empty() && harvest.skipped.is_empty() => {}
            Ok(harvest) => self.found.push(ImportedFile { app, source, harvest }),
            Err(error) => self.problems.push(ConfigProblem {
                message: error.to_string(),
                origin: ConfigOrigin::for_source(source),
                hint: error.hint(),
                severity,
                may_pass: false,
            }),
        }
    }
}

/// Whether the entry would start mcparley. An entry that is not valid yet is checked when it is added.
fn is_mcparley_entry(imported: &ImportedServer, loaded: &LoadedConfig) -> bool {
    let text = Value::Object(imported.entry.clone()).to_string();
    let document = JsonDocument::parse(Source::from_label("import"), &text).ok();
    let root = document.as_ref().and_then(JsonDocument::root);
    let raw = root.and_then(|root| RawServer::from_node(&imported.name, root).ok());
    let config = raw.and_then(|raw| raw.to_config(&loaded.env, &imported.origin).ok());
    match config.map(|config| config.transport) {
        Some(TransportConfig::Stdio(stdio)) => starts_mcparley(&stdio, loaded.programs.as_ref()),
        Some(_) | None => false,
    }
}
