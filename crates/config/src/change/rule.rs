//! Adds and removes permission rules in the settings of a scope.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::plan::PlanStatus;
use mcparley_model::approval::{ApprovalItem, ItemKind};
use mcparley_model::permission::{KnownServers, PermissionRule, RuleKind, RuleScope};
use mcparley_model::scope::{ConfigOrigin, Source};
use mcparley_platform::file::{Creation, UpdateOutcome};
use serde::{Deserialize, Serialize};

use crate::approval_store::ApprovalStore;
use crate::approval_store::approve_written;
use crate::change_error::ChangeError;
use crate::edit_target::{EditTarget, WriteScope};
use crate::paths::Paths;
use crate::sources::LoadedConfig;
use crate::trust::{EVERY_TOOL, RuleBinding, TrustStore};

/// The settings object that holds the permission rules.
const PERMISSIONS: &str = "permissions";

/// The scope of an "always allow" rule. The files of the repository and the administrator are not the user's
/// to edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlwaysAllowScope {
    /// This project, in its folder: `.claude/settings.local.json`.
    Local,
    /// This project, outside of its folder: `projects` of `~/.claude.json`.
    Private,
    /// Every project: the user's settings.
    User,
}

/// A permission rule that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRule {
    /// The rule.
    pub rule: String,
    /// The file that contains the rule.
    pub file: PathBuf,
    /// Whether the rule was already there.
    pub is_old: bool,
}

/// A permission rule that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedRule {
    /// The rule.
    pub rule: String,
    /// The files that contained the rule.
    pub files: Vec<PathBuf>,
}

/// Adds a permission rule that the user typed.
///
/// It holds for any later definition of its tools, as far as `toolPin` allows, and for the servers that it
/// was bound to before.
///
/// # Errors
/// When the text is not a rule, or the file cannot be edited.
pub fn add_rule(
    paths: &Paths,
    kind: RuleKind,
    text: &str,
    scope: WriteScope,
) -> Result<WrittenRule, ChangeError> {
    let origin = ConfigOrigin::for_source(Source::from_label("the command line"));
    let rule = PermissionRule::parse(kind, text, origin, RuleScope::CommandLine)?;
    let spot = rules_target(paths, scope);
    TrustStore::for_paths(paths).unbind_rule_tools(rule.text(), &spot.file)?;
    let ((), updated) = write_rule(paths, &spot, kind, rule.text())?;
    let is_old = matches!(updated, UpdateOutcome::Unchanged { .. });
    Ok(WrittenRule { rule: rule.text().to_owned(), file: spot.file, is_old })
}

/// Binds an allow rule that was just written to the servers it names.
///
/// Another server that later gets one of their names does not inherit the rule. A rule with a pattern of
/// server names applies to all of them and is not bound.
///
/// # Errors
/// When the binding cannot be stored.
pub fn bind_to_servers(
    paths: &Paths,
    loaded: &LoadedConfig,
    written: &WrittenRule,
) -> Result<(), ChangeError> {
    let is_it = |rule: &PermissionRule| {
        rule.text() == written.rule && rule.origin().source.path() == Some(&written.file)
    };
    let trust = TrustStore::for_paths(paths);
    match server_bindings(&trust, loaded, is_it) {
        bindings if bindings.is_empty() => Ok(()),
        bindings => trust.bind_rules(bindings),
    }
}

/// Binds the users' allow rules in settings files to the servers they name, once both exist.
///
/// An administrator's rules apply to names, and command-line rules to the servers of this run, so neither is
/// bound.
pub fn bind_typed_rules(trust: &TrustStore, loaded: &LoadedConfig) {
    let ledger = trust.rule_bindings();
    let is_unbound = |rule: &PermissionRule| {
        let file = rule.origin().source.path();
        let is_personal = !matches!(rule.scope(), RuleScope::Managed | RuleScope::CommandLine);
        is_personal && file.is_some_and(|file| ledger.bindings_of(rule.text(), file).next().is_none())
    };
    let bindings = server_bindings(trust, loaded, is_unbound);
    if !bindings.is_empty() {
        // Rules that could not be bound are bound by the next process.
        let _unwritten = trust.bind_rules(bindings);
    }
}

/// The bindings of the `chosen` allow rules to the ready servers they name.
fn server_bindings(
    trust: &TrustStore,
    loaded: &LoadedConfig,
    chosen: impl Fn(&PermissionRule) -> bool,
) -> Vec<RuleBinding> {
    let allows = loaded.settings.rules.iter().filter(|rule| rule.kind() == RuleKind::Allow && chosen(rule));
    let allows: Vec<&Arc<PermissionRule>> = allows.collect();
    if allows.is_empty() {
        return Vec::new();
    }
    let known = KnownServers::new(loaded.plan.servers.iter().map(|server| server.name.clone()));
    let mut bindings = Vec::new();
    for rule in allows {
        let Some(file) = rule.origin().source.path() else { continue };
        for reading in rule.readings(&known).iter().filter(|reading| !reading.server.contains('*')) {
            let server = loaded.plan.servers_by_name(&reading.server).into_iter().next();
            let server = server.filter(|server| server.status == PlanStatus::Ready);
            let Some(config) = server.and_then(|server| server.config.as_ref()) else { continue };
            bindings.push(RuleBinding {
                rule: rule.text().to_owned(),
                file: file.to_path_buf(),
                server: trust.server_key(config).identity().to_owned(),
                tool: EVERY_TOOL.to_owned(),
            });
        }
    }
    bindings
}

/// Removes a permission rule of any kind, from one scope or from all that the user may edit.
///
/// # Errors
/// When no such file contains the rule.
pub fn remove_rule(
    paths: &Paths,
    loaded: &LoadedConfig,
    text: &str,
    scope: Option<WriteScope>,
) -> Result<RemovedRule, ChangeError> {
    let text = text.trim();
    let mut files = Vec::new();
    let scopes = WriteScope::ALL.into_iter().filter(|known| scope.is_none_or(|scope| scope == *known));
    let private = EditTarget::for_private_choices(paths);
    let spots = scopes.flat_map(|scope| match (scope, rules_target(paths, scope)) {
        (WriteScope::Local, spot) => [Some(private.clone()), Some(spot)],
        (WriteScope::User | WriteScope::Project, spot) => [None, Some(spot)],
    });
    for spot in spots.flatten() {
        let removed = spot.edit_existing_file(|editor, path| {
            let below = [path, &[PERMISSIONS]].concat();
            let mut removed = false;
            for list in ["allow", "ask", "deny"] {
                removed |= editor.remove_from_list(&below, list, |rule| rule.trim() == text)?;
            }
            Ok(removed)
        })?;
        if removed {
            TrustStore::for_paths(paths).unbind_rule(text, &spot.file)?;
            files.push(spot.file);
        }
    }
    // If the folder declares the rule again later, it needs a new approval.
    if files.iter().any(|file| paths.is_in_project(file)) && !is_left_in_folder(paths, loaded, text, &files) {
        ApprovalStore::for_project(paths).forget_approval(ItemKind::Rule, text, &[])?;
    }
    if files.is_empty() {
        let elsewhere = loaded.settings.rules.iter().find(|rule| rule.text() == text);
        let elsewhere = elsewhere.map(|rule| rule.origin().clone());
        return Err(ChangeError::NoSuchRule { rule: text.to_owned(), scope, elsewhere });
    }
    Ok(RemovedRule { rule: text.to_owned(), files })
}

/// Whether another file of the folder contains the same allow rule.
fn is_left_in_folder(paths: &Paths, loaded: &LoadedConfig, text: &str, removed: &[PathBuf]) -> bool {
    let mut rules = loaded.settings.rules.iter().filter(|rule| rule.kind() == RuleKind::Allow);
    rules.any(|rule| {
        let file = rule.origin().source.path();
        let is_other = |file: &Path| paths.is_in_project(file) && !removed.iter().any(|gone| gone == file);
        rule.text() == text && file.is_some_and(is_other)
    })
}

/// Whether a rule holds only while its tool keeps the definition that was allowed.
#[must_use]
pub fn is_bound(paths: &Paths, rule: &PermissionRule) -> bool {
    let file = rule.origin().source.path();
    file.is_some_and(|file| {
        TrustStore::for_paths(paths)
            .rule_bindings()
            .bindings_of(rule.text(), file)
            .any(|binding| binding.tool != EVERY_TOOL)
    })
}

/// The file in which "always allow" rules of this scope are written.
pub fn always_allow_file(paths: &Paths, scope: AlwaysAllowScope) -> PathBuf {
    always_allow_target(paths, scope).file
}

/// Writes an "always allow" rule.
pub fn write_always_allow_rule(
    paths: &Paths,
    scope: AlwaysAllowScope,
    text: &str,
) -> Result<(), ChangeError> {
    write_rule(paths, &always_allow_target(paths, scope), RuleKind::Allow, text).map(drop)
}

fn always_allow_target(paths: &Paths, scope: AlwaysAllowScope) -> EditTarget {
    match scope {
        AlwaysAllowScope::Local => rules_target(paths, WriteScope::Local),
        AlwaysAllowScope::Private => EditTarget::for_private_choices(paths),
        AlwaysAllowScope::User => rules_target(paths, WriteScope::User),
    }
}

/// Writes a rule. An allow rule in a file of the project folder is approved in the same step.
fn write_rule(
    paths: &Paths,
    spot: &EditTarget,
    kind: RuleKind,
    text: &str,
) -> Result<((), UpdateOutcome), ChangeError> {
    let written = spot.edit_file(|editor, path| {
        editor.add_to_list(&[path, &[PERMISSIONS]].concat(), &kind.to_string(), text)
    })?;
    if kind == RuleKind::Allow {
        approve_written(paths, &spot.file, &ApprovalItem::for_rule(text))?;
    }
    Ok(written)
}

/// The settings object of a scope.
fn rules_target(paths: &Paths, scope: WriteScope) -> EditTarget {
    match scope {
        WriteScope::User => EditTarget::for_user_choices(paths),
        WriteScope::Local => {
            // The folder belongs to the project, the file to the user.
            let creation = Creation { dir_mode: Creation::SHARED.dir_mode, ..Creation::PRIVATE };
            EditTarget::new(paths.local_settings(), &[], creation)
        }
        WriteScope::Project => {
            let file = paths.project_settings().unwrap_or_else(|| paths.user_settings());
            EditTarget::new(file, &[], Creation::SHARED)
        }
    }
}
