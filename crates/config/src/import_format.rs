//! Converts servers from the configuration files of other programs into entries of our own format.
//!
//! Pure: the caller reads the files that [`App::config_files`] names, shows the [`ImportOutcome`] and writes
//! the entries that the user chose. Equivalent fields are rewritten; a field without an equivalent becomes a
//! note; an entry that cannot be imported is listed with its reason. Values may be secrets, so neither notes
//! nor reasons nor errors ever quote one.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};

use mcparley_model::document::{JsonKind, SyntaxError};
use mcparley_model::explain::Explain;
use mcparley_model::scope::{ConfigOrigin, Source};

pub use app::App;
pub use paths::{ImportPaths, Os};

use declaration::{ForeignDeclaration, ForeignDeclarations};
use entry::ForeignEntry;
use reason::ImportRefusal;
use variables::VariableSyntax;

mod app;
mod codex;
mod declaration;
mod dialect;
mod draft;
mod entry;
mod inputs;
mod oauth;
mod paths;
mod reason;
mod references;
mod servers;
mod tables;
mod variables;

#[cfg(test)]
mod tests;

/// Parses the servers declared in one of `app`'s files.
///
/// A text without any servers gives an empty outcome: most settings files have none.
///
/// # Errors
/// An [`ImportError`] when the text cannot be parsed; an invalid entry is in [`ImportOutcome::skipped`]
/// instead.
pub(crate) fn parse_servers(app: App, source: Source, text: &str) -> Result<ImportOutcome, ImportError> {
    let declarations = ForeignDeclarations::find_in_text(app, source, text)?;
    let last: HashMap<String, usize> =
        declarations.servers.iter().enumerate().map(|(index, server)| (server.name.clone(), index)).collect();
    let mut harvest = ImportOutcome::default();
    for (index, server) in declarations.servers.iter().enumerate() {
        let outcome = if last.get(&server.name) == Some(&index) {
            import_server(app, &declarations, server)
        } else {
            Err(ImportRefusal::new("the same name is declared again further down, and the last one counts"))
        };
        match outcome {
            Ok(imported) => harvest.found.push(imported),
            Err(reason) => harvest.skipped.push(SkippedServer {
                name: server.name.clone(),
                origin: server.origin.clone(),
                reason: reason.into_text(),
            }),
        }
    }
    Ok(harvest)
}

/// The entries in `[mcp_servers.NAME]` of a TOML text, as JSON, in the order of the file.
///
/// # Errors
/// A [`SyntaxError`]; a text whose `mcp_servers` is no table has no entries.
pub(crate) fn toml_entries(source: &Source, text: &str) -> Result<Vec<(String, Value)>, SyntaxError> {
    match tables::parse_toml_servers(source, text) {
        Ok(servers) => Ok(servers.into_iter().map(|server| (server.name, server.value)).collect()),
        Err(ImportError::Syntax(error)) => Err(error),
        Err(ImportError::Shape { .. }) => Ok(Vec::new()),
    }
}

fn import_server(
    app: App,
    declarations: &ForeignDeclarations,
    server: &ForeignDeclaration,
) -> Result<ImportedServer, ImportRefusal> {
    if let Some(switch) = declarations.disabling_field(&server.name) {
        return Err(ImportRefusal::new(format!("switched off there by `{switch}`")));
    }
    let mut entry =
        ForeignEntry::new(server.value.clone(), VariableSyntax::for_app(app, &declarations.inputs))?;
    entry.refuse_disabled()?;
    let draft = dialect::draft_entry(app, &mut entry)?;
    Ok(ImportedServer {
        name: server.name.clone(),
        entry: draft.into_entry(),
        origin: server.origin.clone(),
        notes: entry.into_notes(),
    })
}

/// The outcome of importing one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOutcome {
    /// The servers that can be added, in the order of the file.
    pub found: Vec<ImportedServer>,
    /// The servers that cannot be added, each with the reason.
    pub skipped: Vec<SkippedServer>,
}

/// A server that can be added.
#[derive(Clone, PartialEq)]
pub struct ImportedServer {
    /// The name as written in the foreign file.
    pub name: String,
    /// The entry in our format; values are copied as they are, secrets included.
    pub entry: Map<String, Value>,
    /// The place of the declaration.
    pub origin: ConfigOrigin,
    /// Notes for the user about the conversion; they never quote a value.
    pub notes: Vec<String>,
}

impl fmt::Debug for ImportedServer {
    /// Prints only the names of the entry's fields: their values may be secrets.
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
pub struct SkippedServer {
    /// The name as written in the foreign file.
    pub name: String,
    /// The place of the declaration.
    pub origin: ConfigOrigin,
    /// The reason; it names the field and never quotes a value.
    pub reason: String,
}

/// The error of a file from which no server can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ImportError {
    /// A syntax error in the app's file format.
    #[error("{0}")]
    Syntax(SyntaxError),
    /// The field that should hold the servers has another JSON type.
    #[error("{origin}: {field} is {found}, not an object")]
    Shape {
        /// The field that should have been an object, worded for messages.
        field: String,
        /// The JSON type that was found.
        found: JsonKind,
        /// The place of the field.
        origin: ConfigOrigin,
    },
}

impl Explain for ImportError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax(error) => Some(format!(
                "fix line {} of {} and import again; nothing was imported from it",
                error.place.line, error.source_text
            )),
            Self::Shape { origin, .. } => {
                Some(format!("check that {} is the file of the program you named", origin.source))
            }
        }
    }
}
