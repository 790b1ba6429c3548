//! Takes over servers that other programs have configured (C16).
//!
//! Finding and showing come first, adding second and only what was chosen: [`find`] reads, [`crate::change::add`]
//! writes. How each program writes its servers down is known by `model::import`.

use std::path::Path;

use mcparley_model::explain::Explain;
use mcparley_model::import::{App, Harvest, ImportPlaces};
use mcparley_model::limits::CONFIG_FILE_BYTES;
use mcparley_model::scope::{Origin, Source};
use mcparley_platform::file;

use crate::sources::{Problem, Severity};

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
pub fn find(apps: &[App], places: &ImportPlaces<'_>) -> Search {
    let mut search = Search::default();
    for app in apps {
        for path in app.files(places) {
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
