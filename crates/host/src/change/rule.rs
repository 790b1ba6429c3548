//! Writes and removes permission rules in the settings of a scope (P3, P6).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcparley_model::approval::{Item, ItemKind};
use mcparley_model::permission::{KnownServers, Rule, RuleKind, RuleScope};
use mcparley_model::plan::ServerStanding;
use mcparley_model::scope::{Origin, Source};
use mcparley_platform::file::{Creation, Updated};

use super::approval::approve_written;
use super::{ApprovalStore, ChangeError, Spot, WriteScope};
use crate::call::AlwaysScope;
use crate::paths::Paths;
use crate::sources::Loaded;
use crate::trust::{Binding, EVERY_TOOL, Trust};

/// The object of settings that holds the rules.
const PERMISSIONS: &str = "permissions";

/// A rule that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRule {
    /// The rule.
    pub rule: String,
    /// The file it stands in.
    pub file: PathBuf,
    /// Whether it stood there before.
    pub is_old: bool,
}

/// Rules that were removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedRule {
    /// The rule.
    pub rule: String,
    /// The files it stood in.
    pub files: Vec<PathBuf>,
}

/// Writes a rule down, as a person typed it: it holds whatever its tools become, as far as `toolPin` lets it, and for
/// the servers it was given for before too.
///
/// # Errors
/// When the text is no rule, or the file cannot be edited.
pub fn add_rule(
    paths: &Paths,
    kind: RuleKind,
    text: &str,
    scope: WriteScope,
) -> Result<WrittenRule, ChangeError> {
    let origin = Origin::whole(Source::inline("the command line"));
    let rule = Rule::parse(kind, text, origin, RuleScope::CommandLine)?;
    let spot = rules(paths, scope);
    Trust::of(paths).unbind_tools(rule.text(), &spot.file)?;
    let ((), updated) = write(paths, &spot, kind, rule.text())?;
    let is_old = matches!(updated, Updated::Unchanged { .. });
    Ok(WrittenRule { rule: rule.text().to_owned(), file: spot.file, is_old })
}

/// Binds an allow rule that was just written to the servers it names: another server that later gets one of their
/// names does not inherit it. A rule for a pattern of names is meant for all of them and is not bound.
///
/// # Errors
/// When that cannot be kept.
pub fn bind_to_servers(paths: &Paths, loaded: &Loaded, written: &WrittenRule) -> Result<(), ChangeError> {
    let is_it =
        |rule: &Rule| rule.text() == written.rule && rule.origin().source.path() == Some(&written.file);
    let trust = Trust::of(paths);
    match server_bindings(&trust, loaded, is_it) {
        bindings if bindings.is_empty() => Ok(()),
        bindings => trust.bind(bindings),
    }
}

/// Binds the allow rules that people wrote into settings files to the servers they name, the first time both are there
/// (B37). An administrator's rules mean names, and options of one run mean what is there now.
pub(crate) fn bind_typed_rules(trust: &Trust, loaded: &Loaded) {
    let ledger = trust.ledger();
    let is_unbound = |rule: &Rule| {
        let file = rule.origin().source.path();
        let is_personal = !matches!(rule.scope(), RuleScope::Managed | RuleScope::CommandLine);
        is_personal && file.is_some_and(|file| ledger.of(rule.text(), file).next().is_none())
    };
    let bindings = server_bindings(trust, loaded, is_unbound);
    if !bindings.is_empty() {
        // Rules of which nothing could be kept are bound by the next process.
        let _unwritten = trust.bind(bindings);
    }
}

/// The servers that each of the `chosen` allow rules names and that may run.
fn server_bindings(trust: &Trust, loaded: &Loaded, chosen: impl Fn(&Rule) -> bool) -> Vec<Binding> {
    let allows = loaded.settings.rules.iter().filter(|rule| rule.kind() == RuleKind::Allow && chosen(rule));
    let allows: Vec<&Arc<Rule>> = allows.collect();
    if allows.is_empty() {
        return Vec::new();
    }
    let known = KnownServers::new(loaded.plan.servers.iter().map(|server| server.name.clone()));
    let mut bindings = Vec::new();
    for rule in allows {
        let Some(file) = rule.origin().source.path() else { continue };
        for reading in rule.readings(&known).iter().filter(|reading| !reading.server.contains('*')) {
            let server = loaded.plan.named(&reading.server).into_iter().next();
            let server = server.filter(|server| server.standing == ServerStanding::Ready);
            let Some(config) = server.and_then(|server| server.config.as_ref()) else { continue };
            bindings.push(Binding {
                rule: rule.text().to_owned(),
                file: file.to_path_buf(),
                server: trust.key(config).identity().to_owned(),
                tool: EVERY_TOOL.to_owned(),
            });
        }
    }
    bindings
}

/// Removes a rule, whatever its kind, from one scope or from all that a person may edit.
///
/// # Errors
/// When it stands in none of them.
pub fn remove_rule(
    paths: &Paths,
    loaded: &Loaded,
    text: &str,
    scope: Option<WriteScope>,
) -> Result<RemovedRule, ChangeError> {
    let text = text.trim();
    let mut files = Vec::new();
    let scopes = WriteScope::ALL.into_iter().filter(|known| scope.is_none_or(|scope| scope == *known));
    let private = Spot::private_choices(paths);
    let spots = scopes.flat_map(|scope| match (scope, rules(paths, scope)) {
        (WriteScope::Local, spot) => [Some(private.clone()), Some(spot)],
        (WriteScope::User | WriteScope::Project, spot) => [None, Some(spot)],
    });
    for spot in spots.flatten() {
        let removed = spot.change_existing(|editor, path| {
            let below = [path, &[PERMISSIONS]].concat();
            let mut removed = false;
            for list in ["allow", "ask", "deny"] {
                removed |= editor.remove_from_list(&below, list, |rule| rule.trim() == text)?;
            }
            Ok(removed)
        })?;
        if removed {
            Trust::of(paths).unbind(text, &spot.file)?;
            files.push(spot.file);
        }
    }
    // Should the folder bring the rule later on, that is another's word.
    if files.iter().any(|file| paths.is_in_project(file)) && !is_left_in_folder(paths, loaded, text, &files) {
        ApprovalStore::of(paths).forget_approval(ItemKind::Rule, text, &[])?;
    }
    if files.is_empty() {
        let elsewhere = loaded.settings.rules.iter().find(|rule| rule.text() == text);
        let elsewhere = elsewhere.map(|rule| rule.origin().clone());
        return Err(ChangeError::NoSuchRule { rule: text.to_owned(), scope, elsewhere });
    }
    Ok(RemovedRule { rule: text.to_owned(), files })
}

/// Whether another file of the folder still allows the same.
fn is_left_in_folder(paths: &Paths, loaded: &Loaded, text: &str, removed: &[PathBuf]) -> bool {
    let mut rules = loaded.settings.rules.iter().filter(|rule| rule.kind() == RuleKind::Allow);
    rules.any(|rule| {
        let file = rule.origin().source.path();
        let is_other = |file: &Path| paths.is_in_project(file) && !removed.iter().any(|gone| gone == file);
        rule.text() == text && file.is_some_and(is_other)
    })
}

/// Whether a rule holds only as long as its tool is what it was when it was allowed.
#[must_use]
pub fn is_bound(paths: &Paths, rule: &Rule) -> bool {
    let file = rule.origin().source.path();
    file.is_some_and(|file| {
        Trust::of(paths).ledger().of(rule.text(), file).any(|binding| binding.tool != EVERY_TOOL)
    })
}

/// Where "always allow" of this scope is written.
pub(crate) fn always_file(paths: &Paths, scope: AlwaysScope) -> PathBuf {
    always(paths, scope).file
}

/// Writes a rule of "always allow".
pub(crate) fn write_always(paths: &Paths, scope: AlwaysScope, text: &str) -> Result<(), ChangeError> {
    write(paths, &always(paths, scope), RuleKind::Allow, text).map(drop)
}

fn always(paths: &Paths, scope: AlwaysScope) -> Spot {
    match scope {
        AlwaysScope::Local => rules(paths, WriteScope::Local),
        AlwaysScope::Private => Spot::private_choices(paths),
        AlwaysScope::User => rules(paths, WriteScope::User),
    }
}

/// Writes a rule. One that allows something, in a file of the folder, is approved in the same step.
fn write(paths: &Paths, spot: &Spot, kind: RuleKind, text: &str) -> Result<((), Updated), ChangeError> {
    let written = spot.change(|editor, path| {
        editor.add_to_list(&[path, &[PERMISSIONS]].concat(), &kind.to_string(), text)
    })?;
    if kind == RuleKind::Allow {
        approve_written(paths, &spot.file, &Item::rule(text))?;
    }
    Ok(written)
}

/// The settings of a scope.
fn rules(paths: &Paths, scope: WriteScope) -> Spot {
    match scope {
        WriteScope::User => Spot::user_choices(paths),
        WriteScope::Local => {
            // The folder is the project's, the file is the user's.
            let creation = Creation { dir_mode: Creation::SHARED.dir_mode, ..Creation::PRIVATE };
            Spot::new(paths.local_settings(), &[], creation)
        }
        WriteScope::Project => {
            let file = paths.project_settings().unwrap_or_else(|| paths.user_settings());
            Spot::new(file, &[], Creation::SHARED)
        }
    }
}
