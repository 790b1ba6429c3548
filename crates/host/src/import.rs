//! Takes over servers that other programs have configured (C16).
//!
//! Finding and showing come first, adding second and only what was chosen: [`find`] reads, [`crate::change::add`]
//! writes. How each program writes its servers down is known by `model::import`.

use std::path::Path;

use mcparley_model::config::{RawServer, Transport};
use mcparley_model::document::Document;
use mcparley_model::explain::Explain;
use mcparley_model::import::{App, Harvest, ImportPlaces};
use mcparley_model::limits::CONFIG_FILE_BYTES;
use mcparley_model::plan::SkipReason;
use mcparley_model::program::starts_itself;
use mcparley_model::scope::{Origin, Source};
use mcparley_platform::file;
use serde_json::Value;

use crate::sources::{Loaded, Problem, Severity};

pub use mcparley_model::import::{App as Program, Imported, Os, Skipped};

/// What one file of another program holds.
#[derive(Clone, Debug)]
pub struct Found {
    /// The program.
    pub app: App,
    /// Its file.
    pub source: Source,
    /// The servers in it.
    pub harvest: Harvest,
}

/// What was found, and which files could not be read.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The files with servers.
    pub found: Vec<Found>,
    /// The files that could not be read.
    pub problems: Vec<Problem>,
}

/// Looks for the servers of `apps` where they usually keep them.
#[must_use]
pub fn find(apps: &[App], paths: &ImportPlaces<'_>) -> Search {
    let mut search = Search::default();
    for app in apps {
        for path in app.files(paths) {
            search.read(*app, &path, Severity::Found);
        }
    }
    search
}

/// Reads the servers of `app` from one file the user named.
#[must_use]
pub fn read(app: App, path: &Path) -> Search {
    let mut search = Search::default();
    search.read(app, path, Severity::Given);
    search
}

impl Search {
    /// Leaves out the entries that would start mcparley itself, and says so.
    pub fn leave_out_itself(&mut self, loaded: &Loaded) {
        for harvest in self.found.iter_mut().map(|found| &mut found.harvest) {
            let found = std::mem::take(&mut harvest.found);
            let (own, others) = found.into_iter().partition(|imported| is_itself(imported, loaded));
            harvest.found = others;
            let left_out = |imported: Imported| Skipped {
                name: imported.name,
                origin: imported.origin,
                reason: SkipReason::StartsItself.to_string(),
            };
            harvest.skipped.extend(Vec::into_iter(own).map(left_out));
        }
    }

    fn read(&mut self, app: App, path: &Path, severity: Severity) {
        let source = Source::file(path);
        let text = match file::read(path, CONFIG_FILE_BYTES) {
            Ok(Some(text)) => text.text,
            Ok(None) if severity == Severity::Found => return,
            Ok(None) => return self.problems.push(Problem::missing(source)),
            Err(error) => return self.problems.push(Problem::unreadable(&error, severity)),
        };
        match mcparley_model::import::read(app, source.clone(), &text) {
            Ok(harvest) if harvest.found.is_empty() && harvest.skipped.is_empty() => {}
            Ok(harvest) => self.found.push(Found { app, source, harvest }),
            Err(error) => self.problems.push(Problem {
                message: error.to_string(),
                origin: Origin::whole(source),
                hint: error.hint(),
                severity,
                may_pass: false,
            }),
        }
    }
}

/// Whether the entry would start mcparley. One that cannot be read yet is judged when it is added.
fn is_itself(imported: &Imported, loaded: &Loaded) -> bool {
    let text = Value::Object(imported.entry.clone()).to_string();
    let document = Document::parse(Source::inline("import"), &text).ok();
    let root = document.as_ref().and_then(Document::root);
    let raw = root.and_then(|root| RawServer::read(&imported.name, root).ok());
    let config = raw.and_then(|raw| raw.to_config(&loaded.env, &imported.origin).ok());
    match config.map(|config| config.transport) {
        Some(Transport::Stdio(stdio)) => starts_itself(&stdio, loaded.programs.as_ref()),
        Some(_) | None => false,
    }
}
