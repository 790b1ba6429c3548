//! Adds and removes servers.

use std::path::{Path, PathBuf};

use mcparley_model::approval::{Item, ItemKind, Provenance};
use mcparley_model::config::{ConfigError, RawServer, ServerConfig, Transport};
use mcparley_model::document::Document;
use mcparley_model::edit::EditError;
use mcparley_model::name::{ServerName, check_new_server_name, is_reserved_by_claude_code};
use mcparley_model::plan::{Block, Enterprise, judge_policy};
use mcparley_model::policy::Violation;
use mcparley_model::program::starts_itself;
use mcparley_model::scope::{Origin, Source};
use mcparley_model::signature::Definition;
use serde_json::{Map, Value};

use super::approval::approve_written;
use super::exclude::{Exclusion, exclude_from_git};
use super::{ApprovalStore, ChangeError, FileChoice, Spot, WriteScope};
use crate::paths::Paths;
use crate::sources::{Loaded, RunOptions, agents_of};

/// A server to add.
#[derive(Clone)]
pub struct NewServer {
    /// Its name.
    pub name: String,
    /// Its entry, in the form of the file.
    pub entry: Map<String, Value>,
    /// The scope to add it to.
    pub scope: WriteScope,
    /// The file of that scope, for an entry that stands in none yet; absent means `~/.claude.json`.
    pub file: Option<FileChoice>,
    /// Whether an entry of this name in that scope is replaced, where it stands.
    pub replace: bool,
    /// Who wrote the entry: what was taken from a file of the project folder still waits for approval.
    pub provenance: Provenance,
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
            .field("replace", &self.replace)
            .finish()
    }
}

impl NewServer {
    /// Where it is written. What the project folder brings stays in the folder, where it waits for approval: in a file
    /// of the user's own it would count at once, here and in every other program that reads it.
    fn destination(&self, paths: &Paths) -> Result<Spot, ChangeError> {
        match (self.provenance, self.scope) {
            (Provenance::Own, _) => Ok(Spot::servers(paths, self.scope, self.file.unwrap_or_default())),
            (Provenance::Folder, WriteScope::User) => {
                Err(ChangeError::FromFolder { name: self.name.clone() })
            }
            (Provenance::Folder, WriteScope::Local | WriteScope::Project) => {
                Ok(Spot::servers(paths, self.scope, FileChoice::Settings))
            }
        }
    }

    /// What approving it means: the entry as it is written.
    fn as_written(&self, name: &ServerName, raw: &RawServer) -> Result<Item, ChangeError> {
        let kind = raw.effective_kind(&Origin::whole(Source::inline("the new entry")))?;
        Ok(Item::server(name.as_str(), Definition::of_written(raw, kind)))
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
    /// Whether it took the place of an entry of the same name.
    pub replaced: bool,
    /// The literal secrets that were written into the project's folder, if any were.
    pub exposure: Option<Exposure>,
    /// Whether Claude Code skips entries of this name.
    pub is_reserved_by_claude_code: bool,
}

/// Literal secrets in a file below the project's folder, which may be shared with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposure {
    /// The fields of the entry that hold them, such as `env.API_KEY`.
    pub fields: Vec<String>,
    /// What keeps the file out of commits; absent for a file that is meant to be committed.
    pub exclusion: Option<Exclusion>,
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
/// Refused when the name or the entry cannot be used, when the name is taken in that scope and is not to be
/// replaced, and when the policy would never let it run. A variable that is not set yet is no reason to refuse.
///
/// # Errors
/// A [`ChangeError`]; the files are as they were.
pub fn add(
    paths: &Paths,
    run_options: &RunOptions,
    loaded: &Loaded,
    new: &NewServer,
) -> Result<Added, ChangeError> {
    let name = check_new_server_name(&new.name)?;
    let (raw, not_yet) = check(run_options, loaded, &name, new)?;
    let existing = existing_spot(paths, new.scope, name.as_str());
    let replaced = existing.is_some();
    let spot = match existing {
        Some(Spot { file, .. }) if !new.replace => {
            return Err(ChangeError::Exists { name: new.name.clone(), scope: new.scope.as_str(), file });
        }
        Some(spot) => spot,
        None => new.destination(paths)?,
    };
    let entry = Value::Object(with_type(&new.entry, &raw));
    let ((), updated) = spot.change(|editor, path| match replaced {
        true => editor.set(path, name.as_str(), &entry),
        false => editor.insert(path, name.as_str(), &entry),
    })?;
    if new.provenance == Provenance::Own {
        approve_written(paths, &spot.file, &new.as_written(&name, &raw)?)?;
    }
    Ok(Added {
        exposure: find_exposure(paths, &spot, &raw),
        is_reserved_by_claude_code: is_reserved_by_claude_code(name.as_str()),
        name,
        scope: new.scope,
        file: updated.path().to_owned(),
        raw,
        not_yet,
        replaced,
    })
}

/// Where an entry of this name stands that a new one would replace.
///
/// A project file of a folder above is another folder's: a new entry goes beside it, into the nearest one.
fn existing_spot(paths: &Paths, scope: WriteScope, name: &str) -> Option<Spot> {
    let [settings, claude_json] =
        [FileChoice::Settings, FileChoice::ClaudeJson].map(|choice| Spot::servers(paths, scope, choice));
    // The settings file counts where both have the name.
    [settings, claude_json].into_iter().find(|spot| spot.has(name))
}

/// The entry with its transport named: Claude Code refuses a URL without `type`.
fn with_type(entry: &Map<String, Value>, raw: &RawServer) -> Map<String, Value> {
    let origin = Origin::whole(Source::inline("the new entry"));
    let (Ok(kind), Some(_)) = (raw.effective_kind(&origin), &raw.url) else { return entry.clone() };
    if entry.get("type").and_then(Value::as_str) == Some(kind.as_str()) {
        return entry.clone();
    }
    let mut typed = Map::new();
    typed.insert("type".to_owned(), kind.as_str().into());
    typed.extend(
        entry.iter().filter(|(key, _)| *key != "type").map(|(key, value)| (key.clone(), value.clone())),
    );
    typed
}

/// Looks for literal secrets in what was written below the project's folder, and keeps the user's own settings file
/// out of commits when it holds some.
fn find_exposure(paths: &Paths, spot: &Spot, raw: &RawServer) -> Option<Exposure> {
    let fields = raw.literal_secrets();
    let local = paths.local_settings();
    let is_shared = spot.file == paths.cwd.join(".mcp.json");
    if fields.is_empty() || !(is_shared || spot.file == local) {
        return None;
    }
    let exclusion = (!is_shared).then(|| exclude_from_git(&paths.project, ".claude/settings.local.json"));
    Some(Exposure { fields, exclusion })
}

fn check(
    run_options: &RunOptions,
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
    match raw.to_config(&run_options.env, &origin) {
        Ok(config) if is_recursive(&config, loaded) => {
            Err(ChangeError::StartsItself { name: new.name.clone() })
        }
        Ok(config) => match judge(loaded, name, new, &config) {
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

fn judge(
    loaded: &Loaded,
    name: &ServerName,
    new: &NewServer,
    config: &ServerConfig,
) -> Result<(), Violation> {
    let (policy, programs) = (&loaded.settings.policy, loaded.programs.as_ref());
    judge_policy(policy, name, new.scope.scope(), config, programs)
}

fn is_recursive(config: &ServerConfig, loaded: &Loaded) -> bool {
    match &config.transport {
        Transport::Stdio(stdio) => starts_itself(stdio, loaded.programs.as_ref()),
        _ => false,
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
    paths: &Paths,
    loaded: &Loaded,
    name: &str,
    scope: Option<WriteScope>,
) -> Result<Removed, ChangeError> {
    let wanted =
        WriteScope::ALL.into_iter().filter(|candidate| scope.is_none_or(|scope| scope == *candidate));
    let spots: Vec<(WriteScope, Spot)> = wanted
        .flat_map(|scope| spots(paths, scope, name).into_iter().map(move |spot| (scope, spot)))
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
    // Should the folder bring it again, that is another's word.
    if spots.iter().any(|(_, spot)| paths.is_in_project(&spot.file)) {
        let is_removed = |file: &Path| spots.iter().any(|(_, spot)| spot.file == file);
        let remaining = find_remaining(paths, loaded, name, is_removed);
        ApprovalStore::of(paths).forget_approval(ItemKind::Server, name, &remaining)?;
    }
    Ok(Removed { name: name.to_owned(), scope: *found, files })
}

/// The contents of the folder's other entries of this name, those of its agents among them.
fn find_remaining(
    paths: &Paths,
    loaded: &Loaded,
    name: &str,
    is_removed: impl Fn(&Path) -> bool,
) -> Vec<Definition> {
    let agents = agents_of(paths, &loaded.left_out);
    let brought = agents.specs.iter().flat_map(|spec| loaded.own_for_agent(spec).plan.servers);
    let declared = loaded.plan.servers.iter().cloned().chain(brought);
    let others = declared.filter(|server| {
        let is_gone = server.origin.source.path().is_some_and(&is_removed);
        server.name.as_str() == name && server.provenance == Provenance::Folder && !is_gone
    });
    others.flat_map(|server| [server.definition, server.written]).flatten().collect()
}

/// Every spot where a server of this scope may stand, the one that counts first.
fn spots(paths: &Paths, scope: WriteScope, name: &str) -> Vec<Spot> {
    match scope {
        WriteScope::Local | WriteScope::User => vec![
            Spot::servers(paths, scope, FileChoice::Settings),
            Spot::servers(paths, scope, FileChoice::ClaudeJson),
        ],
        // Of several project files only the nearest one that has it: the others are other folders' files.
        WriteScope::Project => paths
            .project_files()
            .map(|file| Spot { file, ..Spot::servers(paths, scope, FileChoice::Settings) })
            .find(|spot| spot.has(name))
            .into_iter()
            .collect(),
    }
}
