//! `permissions test`: the permission decision about a call, and the rule that decides.

use mcparley::catalog::{Catalog, CatalogEntry};
use mcparley::config::LoadedConfig;
use mcparley::model::hook::{HookEvent, HookStatus, HookWithStatus};
use mcparley::model::name::{ServerName, ToolName, normalize_server, normalize_tool};
use mcparley::model::permission::{
    Decision, DecisionReason, KnownServers, PermissionMode, PermissionRule, PermissionSubject,
    PermissionVerdict, RuleKind, RuleScope, RuleSet, decide_call,
};
use mcparley::model::scope::{ConfigOrigin, Source};
use mcparley::model::text::display_line;
use serde_json::{Value, json};

use super::{CommandResult, known_servers, print_problems, read_known_tools};
use crate::args::PermissionsTestArgs;
use crate::context::Context;
use crate::error::UsageError;
use crate::exit;
use crate::out::{TerminalOutput, bold, dim};

pub(super) fn run(
    args: &PermissionsTestArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let known = known_servers(loaded);
    let (server, tool) = resolve_tool(args, &known)?;
    let arguments = args.arguments.as_deref().map(parse_arguments).transpose()?;
    let (catalog, known_decision) = read_known_tools(context, loaded, |host| {
        let catalog = host.catalog();
        let entry = catalog.find_tool(&server, &tool).filter(|_| !args.read_only);
        let decision = entry.map(|entry| host.decide_permission(entry, arguments.as_ref()));
        (catalog, decision)
    })?;
    let entry = catalog.find_tool(&server, &tool);
    let rules = RuleSet::new(loaded.settings.rules.iter().cloned());
    let mode = loaded.settings.mode.as_ref().map_or(PermissionMode::Default, |mode| mode.value);
    let decision = known_decision.unwrap_or_else(|| {
        let (arguments, read_only) = (arguments.as_ref(), args.read_only);
        let subject = PermissionSubject { server: &server, tool: &tool, public: None, arguments, read_only };
        decide_call(&subject, &rules, mode, &known)
    });
    let dead = rules.find_dead_rules(&known);
    let hooks = matching_hooks(loaded, &public_name(entry.map(|entry| &**entry), &server, &tool));
    let definition = DefinitionState::from_catalog(&catalog, entry.map(|entry| &**entry), (&server, &tool));
    if out.json {
        out.print_json(&json!({
            "server": server, "tool": tool, "mode": mode, "toolPin": loaded.settings.pins.effective_pin(),
            "definition": definition.state_name(), "difference": definition.changed_lines(),
            "decision": decision, "deadRules": dead, "hooks": hooks,
        }));
        return Ok(exit::OK);
    }
    print_problems(loaded, out);
    print_decision(&server, &tool, &decision, out);
    definition.print_change(out);
    print_hooks(&hooks, out);
    for rule in dead {
        out.warn(&rule.to_string());
        out.hint(&rule.hint());
    }
    if loaded.plan.servers_by_name(server.as_str()).is_empty() {
        out.warn(&format!("server `{}` is not configured", server.as_str()));
    }
    Ok(exit::OK)
}

/// The full name of the tool, which hooks match; guessed if the tool is not in the cache.
fn public_name(entry: Option<&CatalogEntry>, server: &ServerName, tool: &ToolName) -> String {
    entry.map_or_else(
        || format!("mcp__{}__{}", normalize_server(server), normalize_tool(tool)),
        |entry| entry.name.as_str().to_owned(),
    )
}

/// The hooks that a call of the tool triggers, those that do not run included.
fn matching_hooks(loaded: &LoadedConfig, name: &str) -> Vec<HookWithStatus> {
    let events = [HookEvent::PreToolUse, HookEvent::PostToolUse, HookEvent::PostToolUseFailure];
    let mut hooks = loaded.settings.hooks.hooks_with_status(loaded.session);
    hooks.retain(|HookWithStatus { hook, .. }| events.contains(&hook.event) && hook.matcher.matches(name));
    hooks
}

fn print_hooks(hooks: &[HookWithStatus], out: &mut TerminalOutput) {
    if !hooks.is_empty() {
        out.print_line("  a call triggers these hooks:");
    }
    for HookWithStatus { hook, status } in hooks {
        let remark = match status {
            HookStatus::Ready => String::new(),
            status => format!(" ({}, so it does not run)", status.as_str()),
        };
        let command = display_line(&hook.display_command()).into_owned();
        out.print_line(format!("    {:18}  {command}{remark}", hook.event.as_str()));
        out.print_line(format!("    {:18}  {}", "", dim(&hook.origin.to_string())));
    }
}

/// The state of a tool's definition, compared with its review.
enum DefinitionState {
    /// The tool is not in the cache.
    Unknown,
    /// The definition is the one first seen or last reviewed.
    Same,
    /// The definition has changed.
    Changed { lines: Vec<String>, withheld: bool },
}

impl DefinitionState {
    fn from_catalog(
        catalog: &Catalog,
        entry: Option<&CatalogEntry>,
        (server, tool): (&ServerName, &ToolName),
    ) -> Self {
        let mut changed = catalog
            .changed_tools()
            .iter()
            .filter(|changed| changed.server == *server && changed.tool == *tool);
        match (changed.next(), entry) {
            (Some(changed), _) => {
                Self::Changed { lines: changed.change.lines.clone(), withheld: changed.withheld }
            }
            (None, Some(_)) => Self::Same,
            (None, None) => Self::Unknown,
        }
    }

    fn state_name(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Same => "same",
            Self::Changed { withheld: false, .. } => "changed",
            Self::Changed { withheld: true, .. } => "withheld",
        }
    }

    fn changed_lines(&self) -> &[String] {
        match self {
            Self::Unknown | Self::Same => &[],
            Self::Changed { lines, .. } => lines,
        }
    }

    fn print_change(&self, out: &mut TerminalOutput) {
        let Self::Changed { lines, withheld } = self else { return };
        out.print_line("  the tool has changed since it was first seen or last reviewed:");
        for line in lines {
            out.print_line(format!("    {line}"));
        }
        if *withheld {
            out.print_line("  it is not offered until it is reviewed");
        }
        out.hint("run `mcparley permissions review --accept` to accept the change");
    }
}

fn print_decision(server: &ServerName, tool: &ToolName, decision: &Decision, out: &mut TerminalOutput) {
    let call = format!("{} of {}", display_line(tool.as_str()), display_line(server.as_str()));
    out.print_line(format!("{}  {call}", bold(&decision.verdict.to_string())));
    out.print_line(format!("  because of {}", display_line(&decision.why.to_string())));
    if decision.verdict == PermissionVerdict::Ask && decision.is_left_to_classifier() {
        out.print_line("  a classifier decides at call time");
    }
    if let DecisionReason::ServerReplaced { rule } = &decision.why {
        let rule = display_line(rule.text());
        out.hint(&format!("to allow it for this server too, run `mcparley permissions allow '{rule}'`"));
    }
}

/// The server and the tool, given separately or as a full name.
fn resolve_tool(
    args: &PermissionsTestArgs,
    known: &KnownServers,
) -> Result<(ServerName, ToolName), UsageError> {
    if let Some(tool) = &args.tool {
        return Ok((ServerName::new(&args.server), ToolName::new(tool)));
    }
    // A full name is resolved like a rule: by the configured servers, never by splitting it.
    let origin = ConfigOrigin::for_source(Source::from_label("the command line"));
    let rule = PermissionRule::parse(RuleKind::Allow, &args.server, origin, RuleScope::CommandLine);
    let readings = rule.as_ref().map(|rule| rule.readings(known)).unwrap_or_default();
    match readings.as_slice() {
        [reading] if !reading.tool.is_empty() => {
            Ok((ServerName::new(&reading.server), ToolName::new(&reading.tool)))
        }
        [] | [_] => Err(UsageError::UnknownTool { word: args.server.clone() }),
        [_, _, ..] => Err(UsageError::AmbiguousTool { word: args.server.clone() }),
    }
}

fn parse_arguments(text: &str) -> Result<Value, UsageError> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) | Err(_) => Err(UsageError::ArgumentsNotObject),
    }
}
