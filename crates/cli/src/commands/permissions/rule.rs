//! `permissions allow`, `ask`, `deny` and `remove`: edit permission rules in settings files.

use std::path::Path;

use mcparley::config::change::{self, AlwaysAllowScope, WriteScope, WrittenRule};
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::model::permission::{PermissionRule, RuleKind, RuleSet};
use mcparley::model::text::display_line;
use serde_json::json;

use super::{CommandResult, known_servers};
use crate::args::{AllowArgs, RemoveRuleArgs, RuleArgs, ScopeArg};
use crate::commands::{tools, usable};
use crate::context::Context;
use crate::error::UsageError;
use crate::exit;
use crate::out::{TerminalOutput, bold};
use crate::runtime;

pub(super) fn run_allow(args: &AllowArgs, context: &Context, out: &mut TerminalOutput) -> CommandResult {
    write_rule(RuleKind::Allow, &args.rule, context, out)
}

pub(super) fn write_rule(
    kind: RuleKind,
    args: &RuleArgs,
    context: &Context,
    out: &mut TerminalOutput,
) -> CommandResult {
    let written = change::add_rule(&context.paths, kind, &args.rule, args.scope.into())?;
    print_written_rule(kind, &written, false, out);
    let loaded = context.load()?;
    change::bind_to_servers(&context.paths, &loaded, &written)?;
    warn_dead_rules(&written, &loaded, out)
}

/// Allows one tool while its definition is unchanged.
pub(super) fn run_allow_as_is(
    args: &AllowArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let RuleArgs { rule: name, scope } = &args.rule;
    let scope = match scope {
        ScopeArg::Local => AlwaysAllowScope::Local,
        ScopeArg::User => AlwaysAllowScope::User,
        ScopeArg::Project => return Err(UsageError::ProjectScope.into()),
    };
    let start = usable::owning_servers(loaded, name).map_or(StartPolicy::All, StartPolicy::Only);
    let host = context.host_for_model(loaded.clone(), out.dialogs()).start_with(start);
    let (rule, file) = runtime::run_with_host(host, async |host| {
        let servers = usable::wait_until_settled(host, out).await;
        let catalog = host.catalog();
        let Some(entry) = catalog.get(name).filter(|entry| entry.server().is_some()) else {
            return Err(tools::no_tool_error(loaded, &servers, &catalog, None, name));
        };
        let kept = host.always_allow(entry, scope).await?;
        Ok((kept.rule, kept.file))
    })?;
    print_written_rule(RuleKind::Allow, &WrittenRule { rule, file, is_old: false }, true, out);
    Ok(exit::OK)
}

pub(super) fn run_remove(
    args: &RemoveRuleArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let scope = args.scope.map(WriteScope::from);
    let removed = change::remove_rule(&context.paths, loaded, &args.rule, scope)?;
    if out.json {
        let files: Vec<_> = removed.files.iter().map(|file| file.to_string_lossy()).collect();
        out.print_json(&json!({ "removed": removed.rule, "files": files }));
        return Ok(exit::OK);
    }
    out.print_line(format!("Removed rule {}", bold(&removed.rule)));
    removed.files.iter().for_each(|file| print_file(file, out));
    Ok(exit::OK)
}

fn print_written_rule(kind: RuleKind, written: &WrittenRule, as_is: bool, out: &mut TerminalOutput) {
    let WrittenRule { rule, file, is_old, .. } = written;
    if out.json {
        let file = file.to_string_lossy();
        out.print_json(
            &json!({ "kind": kind, "rule": rule, "file": file, "existed": is_old, "asIs": as_is }),
        );
        return;
    }
    match (is_old, as_is) {
        (true, _) => out.print_line(format!("The {kind} rule {} already exists", bold(rule))),
        (false, false) => out.print_line(format!("Added {kind} rule {}", bold(rule))),
        (false, true) => {
            out.print_line(format!(
                "Added {kind} rule {} for the current definition of the tool",
                bold(rule)
            ));
        }
    }
    print_file(file, out);
}

/// Warns if the new rule cannot match any tool, or makes another rule ineffective.
fn warn_dead_rules(written: &WrittenRule, loaded: &LoadedConfig, out: &mut TerminalOutput) -> CommandResult {
    let rules = RuleSet::new(loaded.settings.rules.iter().cloned());
    let is_it = |rule: &PermissionRule| {
        rule.text() == written.rule && rule.origin().source.path() == Some(&written.file)
    };
    for dead in rules.find_dead_rules(&known_servers(loaded)) {
        if (is_it(&dead.rule) || dead.covering_rule().is_some_and(is_it)) && !out.json {
            out.warn(&dead.to_string());
            out.hint(&dead.hint());
        }
    }
    Ok(exit::OK)
}

fn print_file(file: &Path, out: &mut TerminalOutput) {
    out.print_line(format!("File: {}", display_line(&file.to_string_lossy())));
}
