//! Records the user's choices about servers: approve, reject, enable, disable.

use std::path::PathBuf;

use crate::plan::{PlanStatus, PlannedServer};
use mcparley_model::approval::{ApprovalItem, Provenance};
use mcparley_model::name::{ServerName, is_same_server};
use mcparley_model::scope::ConfigOrigin;
use mcparley_model::signature::DefinitionHash;
use mcparley_platform::file::UpdateOutcome;

use crate::approval_store::ApprovalStore;
use crate::change_error::ChangeError;
use crate::edit_target::{EditTarget, WriteScope};
use crate::paths::Paths;
use crate::sources::LoadedConfig;

const ENABLED: &str = "enabledMcpjsonServers";
const REJECTED: &str = "disabledMcpjsonServers";
const DISABLED: &str = "disabledMcpServers";

/// A recorded choice about a server of the project.
#[derive(Clone, Debug)]
pub struct ServerChoice {
    /// The server.
    pub name: ServerName,
    /// The approved definition; absent for a rejection.
    pub definition: Option<DefinitionHash>,
    /// The file that records the choice.
    pub file: PathBuf,
    /// A rejection in another file that still holds, because a rejection wins over an approval.
    pub still_rejected: Option<ConfigOrigin>,
}

/// A server that was enabled or disabled.
#[derive(Clone, Debug)]
pub struct SwitchedServer {
    /// The server.
    pub name: String,
    /// The files that changed; empty when the server already had the wanted state.
    pub files: Vec<PathBuf>,
    /// The setting that still disables the server, in a file that the user may not edit.
    pub still_disabled: Option<ConfigOrigin>,
}

/// Approves a server of the project folder with its current definition.
///
/// `seen` is the definition the user looked at. When the definition has changed in the meantime, the server
/// is not approved.
///
/// # Errors
/// When the folder does not declare the server, its entry is invalid, or its definition is not the one looked
/// at.
pub fn approve_server(
    paths: &Paths,
    loaded: &LoadedConfig,
    name: &str,
    seen: Option<&str>,
) -> Result<ServerChoice, ChangeError> {
    let server = folder_server(loaded, name)?;
    let Some(definition) = server.definition else {
        let reason = server.status.reason().unwrap_or_default();
        return Err(ChangeError::Unusable { name: name.to_owned(), reason });
    };
    let text = definition.to_string();
    if seen.is_some_and(|seen| seen != text) {
        return Err(ChangeError::OtherDefinition { name: name.to_owned(), actual: text });
    }
    let same = same_name(&server.name);
    for spot in user_choice_targets(paths) {
        spot.edit_existing_file(|editor, path| editor.remove_from_list(path, REJECTED, &same))?;
    }
    let store = ApprovalStore::for_project(paths);
    store.record_approvals(&[ApprovalItem::for_server(server.name.as_str(), definition)])?;
    Ok(ServerChoice {
        name: server.name.clone(),
        definition: Some(definition),
        file: store.file().to_owned(),
        still_rejected: foreign_rejection(paths, loaded, &server.name),
    })
}

/// Rejects a server of the project folder, for its current and any later definition: in this folder or
/// everywhere.
///
/// # Errors
/// When the folder does not declare the server.
pub fn reject_server(
    paths: &Paths,
    loaded: &LoadedConfig,
    name: &str,
    scope: WriteScope,
) -> Result<ServerChoice, ChangeError> {
    let server = folder_server(loaded, name)?;
    let store = ApprovalStore::for_project(paths);
    let file = match scope {
        WriteScope::User => {
            let spot = EditTarget::for_user_choices(paths);
            let ((), updated) = spot.edit_file(|editor, path| editor.add_to_list(path, REJECTED, name))?;
            updated.path().to_owned()
        }
        WriteScope::Local | WriteScope::Project => {
            store.reject_server(&server.name)?;
            store.file().to_owned()
        }
    };
    Ok(ServerChoice { name: server.name.clone(), definition: None, file, still_rejected: None })
}

/// Forgets every approval and rejection for this project; returns the files that changed.
///
/// # Errors
/// When a file cannot be edited.
pub fn reset_project_choices(paths: &Paths) -> Result<Vec<PathBuf>, ChangeError> {
    let mut changed = Vec::new();
    let store = ApprovalStore::for_project(paths);
    if store.clear_choices()? {
        changed.push(store.file().to_owned());
    }
    for spot in [EditTarget::for_private_choices(paths), EditTarget::for_local_choices(paths)] {
        let removed = spot.edit_existing_file(|editor, path| {
            let enabled = editor.remove_member(path, ENABLED)?;
            Ok(editor.remove_member(path, REJECTED)? || enabled)
        })?;
        if removed {
            changed.push(spot.file);
        }
    }
    Ok(changed)
}

/// Disables a server, for this project or everywhere.
///
/// # Errors
/// When no server has this name.
pub fn disable_server(
    paths: &Paths,
    loaded: &LoadedConfig,
    name: &str,
    scope: WriteScope,
) -> Result<SwitchedServer, ChangeError> {
    check_server_exists(loaded, name)?;
    let ((), updated) =
        choices_target(paths, scope).edit_file(|editor, path| editor.add_to_list(path, DISABLED, name))?;
    let files = match updated {
        UpdateOutcome::Unchanged { .. } => Vec::new(),
        UpdateOutcome::Created { path } | UpdateOutcome::Replaced { path } => vec![path],
    };
    Ok(SwitchedServer { name: name.to_owned(), files, still_disabled: None })
}

/// Enables a server again, in every file of the user that disables it.
///
/// # Errors
/// When no server has this name.
pub fn enable_server(
    paths: &Paths,
    loaded: &LoadedConfig,
    name: &str,
) -> Result<SwitchedServer, ChangeError> {
    check_server_exists(loaded, name)?;
    let mut files = Vec::new();
    for spot in user_choice_targets(paths).into_iter().chain([EditTarget::for_local_choices(paths)]) {
        let removed = spot.edit_existing_file(|editor, path| {
            editor.remove_from_list(path, DISABLED, |entry| entry == name)
        })?;
        if removed {
            files.push(spot.file);
        }
    }
    let ours = [paths.claude.json.clone(), paths.user_settings(), paths.local_settings()];
    let entries = loaded.settings.disabled.iter().filter(|entry| entry.value.as_str() == name);
    let still_disabled = entries.map(|entry| entry.origin.clone()).find(|origin| is_foreign(origin, &ours));
    Ok(SwitchedServer { name: name.to_owned(), files, still_disabled })
}

fn choices_target(paths: &Paths, scope: WriteScope) -> EditTarget {
    match scope {
        WriteScope::User => EditTarget::for_user_choices(paths),
        WriteScope::Local | WriteScope::Project => EditTarget::for_private_choices(paths),
    }
}

/// The files of the user that hold choices. A choice is removed from where it was recorded.
fn user_choice_targets(paths: &Paths) -> [EditTarget; 2] {
    [EditTarget::for_private_choices(paths), EditTarget::for_user_choices(paths)]
}

fn check_server_exists(loaded: &LoadedConfig, name: &str) -> Result<(), ChangeError> {
    if loaded.plan.servers_by_name(name).is_empty() {
        let similar = loaded.similar_server_names(name);
        return Err(ChangeError::NotFound { name: name.to_owned(), scope: None, similar });
    }
    Ok(())
}

/// The declaration of this name in the folder; the nearest file with a valid entry wins.
fn folder_server<'l>(loaded: &'l LoadedConfig, name: &str) -> Result<&'l PlannedServer, ChangeError> {
    check_server_exists(loaded, name)?;
    let from_folder = |server: &&PlannedServer| server.provenance == Provenance::Folder;
    let mut declared: Vec<&PlannedServer> =
        loaded.plan.servers_by_name(name).into_iter().filter(from_folder).collect();
    declared.sort_by_key(|server| matches!(server.status, PlanStatus::Invalid(_)));
    declared.first().copied().ok_or_else(|| ChangeError::NotAProjectServer { name: name.to_owned() })
}

fn same_name(name: &ServerName) -> impl Fn(&str) -> bool + use<> {
    let wanted = name.clone();
    move |entry| is_same_server(entry, wanted.as_str())
}

/// A rejection in a file that an approval does not edit.
fn foreign_rejection(paths: &Paths, loaded: &LoadedConfig, name: &ServerName) -> Option<ConfigOrigin> {
    let same = same_name(name);
    let ours = [paths.claude.json.clone(), paths.user_settings()];
    let rejected = loaded.settings.choices.rejected.iter().filter(|entry| same(entry.value.as_str()));
    rejected.map(|entry| entry.origin.clone()).find(|origin| is_foreign(origin, &ours))
}

fn is_foreign(origin: &ConfigOrigin, ours: &[PathBuf]) -> bool {
    origin.source.path().is_none_or(|path| !ours.iter().any(|own| own == path))
}
