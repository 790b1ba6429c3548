//! Reads the servers other programs have declared and writes them as entries of our own files (C16).
//!
//! Pure: the caller finds and reads the files that [`App::files`] names, shows the [`Harvest`] and writes
//! what the person chose. What an app says in another way is rewritten; what cannot be said here is a note;
//! an entry that cannot be taken is listed with its reason. Values may be secrets, so neither notes nor
//! reasons nor errors ever quote one.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::document::{Kind, SyntaxError};
use crate::explain::Explain;
use crate::scope::{Origin, Source};

pub use app::App;
pub use places::{ImportPlaces, Os};

use declaration::{Declaration, Declarations};
use entry::Entry;
use reason::Reason;
use variables::Syntax;

mod app;
mod codex;
mod declaration;
mod dialect;
mod draft;
mod entry;
mod inputs;
mod oauth;
mod places;
mod reason;
mod references;
mod servers;
mod tables;
mod variables;

#[cfg(test)]
mod tests;

/// Reads the servers declared in one of `app`'s files.
///
/// A text without any servers gives an empty harvest: most settings files have none.
///
/// # Errors
/// An [`ImportError`] when the text cannot be read at all; a bad entry is in [`Harvest::skipped`] instead.
pub fn read(app: App, source: Source, text: &str) -> Result<Harvest, ImportError> {
    let declarations = Declarations::find(app, source, text)?;
    let last: HashMap<String, usize> =
        declarations.servers.iter().enumerate().map(|(index, server)| (server.name.clone(), index)).collect();
    let mut harvest = Harvest::default();
    for (index, server) in declarations.servers.iter().enumerate() {
        let outcome = if last.get(&server.name) == Some(&index) {
            taken(app, &declarations, server)
        } else {
            Err(Reason::new("the same name is declared again further down, and the last one counts"))
        };
        match outcome {
            Ok(imported) => harvest.found.push(imported),
            Err(reason) => harvest.skipped.push(Skipped {
                name: server.name.clone(),
                origin: server.origin.clone(),
                reason: reason.into_text(),
            }),
        }
    }
    Ok(harvest)
}

fn taken(app: App, declarations: &Declarations, server: &Declaration) -> Result<Imported, Reason> {
    if let Some(switch) = declarations.switched_off(&server.name) {
        return Err(Reason::new(format!("switched off there by `{switch}`")));
    }
    let mut entry = Entry::new(server.value.clone(), Syntax::of(app, &declarations.inputs))?;
    entry.refuse_disabled()?;
    let draft = dialect::draft(app, &mut entry)?;
    Ok(Imported {
        name: server.name.clone(),
        entry: draft.into_entry(),
        origin: server.origin.clone(),
        notes: entry.into_notes(),
    })
}

/// What one text yielded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Harvest {
    /// The servers that can be added, in the order they are written.
    pub found: Vec<Imported>,
    /// The servers that cannot, with the reason.
    pub skipped: Vec<Skipped>,
}

/// A server that can be added.
#[derive(Clone, PartialEq)]
pub struct Imported {
    /// Its name as it is written there.
    pub name: String,
    /// Its entry in our format; values are carried over as they are, secrets included.
    pub entry: Map<String, Value>,
    /// Where it is declared.
    pub origin: Origin,
    /// What a person should know before adding it; never quotes a value.
    pub notes: Vec<String>,
}

impl fmt::Debug for Imported {
    /// Only the names of the entry's fields: their values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Imported")
            .field("name", &self.name)
            .field("fields", &self.entry.keys().collect::<Vec<_>>())
            .field("origin", &self.origin)
            .field("notes", &self.notes)
            .finish()
    }
}

/// A server that cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its name as it is written there.
    pub name: String,
    /// Where it is declared.
    pub origin: Origin,
    /// Why not; names the field and never quotes a value.
    pub reason: String,
}

/// A text no server can be read from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// It is not the language the app writes.
    #[error("{0}")]
    Syntax(SyntaxError),
    /// It is, but what should hold the servers holds something else.
    #[error("{origin}: {field} is {found}, not an object")]
    Shape {
        /// What should have been an object, worded for messages.
        field: String,
        /// What it is.
        found: Kind,
        /// Where it stands.
        origin: Origin,
    },
}

impl Explain for ImportError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax(error) => Some(format!(
                "mend line {} of {} and import again; nothing was taken from it",
                error.place.line, error.source_text
            )),
            Self::Shape { origin, .. } => {
                Some(format!("check that {} is the file of the program you named", origin.source))
            }
        }
    }
}
