//! `permissions list`: every rule, where it stands, and which tools it means.

use std::sync::Arc;

use mcparley::change;
use mcparley::model::name::PublicName;
use mcparley::model::permission::{Dead, KnownServers, Mode, Pin, Rule, RuleSet, Subject};
use mcparley::model::text::display;
use mcparley::{Catalog, Loaded};
use serde::Serialize;

use super::{Done, known, remembered, tell_problems};
use crate::args::PermissionsListArgs;
use crate::context::Context;
use crate::exit;
use crate::out::{Out, bold};

/// How many tools are named on a line before the others are only counted.
const NAMED: usize = 3;

/// What `list` shows.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    mode: Mode,
    tool_pin: Pin,
    rules: Vec<Row>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(flatten)]
    rule: Arc<Rule>,
    /// Whether it holds only as long as its tool is what it was when it was allowed.
    as_is: bool,
    /// The tools it means, as far as they are known.
    tools: Vec<PublicName>,
    /// Why it can match nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    dead: Option<Dead>,
}

pub(super) fn run(
    PermissionsListArgs {}: &PermissionsListArgs,
    context: &Context,
    loaded: &Loaded,
    out: &mut Out,
) -> Done {
    let known = known(loaded);
    let rules = RuleSet::new(loaded.settings.rules.iter().cloned());
    let mut dead = rules.dead(&known);
    let catalog = remembered(context, loaded).map(|remembered| remembered.catalog).unwrap_or_default();
    let mut row = |rule: &Arc<Rule>| Row {
        as_is: change::is_bound(&context.paths, rule),
        tools: meant(rule, &catalog, &known),
        dead: dead.iter().position(|dead| dead.rule == *rule).map(|at| dead.swap_remove(at).why),
        rule: Arc::clone(rule),
    };
    let report = Report {
        mode: loaded.settings.mode.as_ref().map_or(Mode::Default, |mode| mode.value),
        tool_pin: loaded.settings.pins.in_force(),
        rules: rules.iter().map(&mut row).collect(),
    };
    if out.json {
        out.value(&report);
        return Ok(exit::OK);
    }
    tell_problems(loaded, out);
    report.render(out);
    for dead in rules.dead(&known) {
        out.warn(&dead.to_string());
        out.hint(&dead.hint());
    }
    Ok(exit::OK)
}

/// The tools a rule means, whatever its condition says about their arguments.
fn meant(rule: &Rule, catalog: &Catalog, known: &KnownServers) -> Vec<PublicName> {
    let is_meant = |entry: &mcparley::Entry| {
        entry.server().map_or_else(
            || rule.matches_built_in(entry.name.as_str()),
            |server| {
                let (tool, public) = (&entry.tool.name, Some(&entry.name));
                let subject = Subject { server, tool, public, arguments: None, read_only: false };
                rule.means(&subject, known)
            },
        )
    };
    catalog.iter().filter(|entry| is_meant(entry)).map(|entry| entry.name.clone()).collect()
}

impl Report {
    fn render(&self, out: &mut Out) {
        out.line(format!(
            "mode {}, changed tools: {}",
            bold(self.mode.as_str()),
            bold(self.tool_pin.as_str())
        ));
        if self.rules.is_empty() {
            out.line("There are no rules.");
        }
        for Row { rule, as_is, tools, dead } in &self.rules {
            let kind = format!("{:5}", rule.kind().to_string());
            let as_is = if *as_is { ", as the tool is" } else { "" };
            out.line(format!("{}  {}", bold(&kind), display(rule.text())));
            out.line(format!("       {} ({}{as_is})", display(&rule.origin().to_string()), rule.scope()));
            if dead.is_none() {
                out.line(format!("       {}", counted(tools)));
            }
        }
    }
}

fn counted(tools: &[PublicName]) -> String {
    let named: Vec<&str> = tools.iter().take(NAMED).map(PublicName::as_str).collect();
    match tools.len() {
        0 => "means no tool that is known now".to_owned(),
        count if count > NAMED => format!("means {} and {} more", named.join(", "), count - NAMED),
        _ => format!("means {}", named.join(", ")),
    }
}
