//! Writes down what a person chose about the hooks that a project brings (P5, H05).

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::hook::{Hook, HookStanding};

use super::{ApprovalStore, ChangeError};
use crate::paths::Paths;
use crate::sources::Loaded;

/// The fewest characters that name a hook.
const SHORTEST: usize = 6;

/// A choice about a hook that was written down.
#[derive(Clone, Debug)]
pub struct ChosenHook {
    /// The hook.
    pub hook: Arc<Hook>,
    /// The file the choice stands in.
    pub file: PathBuf,
}

/// Lets a hook of the project run, as it is defined now. `definition` is that, or its beginning.
///
/// # Errors
/// When there is no such hook, or it does not come with the project.
pub fn approve_hook(paths: &Paths, loaded: &Loaded, definition: &str) -> Result<ChosenHook, ChangeError> {
    let hook = found(loaded, definition)?;
    let store = ApprovalStore::of(paths);
    store.approve(&[hook.item()])?;
    Ok(ChosenHook { hook, file: store.file().to_owned() })
}

/// Never lets a hook of the project run, as it is defined now.
///
/// # Errors
/// When there is no such hook, or it does not come with the project.
pub fn reject_hook(paths: &Paths, loaded: &Loaded, definition: &str) -> Result<ChosenHook, ChangeError> {
    let hook = found(loaded, definition)?;
    let store = ApprovalStore::of(paths);
    store.reject(&hook.item())?;
    Ok(ChosenHook { hook, file: store.file().to_owned() })
}

/// The definitions of the hooks that wait for approval.
#[must_use]
pub fn pending_hooks(loaded: &Loaded) -> Vec<String> {
    let judged = loaded.settings.hooks.judged(loaded.session).into_iter();
    let waiting = judged.filter(|judged| judged.standing == HookStanding::NeedsApproval);
    let mut definitions: Vec<String> = waiting.map(|judged| judged.hook.definition().to_string()).collect();
    definitions.sort_unstable();
    definitions.dedup();
    definitions
}

/// The hook of a definition, or of the beginning of one if no other begins so.
fn found(loaded: &Loaded, definition: &str) -> Result<Arc<Hook>, ChangeError> {
    let wanted = definition.strip_prefix("sha256:").unwrap_or(definition);
    let is_it = |hook: &&Arc<Hook>| {
        let digits = hook.definition().to_string();
        wanted.len() >= SHORTEST && digits.strip_prefix("sha256:").is_some_and(|all| all.starts_with(wanted))
    };
    let hooks: Vec<&Arc<Hook>> = loaded.settings.hooks.all.iter().filter(is_it).collect();
    let none = || ChangeError::NoSuchHook { definition: definition.to_owned() };
    let first = hooks.first().ok_or_else(none)?;
    if hooks.iter().any(|hook| hook.definition() != first.definition()) {
        return Err(none());
    }
    let project = hooks.iter().find(|hook| hook.needs_approval());
    let project = project.ok_or_else(|| ChangeError::NotAProjectHook { hook: first.shown() })?;
    Ok(Arc::clone(project))
}
