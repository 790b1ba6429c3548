//! Adds servers to configuration files and removes them.

use std::path::{Path, PathBuf};

use crate::json_editor::EditError;
use crate::plan::{BlockReason, Enterprise, check_policy};
use mcparley_model::approval::{ApprovalItem, ItemKind, Provenance};
use mcparley_model::config::{ConfigError, RawServer, ServerConfig, TransportConfig};
use mcparley_model::document::JsonDocument;
use mcparley_model::name::{ServerName, check_new_server_name, is_reserved_by_claude_code};
use mcparley_model::policy::PolicyViolation;
use mcparley_model::program::starts_mcparley;
use mcparley_model::scope::{ConfigOrigin, Source};
use mcparley_model::signature::DefinitionHash;
use serde_json::{Map, Value};

use super::exclude::{GitExclusion, exclude_from_git};
use crate::approval_store::ApprovalStore;
use crate::approval_store::approve_written;
use crate::change_error::ChangeError;
use crate::edit_target::{EditTarget, FileChoice, WriteScope};
use crate::paths::Paths;
use crate::sources::{LoadedConfig, RunOptions, load_agents_without};

/// A server to add.
#[derive(Clone)]
pub struct NewServer {
    /// The server's name.
    pub name: String,
    /// The entry, in the format of the file.
    pub entry: Map<String, Value>,
    /// The scope to add it to.
    pub scope: WriteScope,
    /// The file of that scope for a new entry; absent means `~/.claude.json`.
    pub file: Option<FileChoice>,
    /// Whether an existing entry of this name in that scope is replaced.
    pub replace: bool,
    /// The author of the entry: one that was taken from a file of the project folder still needs approval.
    pub provenance: Provenance,
}

impl std::fmt::Debug for NewServer {
    /// Omits the entry's values, which may be secrets.
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
    /// The file and object to write to.
    ///
    /// An entry of the project folder stays in the folder, where it needs approval: in a file of the user it
    /// would count at once, here and in every other program that reads the file.
    fn destination(&self, paths: &Paths) -> Result<EditTarget, ChangeError> {
        match (self.provenance, self.scope) {
            (Provenance::Own, _) => {
                Ok(EditTarget::for_servers(paths, self.scope, self.file.unwrap_or_default()))
            }
            (Provenance::Folder, WriteScope::User) => {
                Err(ChangeError::FromFolder { name: self.name.clone() })
            }
            (Provenance::Folder, WriteScope::Local | WriteScope::Project) => {
                Ok(EditTarget::for_servers(paths, self.scope, FileChoice::Settings))
            }
        }
    }

    /// The approval item of the entry as written.
    fn to_item(&self, name: &ServerName, raw: &RawServer) -> Result<ApprovalItem, ChangeError> {
        let kind = raw.effective_kind(&ConfigOrigin::for_source(Source::from_label("the new entry")))?;
        Ok(ApprovalItem::for_server(name.as_str(), DefinitionHash::from_written(raw, kind)))
    }
}

/// A server that was added.
#[derive(Clone, Debug)]
pub struct AddedServer {
    /// The server's name.
    pub name: ServerName,
    /// The scope it was added to.
    pub scope: WriteScope,
    /// The file it was written to, after following symbolic links.
    pub file: PathBuf,
    /// The entry that was written.
    pub raw: RawServer,
    /// The error that keeps the server from running for now: a variable that is not set.
    pub not_yet: Option<ConfigError>,
    /// Whether it replaced an entry of the same name.
    pub replaced: bool,
    /// The literal secrets that were written into the project folder, if any.
    pub exposure: Option<SecretExposure>,
    /// Whether Claude Code skips entries of this name.
    pub is_reserved_by_claude_code: bool,
}

/// Literal secrets in a file below the project folder, which may be shared with other users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretExposure {
    /// The fields of the entry that contain secrets, such as `env.API_KEY`.
    pub fields: Vec<String>,
    /// The git exclusion of the file; absent for a file that is meant to be committed.
    pub exclusion: Option<GitExclusion>,
}

/// A server that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedServer {
    /// The server's name.
    pub name: String,
    /// The scope it was removed from.
    pub scope: WriteScope,
    /// The files that declared it.
    pub files: Vec<PathBuf>,
}

/// Adds a server to a configuration file.
///
/// Fails when the name or the entry is invalid, when the name exists in that scope and may not be replaced,
/// and when the policy would never let the server run. A variable that is not set yet is no reason to fail.
///
/// # Errors
/// A [`ChangeError`]; the files are unchanged.
pub fn add_server(
    paths: &Paths,
    run_options: &RunOptions,
    loaded: &LoadedConfig,
    new: &NewServer,
) -> Result<AddedServer, ChangeError> {
    let name = check_new_server_name(&new.name)?;
    let (raw, not_yet) = check_new_server(run_options, loaded, &name, new)?;
    let existing = existing_target(paths, new.scope, name.as_str());
    let replaced = existing.is_some();
    let spot = match existing {
        Some(EditTarget { file, .. }) if !new.replace => {
            return Err(ChangeError::Exists { name: new.name.clone(), scope: new.scope.as_str(), file });
        }
        Some(spot) => spot,
        None => new.destination(paths)?,
    };
    let entry = Value::Object(with_type(&new.entry, &raw));
    let ((), updated) = spot.edit_file(|editor, path| {
        if replaced {
            editor.set_member(path, name.as_str(), &entry)
        } else {
            editor.insert_member(path, name.as_str(), &entry)
        }
    })?;
    if new.provenance == Provenance::Own {
        approve_written(paths, &spot.file, &new.to_item(&name, &raw)?)?;
    }
    Ok(AddedServer {
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

/// The object with an entry of this name that a new entry would replace.
///
/// A project file of a folder above belongs to another folder: a new entry goes into the nearest file.
fn existing_target(paths: &Paths, scope: WriteScope, name: &str) -> Option<EditTarget> {
    let [settings, claude_json] = [FileChoice::Settings, FileChoice::ClaudeJson]
        .map(|choice| EditTarget::for_servers(paths, scope, choice));
    // The settings file takes precedence if both have the name.
    [settings, claude_json].into_iter().find(|spot| spot.has_server(name))
}

/// The entry with its `type` field: Claude Code rejects a URL without `type`.
pub(crate) fn with_type(entry: &Map<String, Value>, raw: &RawServer) -> Map<String, Value> {
    let origin = ConfigOrigin::for_source(Source::from_label("the new entry"));
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

/// Finds literal secrets in an entry that was written below the project folder.
///
/// The user's own settings file is then excluded from commits.
fn find_exposure(paths: &Paths, spot: &EditTarget, raw: &RawServer) -> Option<SecretExposure> {
    let fields = raw.literal_secrets();
    let local = paths.local_settings();
    let is_shared = spot.file == paths.cwd.join(".mcp.json");
    if fields.is_empty() || !(is_shared || spot.file == local) {
        return None;
    }
    let exclusion = (!is_shared).then(|| exclude_from_git(&paths.project, ".claude/settings.local.json"));
    Some(SecretExposure { fields, exclusion })
}

/// Checks an entry before it is written: its form, and whether the policy would let it run.
pub(crate) fn check_new_server(
    run_options: &RunOptions,
    loaded: &LoadedConfig,
    name: &ServerName,
    new: &NewServer,
) -> Result<(RawServer, Option<ConfigError>), ChangeError> {
    let blocked = |block| ChangeError::Blocked { name: new.name.clone(), block: Box::new(block) };
    match &loaded.enterprise {
        Enterprise::Absent => {}
        Enterprise::Exclusive(file) => return Err(blocked(BlockReason::ManagedOnly { file: file.clone() })),
        Enterprise::Broken { source, reason } => {
            return Err(blocked(BlockReason::ManagedBroken { file: source.clone(), reason: reason.clone() }));
        }
    }
    let raw = parse_new_entry(name, new)?;
    let origin = ConfigOrigin::for_source(Source::from_label("the new entry"));
    let kind = raw.effective_kind(&origin)?;
    if kind.is_runtime_only() {
        return Err(ConfigError::RuntimeOnly { kind, origin }.into());
    }
    match raw.to_config(&run_options.env, &origin) {
        Ok(config) if is_recursive(&config, loaded) => {
            Err(ChangeError::StartsItself { name: new.name.clone() })
        }
        Ok(config) => match check_new_server_policy(loaded, name, new, &config) {
            Ok(()) => match loaded.plan.alias_denial(&config) {
                Some(block) => Err(blocked(block)),
                None => Ok((raw, None)),
            },
            Err(violation) => Err(blocked(BlockReason::Policy(violation))),
        },
        Err(ConfigError::Expand(error)) if error.is_unset() => Ok((raw, Some(ConfigError::Expand(error)))),
        Err(error) => Err(error.into()),
    }
}

fn check_new_server_policy(
    loaded: &LoadedConfig,
    name: &ServerName,
    new: &NewServer,
    config: &ServerConfig,
) -> Result<(), PolicyViolation> {
    let (policy, programs) = (&loaded.settings.policy, loaded.programs.as_ref());
    check_policy(policy, name, new.scope.scope(), config, programs)
}

fn is_recursive(config: &ServerConfig, loaded: &LoadedConfig) -> bool {
    match &config.transport {
        TransportConfig::Stdio(stdio) => starts_mcparley(stdio, loaded.programs.as_ref()),
        _ => false,
    }
}

/// Parses the entry in the same way as from a file.
fn parse_new_entry(name: &ServerName, new: &NewServer) -> Result<RawServer, ChangeError> {
    let source = Source::from_label("the new entry");
    let text = Value::Object(new.entry.clone()).to_string();
    let document = JsonDocument::parse(source.clone(), &text).map_err(EditError::from)?;
    match document.root() {
        Some(root) => Ok(RawServer::from_node(name.as_str(), root)?),
        None => Err(ConfigError::Empty { origin: ConfigOrigin::for_source(source) }.into()),
    }
}

/// Removes a server from one scope, or from the only scope that declares it.
///
/// # Errors
/// When no scope declares it, or several do and none was named.
pub fn remove_server(
    paths: &Paths,
    loaded: &LoadedConfig,
    name: &str,
    scope: Option<WriteScope>,
) -> Result<RemovedServer, ChangeError> {
    let wanted =
        WriteScope::ALL.into_iter().filter(|candidate| scope.is_none_or(|scope| scope == *candidate));
    let spots: Vec<(WriteScope, EditTarget)> = wanted
        .flat_map(|scope| server_targets(paths, scope, name).into_iter().map(move |spot| (scope, spot)))
        .filter(|(_, spot)| spot.has_server(name))
        .collect();
    let Some((found, _)) = spots.first() else {
        return Err(ChangeError::NotFound {
            name: name.to_owned(),
            scope,
            similar: loaded.similar_server_names(name),
        });
    };
    let mut scopes: Vec<WriteScope> = spots.iter().map(|(scope, _)| *scope).collect();
    scopes.dedup();
    if scopes.len() > 1 {
        return Err(ChangeError::Ambiguous { name: name.to_owned(), scopes });
    }
    let mut files = Vec::new();
    for (_, spot) in &spots {
        let (_, updated) = spot.edit_file(|editor, path| editor.remove_member(path, name))?;
        files.push(updated.path().to_owned());
    }
    // If the folder declares the server again later, it needs a new approval.
    if spots.iter().any(|(_, spot)| paths.is_in_project(&spot.file)) {
        let is_removed = |file: &Path| spots.iter().any(|(_, spot)| spot.file == file);
        let remaining = remaining_definitions(paths, loaded, name, is_removed);
        ApprovalStore::for_project(paths).forget_approval(ItemKind::Server, name, &remaining)?;
    }
    Ok(RemovedServer { name: name.to_owned(), scope: *found, files })
}

/// The definitions of other entries of this name in the folder, including those of its agents.
fn remaining_definitions(
    paths: &Paths,
    loaded: &LoadedConfig,
    name: &str,
    is_removed: impl Fn(&Path) -> bool,
) -> Vec<DefinitionHash> {
    let agents = load_agents_without(paths, &loaded.left_out);
    let brought = agents.specs.iter().flat_map(|spec| loaded.only_agent_servers(spec).plan.servers);
    let declared = loaded.plan.servers.iter().cloned().chain(brought);
    let others = declared.filter(|server| {
        let is_gone = server.origin.source.path().is_some_and(&is_removed);
        server.name.as_str() == name && server.provenance == Provenance::Folder && !is_gone
    });
    others.flat_map(|server| [server.definition, server.written]).flatten().collect()
}

/// The objects that may declare a server of this scope, the one with precedence first.
fn server_targets(paths: &Paths, scope: WriteScope, name: &str) -> Vec<EditTarget> {
    match scope {
        WriteScope::Local | WriteScope::User => vec![
            EditTarget::for_servers(paths, scope, FileChoice::Settings),
            EditTarget::for_servers(paths, scope, FileChoice::ClaudeJson),
        ],
        // Of several project files only the nearest with the name: the others belong to other folders.
        WriteScope::Project => paths
            .project_files()
            .map(|file| EditTarget { file, ..EditTarget::for_servers(paths, scope, FileChoice::Settings) })
            .find(|spot| spot.has_server(name))
            .into_iter()
            .collect(),
    }
}
