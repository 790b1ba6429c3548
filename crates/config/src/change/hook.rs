//! Records the user's choices about hooks of the project: approve or reject.

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::hook::{Hook, HookStatus};

use crate::approval_store::ApprovalStore;
use crate::change_error::ChangeError;
use crate::paths::Paths;
use crate::sources::LoadedConfig;

/// The minimum length of a definition prefix that identifies a hook.
const SHORTEST: usize = 6;

/// A recorded choice about a hook.
#[derive(Clone, Debug)]
pub struct HookChoice {
    /// The hook.
    pub hook: Arc<Hook>,
    /// The file that records the choice.
    pub file: PathBuf,
}

/// Approves a hook of the project with its current definition. `definition` is its digest, or a prefix of it.
///
/// # Errors
/// When no hook has this definition, or it does not come with the project.
pub fn approve_hook(
    paths: &Paths,
    loaded: &LoadedConfig,
    definition: &str,
) -> Result<HookChoice, ChangeError> {
    let hook = find_hook(loaded, definition)?;
    let store = ApprovalStore::for_project(paths);
    store.record_approvals(&[hook.approval_item()])?;
    Ok(HookChoice { hook, file: store.file().to_owned() })
}

/// Rejects a hook of the project with its current definition.
///
/// # Errors
/// When no hook has this definition, or it does not come with the project.
pub fn reject_hook(
    paths: &Paths,
    loaded: &LoadedConfig,
    definition: &str,
) -> Result<HookChoice, ChangeError> {
    let hook = find_hook(loaded, definition)?;
    let store = ApprovalStore::for_project(paths);
    store.reject_item(&hook.approval_item())?;
    Ok(HookChoice { hook, file: store.file().to_owned() })
}

/// The definitions of the hooks that need approval.
#[must_use]
pub fn pending_hooks(loaded: &LoadedConfig) -> Vec<String> {
    let judged = loaded.settings.hooks.hooks_with_status(loaded.session).into_iter();
    let waiting = judged.filter(|judged| judged.status == HookStatus::NeedsApproval);
    let mut definitions: Vec<String> =
        waiting.map(|judged| judged.hook.definition_hash().to_string()).collect();
    definitions.sort_unstable();
    definitions.dedup();
    definitions
}

/// Finds the hook of a definition, or of an unambiguous prefix of one.
fn find_hook(loaded: &LoadedConfig, definition: &str) -> Result<Arc<Hook>, ChangeError> {
    let wanted = definition.strip_prefix("sha256:").unwrap_or(definition);
    let is_it = |hook: &&Arc<Hook>| {
        let digits = hook.definition_hash().to_string();
        wanted.len() >= SHORTEST && digits.strip_prefix("sha256:").is_some_and(|all| all.starts_with(wanted))
    };
    let hooks: Vec<&Arc<Hook>> = loaded.settings.hooks.all.iter().filter(is_it).collect();
    let none = || ChangeError::NoSuchHook { definition: definition.to_owned() };
    let first = hooks.first().ok_or_else(none)?;
    if hooks.iter().any(|hook| hook.definition_hash() != first.definition_hash()) {
        return Err(none());
    }
    let project = hooks.iter().find(|hook| hook.needs_approval());
    let project = project.ok_or_else(|| ChangeError::NotAProjectHook { hook: first.display_command() })?;
    Ok(Arc::clone(project))
}
