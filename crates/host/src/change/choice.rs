//! Writes down what a person chose: approve, reject, switch on, switch off.

use std::path::PathBuf;

use mcparley_model::approval::{Item, Provenance};
use mcparley_model::name::{ServerName, is_same_server};
use mcparley_model::plan::{Planned, ServerStanding};
use mcparley_model::scope::Origin;
use mcparley_model::signature::Definition;
use mcparley_platform::file::Updated;

use super::{ApprovalStore, ChangeError, Spot, WriteScope};
use crate::paths::Paths;
use crate::sources::Loaded;

const ENABLED: &str = "enabledMcpjsonServers";
const REJECTED: &str = "disabledMcpjsonServers";
const DISABLED: &str = "disabledMcpServers";

/// A choice about a project's server that was written down.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The server.
    pub name: ServerName,
    /// What it is, for an approval.
    pub definition: Option<Definition>,
    /// The file the choice stands in.
    pub file: PathBuf,
    /// A rejection elsewhere that still holds, because a no wins over a yes.
    pub still_rejected: Option<Origin>,
}

/// A server that was switched on or off.
#[derive(Clone, Debug)]
pub struct Switched {
    /// The server.
    pub name: String,
    /// The files that changed; none when it already was as wanted.
    pub files: Vec<PathBuf>,
    /// What still switches it off: a file that is not the user's to edit.
    pub still_disabled: Option<Origin>,
}

/// Approves a server that the project folder brings, as it is defined now.
///
/// `seen` is the definition the person looked at; when the server has become another one in the meantime
/// nothing is approved (B22).
///
/// # Errors
/// When the folder does not bring it, it cannot be used, or it is not what was looked at.
pub fn approve(
    paths: &Paths,
    loaded: &Loaded,
    name: &str,
    seen: Option<&str>,
) -> Result<Chosen, ChangeError> {
    let server = folder_server(loaded, name)?;
    let Some(definition) = server.definition else {
        let reason = server.standing.reason().unwrap_or_default();
        return Err(ChangeError::Unusable { name: name.to_owned(), reason });
    };
    let text = definition.to_string();
    if seen.is_some_and(|seen| seen != text) {
        return Err(ChangeError::OtherDefinition { name: name.to_owned(), actual: text });
    }
    let same = same_name(&server.name);
    for spot in own_spots(paths) {
        spot.change_existing(|editor, path| editor.remove_from_list(path, REJECTED, &same))?;
    }
    let store = ApprovalStore::of(paths);
    store.approve(&[Item::server(server.name.as_str(), definition)])?;
    Ok(Chosen {
        name: server.name.clone(),
        definition: Some(definition),
        file: store.file().to_owned(),
        still_rejected: foreign_rejection(paths, loaded, &server.name),
    })
}

/// Rejects a server that the project folder brings, whatever it is or becomes: in this folder or everywhere.
///
/// # Errors
/// When the folder does not bring it.
pub fn reject(paths: &Paths, loaded: &Loaded, name: &str, scope: WriteScope) -> Result<Chosen, ChangeError> {
    let server = folder_server(loaded, name)?;
    let store = ApprovalStore::of(paths);
    let file = match scope {
        WriteScope::User => {
            let spot = Spot::user_choices(paths);
            let ((), updated) = spot.change(|editor, path| editor.add_to_list(path, REJECTED, name))?;
            updated.path().to_owned()
        }
        WriteScope::Local | WriteScope::Project => {
            store.reject_server(&server.name)?;
            store.file().to_owned()
        }
    };
    Ok(Chosen { name: server.name.clone(), definition: None, file, still_rejected: None })
}

/// Forgets every approval and rejection for this project; gives the files that changed.
///
/// # Errors
/// When a file cannot be edited.
pub fn reset_project_choices(paths: &Paths) -> Result<Vec<PathBuf>, ChangeError> {
    let mut changed = Vec::new();
    let store = ApprovalStore::of(paths);
    if store.reset()? {
        changed.push(store.file().to_owned());
    }
    for spot in [Spot::private_choices(paths), Spot::local_choices(paths)] {
        let removed = spot.change_existing(|editor, path| {
            let enabled = editor.remove(path, ENABLED)?;
            Ok(editor.remove(path, REJECTED)? || enabled)
        })?;
        if removed {
            changed.push(spot.file);
        }
    }
    Ok(changed)
}

/// Switches a server off, for this project or everywhere.
///
/// # Errors
/// When there is no such server.
pub fn disable(
    paths: &Paths,
    loaded: &Loaded,
    name: &str,
    scope: WriteScope,
) -> Result<Switched, ChangeError> {
    known(loaded, name)?;
    let ((), updated) =
        choices(paths, scope).change(|editor, path| editor.add_to_list(path, DISABLED, name))?;
    let files = match updated {
        Updated::Unchanged { .. } => Vec::new(),
        Updated::Created { path } | Updated::Replaced { path } => vec![path],
    };
    Ok(Switched { name: name.to_owned(), files, still_disabled: None })
}

/// Switches a server on again, wherever the user switched it off.
///
/// # Errors
/// When there is no such server.
pub fn enable(paths: &Paths, loaded: &Loaded, name: &str) -> Result<Switched, ChangeError> {
    known(loaded, name)?;
    let mut files = Vec::new();
    for spot in own_spots(paths).into_iter().chain([Spot::local_choices(paths)]) {
        let removed = spot
            .change_existing(|editor, path| editor.remove_from_list(path, DISABLED, |entry| entry == name))?;
        if removed {
            files.push(spot.file);
        }
    }
    let ours = [paths.claude.json.clone(), paths.user_settings(), paths.local_settings()];
    let entries = loaded.settings.disabled.iter().filter(|entry| entry.value.as_str() == name);
    let still_disabled = entries.map(|entry| entry.origin.clone()).find(|origin| is_foreign(origin, &ours));
    Ok(Switched { name: name.to_owned(), files, still_disabled })
}

fn choices(paths: &Paths, scope: WriteScope) -> Spot {
    match scope {
        WriteScope::User => Spot::user_choices(paths),
        WriteScope::Local | WriteScope::Project => Spot::private_choices(paths),
    }
}

/// The user's own files: a choice made there is taken back there.
fn own_spots(paths: &Paths) -> [Spot; 2] {
    [Spot::private_choices(paths), Spot::user_choices(paths)]
}

fn known(loaded: &Loaded, name: &str) -> Result<(), ChangeError> {
    if loaded.plan.named(name).is_empty() {
        let similar = loaded.similar(name);
        return Err(ChangeError::NotFound { name: name.to_owned(), scope: None, similar });
    }
    Ok(())
}

/// The folder's declaration of this name; the nearest file that is usable counts.
fn folder_server<'l>(loaded: &'l Loaded, name: &str) -> Result<&'l Planned, ChangeError> {
    known(loaded, name)?;
    let from_folder = |server: &&Planned| server.provenance == Provenance::Folder;
    let mut declared: Vec<&Planned> = loaded.plan.named(name).into_iter().filter(from_folder).collect();
    declared.sort_by_key(|server| matches!(server.standing, ServerStanding::Invalid(_)));
    declared.first().copied().ok_or_else(|| ChangeError::NotAProjectServer { name: name.to_owned() })
}

fn same_name(name: &ServerName) -> impl Fn(&str) -> bool + use<> {
    let wanted = name.clone();
    move |entry| is_same_server(entry, wanted.as_str())
}

/// A rejection in a file that approving does not touch.
fn foreign_rejection(paths: &Paths, loaded: &Loaded, name: &ServerName) -> Option<Origin> {
    let same = same_name(name);
    let ours = [paths.claude.json.clone(), paths.user_settings()];
    let rejected = loaded.settings.choices.rejected.iter().filter(|entry| same(entry.value.as_str()));
    rejected.map(|entry| entry.origin.clone()).find(|origin| is_foreign(origin, &ours))
}

fn is_foreign(origin: &Origin, ours: &[PathBuf]) -> bool {
    origin.source.path().is_none_or(|path| !ours.iter().any(|own| own == path))
}
