//! `permissions list`: all rules with their file and the tools they match.

use std::sync::Arc;

use mcparley::Host;
use mcparley::catalog::Catalog;
use mcparley::config::{LoadedConfig, change};
use mcparley::model::name::PublicName;
use mcparley::model::permission::{
    DeadReason, KnownServers, PermissionMode, PermissionRule, PermissionSubject, RuleSet, ToolPin,
};
use mcparley::model::text::display_line;
use serde::Serialize;

use super::{CommandResult, known_servers, print_problems, read_known_tools};
use crate::args::PermissionsListArgs;
use crate::context::Context;
use crate::exit;
use crate::out::{TerminalOutput, bold};

/// The number of tools listed by name; the others are counted.
const NAMED: usize = 3;

/// The report of `permissions list`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RulesReport {
    mode: PermissionMode,
    tool_pin: ToolPin,
    rules: Vec<RuleRow>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RuleRow {
    #[serde(flatten)]
    rule: Arc<PermissionRule>,
    /// Whether the rule applies only while the definition of its tool is unchanged.
    as_is: bool,
    /// The cached tools that the rule matches.
    tools: Vec<PublicName>,
    /// The reason why the rule cannot match any tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    dead: Option<DeadReason>,
}

pub(super) fn run(
    PermissionsListArgs {}: &PermissionsListArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let known = known_servers(loaded);
    let rules = RuleSet::new(loaded.settings.rules.iter().cloned());
    let mut dead = rules.find_dead_rules(&known);
    let catalog = read_known_tools(context, loaded, Host::catalog)?;
    let mut row = |rule: &Arc<PermissionRule>| RuleRow {
        as_is: change::is_bound(&context.paths, rule),
        tools: matching_tools(rule, &catalog, &known),
        dead: dead.iter().position(|dead| dead.rule == *rule).map(|at| dead.swap_remove(at).why),
        rule: Arc::clone(rule),
    };
    let report = RulesReport {
        mode: loaded.settings.mode.as_ref().map_or(PermissionMode::Default, |mode| mode.value),
        tool_pin: loaded.settings.pins.effective_pin(),
        rules: rules.iter().map(&mut row).collect(),
    };
    if out.json {
        out.print_json(&report);
        return Ok(exit::OK);
    }
    print_problems(loaded, out);
    report.render(out);
    for dead in rules.find_dead_rules(&known) {
        out.warn(&dead.to_string());
        out.hint(&dead.hint());
    }
    Ok(exit::OK)
}

/// The tools that a rule matches, regardless of its condition on arguments.
fn matching_tools(rule: &PermissionRule, catalog: &Catalog, known: &KnownServers) -> Vec<PublicName> {
    let is_meant = |entry: &mcparley::catalog::CatalogEntry| {
        entry.server().map_or_else(
            || rule.matches_built_in(entry.name.as_str()),
            |server| {
                let (tool, public) = (&entry.tool.name, Some(&entry.name));
                let subject = PermissionSubject { server, tool, public, arguments: None, read_only: false };
                rule.matches_tool(&subject, known)
            },
        )
    };
    catalog.iter().filter(|entry| is_meant(entry)).map(|entry| entry.name.clone()).collect()
}

impl RulesReport {
    fn render(&self, out: &mut TerminalOutput) {
        out.print_line(format!(
            "mode {}, changed tools: {}",
            bold(self.mode.as_str()),
            bold(self.tool_pin.as_str())
        ));
        if self.rules.is_empty() {
            out.print_line("No permission rules.");
        }
        for RuleRow { rule, as_is, tools, dead } in &self.rules {
            let kind = format!("{:5}", rule.kind().to_string());
            let as_is = if *as_is { ", while the tool is unchanged" } else { "" };
            out.print_line(format!("{}  {}", bold(&kind), display_line(rule.text())));
            out.print_line(format!(
                "       {} ({}{as_is})",
                display_line(&rule.origin().to_string()),
                rule.scope()
            ));
            if dead.is_none() {
                out.print_line(format!("       {}", describe_tools(tools)));
            }
        }
    }
}

fn describe_tools(tools: &[PublicName]) -> String {
    let named: Vec<&str> = tools.iter().take(NAMED).map(PublicName::as_str).collect();
    match tools.len() {
        0 => "matches no known tool".to_owned(),
        count if count > NAMED => format!("matches {} and {} more", named.join(", "), count - NAMED),
        _ => format!("matches {}", named.join(", ")),
    }
}
