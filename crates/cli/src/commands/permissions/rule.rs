//! `permissions allow`, `ask`, `deny` and `remove`: rules in settings files.

use std::path::Path;

use mcparley::change::{self, WriteScope, WrittenRule};
use mcparley::model::permission::{Rule, RuleKind, RuleSet};
use mcparley::model::text::display;
use mcparley::{AlwaysScope, Loaded, Start};
use serde_json::json;

use super::{Done, known};
use crate::args::{AllowArgs, RemoveRuleArgs, RuleArgs, ScopeArg};
use crate::commands::{tools, usable};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::live;
use crate::out::{Out, bold};

pub(super) fn allow(args: &AllowArgs, context: &Context, out: &mut Out) -> Done {
    write(RuleKind::Allow, &args.rule, context, out)
}

pub(super) fn write(kind: RuleKind, args: &RuleArgs, context: &Context, out: &mut Out) -> Done {
    let written = change::add_rule(&context.paths, kind, &args.rule, args.scope.into())?;
    tell(kind, &written, false, out);
    let loaded = context.load()?;
    change::bind_to_servers(&context.paths, &loaded, &written)?;
    tell_dead(&written, &loaded, out)
}

/// Allows one tool as it is now.
pub(super) fn allow_as_is(args: &AllowArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let RuleArgs { rule: name, scope } = &args.rule;
    let scope = match scope {
        ScopeArg::Local => AlwaysScope::Local,
        ScopeArg::User => AlwaysScope::User,
        ScopeArg::Project => {
            return Err(CommandError::usage(
                "what a tool is now holds for you, and not for everyone who works on the project",
                "choose `--scope local` or `--scope user`",
            ));
        }
    };
    let start = usable::owners(loaded, name).map_or(Start::All, Start::Only);
    let host = context.host(loaded.clone()).start_with(start);
    let (rule, file) = live::with_host(host, async |host| {
        let servers = usable::settled(host, out).await;
        let catalog = host.catalog();
        let Some(entry) = catalog.get(name).filter(|entry| entry.server().is_some()) else {
            return Err(tools::no_tool(loaded, &servers, &catalog, None, name));
        };
        let kept = host.always_allow(entry, scope).await?;
        Ok((kept.rule, kept.file))
    })?;
    tell(RuleKind::Allow, &WrittenRule { rule, file, is_old: false }, true, out);
    Ok(exit::OK)
}

pub(super) fn remove(args: &RemoveRuleArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let scope = args.scope.map(WriteScope::from);
    let removed = change::remove_rule(&context.paths, loaded, &args.rule, scope)?;
    if out.json {
        let files: Vec<_> = removed.files.iter().map(|file| file.to_string_lossy()).collect();
        out.value(&json!({ "removed": removed.rule, "files": files }));
        return Ok(exit::OK);
    }
    out.line(format!("Removed the rule {}", bold(&removed.rule)));
    removed.files.iter().for_each(|file| tell_file(file, out));
    Ok(exit::OK)
}

fn tell(kind: RuleKind, written: &WrittenRule, as_is: bool, out: &mut Out) {
    let WrittenRule { rule, file, is_old, .. } = written;
    if out.json {
        let file = file.to_string_lossy();
        out.value(&json!({ "kind": kind, "rule": rule, "file": file, "existed": is_old, "asIs": as_is }));
        return;
    }
    match (is_old, as_is) {
        (true, _) => out.line(format!("The {kind} rule {} stood there already", bold(rule))),
        (false, false) => out.line(format!("Wrote the {kind} rule {}", bold(rule))),
        (false, true) => {
            out.line(format!("Wrote the {kind} rule {} for the tool as it is now", bold(rule)));
        }
    }
    tell_file(file, out);
}

/// Says so if the rule that was just written can match nothing, or leaves nothing for another one.
fn tell_dead(written: &WrittenRule, loaded: &Loaded, out: &mut Out) -> Done {
    let rules = RuleSet::new(loaded.settings.rules.iter().cloned());
    let is_it =
        |rule: &Rule| rule.text() == written.rule && rule.origin().source.path() == Some(&written.file);
    for dead in rules.dead(&known(loaded)) {
        if (is_it(&dead.rule) || dead.by().is_some_and(is_it)) && !out.json {
            out.warn(&dead.to_string());
            out.hint(&dead.hint());
        }
    }
    Ok(exit::OK)
}

fn tell_file(file: &Path, out: &mut Out) {
    out.line(format!("File: {}", display(&file.to_string_lossy())));
}
