//! Adds and removes servers.

use std::path::PathBuf;

use mcparley_model::config::{ConfigError, RawServer};
use mcparley_model::document::Document;
use mcparley_model::edit::EditError;
use mcparley_model::name::{ServerName, check_new_server_name};
use mcparley_model::plan::{Block, Enterprise, judge_policy};
use mcparley_model::scope::{Origin, Source};
use serde_json::{Map, Value};

use super::{ChangeError, FileChoice, Spot, WriteScope};
use crate::places::Places;
use crate::sources::{Loaded, Wishes};

/// A server to add.
#[derive(Clone)]
pub struct NewServer {
    /// Its name.
    pub name: String,
    /// Its entry, in the form of the file.
    pub entry: Map<String, Value>,
    /// The scope to add it to.
    pub scope: WriteScope,
    /// The file of that scope.
    pub file: FileChoice,
}

impl std::fmt::Debug for NewServer {
    /// Without the entry's values, which may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fields: Vec<&String> = self.entry.keys().collect();
        f.debug_struct("NewServer")
            .field("name", &self.name)
            .field("fields", &fields)
            .field("scope", &self.scope)
            .field("file", &self.file)
            .finish()
    }
}

/// A server that was added.
#[derive(Clone, Debug)]
pub struct Added {
    /// Its name.
    pub name: ServerName,
    /// Its scope.
    pub scope: WriteScope,
    /// The file it was written to, after following links.
    pub file: PathBuf,
    /// What was written.
    pub raw: RawServer,
    /// Why it cannot be used yet, if it cannot: a variable that is not set.
    pub not_yet: Option<ConfigError>,
}

/// A server that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its name.
    pub name: String,
    /// Its scope.
    pub scope: WriteScope,
    /// The files it stood in.
    pub files: Vec<PathBuf>,
}

/// Adds a server.
///
/// Refused when the name or the entry cannot be used, when the name is taken in that scope, and when the
/// policy would never let it run. A variable that is not set yet is no reason to refuse.
///
/// # Errors
/// A [`ChangeError`]; the files are as they were.
pub fn add(places: &Places, wishes: &Wishes, loaded: &Loaded, new: &NewServer) -> Result<Added, ChangeError> {
    let name = check_new_server_name(&new.name)?;
    let (raw, not_yet) = check(wishes, loaded, &name, new)?;
    for choice in [FileChoice::Settings, FileChoice::ClaudeJson] {
        let spot = Spot::servers(places, new.scope, choice);
        if spot.has(name.as_str()) {
            let scope = new.scope.as_str();
            return Err(ChangeError::Exists { name: new.name.clone(), scope, file: spot.file });
        }
    }
    let spot = Spot::servers(places, new.scope, new.file);
    let entry = Value::Object(new.entry.clone());
    let ((), updated) = spot.change(|editor, path| editor.insert(path, name.as_str(), &entry))?;
    Ok(Added { name, scope: new.scope, file: updated.path().to_owned(), raw, not_yet })
}

fn check(
    wishes: &Wishes,
    loaded: &Loaded,
    name: &ServerName,
    new: &NewServer,
) -> Result<(RawServer, Option<ConfigError>), ChangeError> {
    let blocked = |block| ChangeError::Blocked { name: new.name.clone(), block: Box::new(block) };
    match &loaded.enterprise {
        Enterprise::Absent => {}
        Enterprise::Exclusive(file) => return Err(blocked(Block::ManagedOnly { file: file.clone() })),
        Enterprise::Broken { source, reason } => {
            return Err(blocked(Block::ManagedBroken { file: source.clone(), reason: reason.clone() }));
        }
    }
    let raw = read(name, new)?;
    let origin = Origin::whole(Source::inline("the new entry"));
    let kind = raw.effective_kind(&origin)?;
    if kind.is_runtime_only() {
        return Err(ConfigError::RuntimeOnly { kind, origin }.into());
    }
    match raw.to_config(&wishes.env, &origin) {
        Ok(config) => match judge_policy(&loaded.settings.policy, name, new.scope.scope(), &config) {
            Ok(()) => match loaded.plan.denial_of(&config) {
                Some(block) => Err(blocked(block)),
                None => Ok((raw, None)),
            },
            Err(violation) => Err(blocked(Block::Policy(violation))),
        },
        Err(ConfigError::Expand(error)) if error.is_unset() => Ok((raw, Some(ConfigError::Expand(error)))),
        Err(error) => Err(error.into()),
    }
}

/// Reads the entry as it will be read from the file.
fn read(name: &ServerName, new: &NewServer) -> Result<RawServer, ChangeError> {
    let source = Source::inline("the new entry");
    let text = Value::Object(new.entry.clone()).to_string();
    let document = Document::parse(source.clone(), &text).map_err(EditError::from)?;
    match document.root() {
        Some(root) => Ok(RawServer::read(name.as_str(), root)?),
        None => Err(ConfigError::Empty { origin: Origin::whole(source) }.into()),
    }
}

/// Removes a server from one scope, or from the only one it stands in.
///
/// # Errors
/// When it stands nowhere, or in several scopes and none was named.
pub fn remove(
    places: &Places,
    loaded: &Loaded,
    name: &str,
    scope: Option<WriteScope>,
) -> Result<Removed, ChangeError> {
    let wanted =
        WriteScope::ALL.into_iter().filter(|candidate| scope.is_none_or(|scope| scope == *candidate));
    let spots: Vec<(WriteScope, Spot)> = wanted
        .flat_map(|scope| spots(places, scope, name).into_iter().map(move |spot| (scope, spot)))
        .filter(|(_, spot)| spot.has(name))
        .collect();
    let Some((found, _)) = spots.first() else {
        return Err(ChangeError::NotFound { name: name.to_owned(), scope, similar: loaded.similar(name) });
    };
    let mut scopes: Vec<WriteScope> = spots.iter().map(|(scope, _)| *scope).collect();
    scopes.dedup();
    if scopes.len() > 1 {
        return Err(ChangeError::Ambiguous { name: name.to_owned(), scopes });
    }
    let mut files = Vec::new();
    for (_, spot) in &spots {
        let (_, updated) = spot.change(|editor, path| editor.remove(path, name))?;
        files.push(updated.path().to_owned());
    }
    Ok(Removed { name: name.to_owned(), scope: *found, files })
}

/// Every spot where a server of this scope may stand, the one that counts first.
fn spots(places: &Places, scope: WriteScope, name: &str) -> Vec<Spot> {
    match scope {
        WriteScope::Local | WriteScope::User => vec![
            Spot::servers(places, scope, FileChoice::Settings),
            Spot::servers(places, scope, FileChoice::ClaudeJson),
        ],
        // Of several project files only the nearest one that has it: the others are other folders' files.
        WriteScope::Project => places
            .project_files()
            .map(|file| Spot { file, ..Spot::servers(places, scope, FileChoice::Settings) })
            .find(|spot| spot.has(name))
            .into_iter()
            .collect(),
    }
}
