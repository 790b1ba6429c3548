//! `budget`: the tokens of the tools in a model's context, and the tools that are listed at once or deferred.

mod advice;

use std::collections::HashMap;

use mcparley::catalog::{Budget, CatalogEntry, ModelOffer, ToolProvider};
use mcparley::config::LoadedConfig;
use mcparley::model::explain::Explain;
use mcparley::model::name::{PublicName, ServerName};
use mcparley::model::text::display_line;
use serde::Serialize;

use super::listing::{self, ListingRequest};
use super::usable::{self, IncompleteServer};
use super::{CommandResult, base_exit_code, print_problems};
use crate::args::BudgetArgs;
use crate::context::Context;
use crate::exit;
use crate::out::{TerminalOutput, bold, dim};
use advice::BudgetAdvice;

/// The report of `budget`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BudgetReport {
    /// The total number of tokens.
    tokens: u64,
    /// The budget above which tools are deferred; `None` without a limit.
    budget: Option<u64>,
    listed_tokens: u64,
    deferred_tokens: u64,
    groups: Vec<ToolGroup>,
    /// Tools that a permission rule denies, so that no model sees them.
    denied: Vec<PublicName>,
    /// The servers that offer nothing, or not all, with the reason.
    servers: Vec<IncompleteServer>,
    advice: Vec<BudgetAdvice>,
}

/// The tools of one server, or the built-in ones.
#[derive(Serialize)]
struct ToolGroup {
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<ServerName>,
    tokens: u64,
    tools: Vec<BudgetRow>,
}

#[derive(Serialize)]
struct BudgetRow {
    name: PublicName,
    tokens: u64,
    /// Whether the tool is deferred until a search.
    deferred: bool,
}

pub(super) fn run(
    args: &BudgetArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let budget = budget_from_settings(args.context, loaded, out);
    let wanted = ListingRequest { server: None, refresh: false };
    listing::run_listing(&wanted, context, loaded, out, |host, servers, out| {
        let offer = host.catalog().model_offer(&budget);
        let report =
            BudgetReport::from_offer(&offer, &budget, usable::find_incomplete_servers(loaded, servers, None));
        if out.json {
            out.print_json(&report);
        } else {
            print_problems(loaded, out);
            report.render(out);
        }
        match args.max.filter(|max| report.tokens > *max) {
            Some(max) => {
                out.print_error(&format!("the tools take {} tokens; the maximum is {max}", report.tokens));
                Ok(exit::OVER_BUDGET)
            }
            None => Ok(base_exit_code(loaded)),
        }
    })
}

/// The budget from the environment; an invalid value gives a warning, and the default applies.
pub(super) fn budget_from_settings(
    window: Option<u64>,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> Budget {
    Budget::from_env(&loaded.env, window).unwrap_or_else(|error| {
        out.warn(&format!("`ENABLE_TOOL_SEARCH`: {error}"));
        out.hint(&error.hint().unwrap_or_default());
        window.map(Budget::for_context).unwrap_or_default()
    })
}

impl BudgetReport {
    fn from_offer(offer: &ModelOffer, budget: &Budget, servers: Vec<IncompleteServer>) -> Self {
        let (listed_tokens, deferred_tokens) = (offer.listed_tokens(), offer.deferred_tokens());
        let mut report = Self {
            tokens: listed_tokens + deferred_tokens,
            budget: budget.limit(),
            listed_tokens,
            deferred_tokens,
            groups: group_tools(offer),
            denied: offer.denied.iter().map(|entry| entry.name.clone()).collect(),
            servers,
            advice: Vec::new(),
        };
        report.advice = advice::give_advice(&report);
        report
    }

    fn render(&self, out: &mut TerminalOutput) {
        for group in &self.groups {
            let name =
                group.server.as_ref().map_or("built-in tools".into(), |server| display_line(server.as_str()));
            out.print_line(format!("{:>7}  {}", group.tokens, bold(&name)));
            for row in &group.tools {
                let waits = if row.deferred { dim("  deferred") } else { String::new() };
                out.print_line(format!("{:>7}    {}{waits}", row.tokens, row.name));
            }
        }
        let rows = || self.groups.iter().flat_map(|group| &group.tools);
        let (count, waiting) = (rows().count(), rows().filter(|row| row.deferred).count());
        let budget = self.budget.map_or("no limit".to_owned(), |budget| format!("a budget of {budget}"));
        out.print_line(format!("{:>7}  in {count} tools, with {budget}", self.tokens));
        out.print_line(format!("{:>7}  in {} tools listed at once", self.listed_tokens, count - waiting));
        out.print_line(format!("{:>7}  in {waiting} deferred tools", self.deferred_tokens));
        if !self.denied.is_empty() {
            out.print_remark(&format!("{} tools are denied by a permission rule", self.denied.len()));
        }
        self.servers.iter().for_each(|lacking| lacking.print_warnings(out));
        out.print_line("\nAdvice");
        for BudgetAdvice { text, command } in &self.advice {
            out.print_line(format!("  {text}"));
            if let Some(command) = command {
                out.print_line(format!("    {}", bold(command)));
            }
        }
    }
}

/// The tools grouped by server, most tokens first.
fn group_tools(offer: &ModelOffer) -> Vec<ToolGroup> {
    let mut by_server: HashMap<Option<ServerName>, Vec<BudgetRow>> = HashMap::new();
    let mut add = |entry: &CatalogEntry, deferred: bool| {
        let row = BudgetRow { name: entry.name.clone(), tokens: entry.tokens(), deferred };
        by_server.entry(owning_server(entry)).or_default().push(row);
    };
    offer.listed.iter().for_each(|entry| add(entry, false));
    offer.deferred.iter().for_each(|entry| add(entry, true));
    let mut groups: Vec<ToolGroup> =
        by_server.into_iter().map(|(server, tools)| ToolGroup::from_tools(server, tools)).collect();
    groups.sort_by(|one, other| other.tokens.cmp(&one.tokens).then_with(|| one.server.cmp(&other.server)));
    groups
}

impl ToolGroup {
    fn from_tools(server: Option<ServerName>, mut tools: Vec<BudgetRow>) -> Self {
        tools.sort_by(|one, other| other.tokens.cmp(&one.tokens).then_with(|| one.name.cmp(&other.name)));
        Self { server, tokens: tools.iter().map(|row| row.tokens).sum(), tools }
    }
}

fn owning_server(entry: &CatalogEntry) -> Option<ServerName> {
    match &entry.provider {
        ToolProvider::Server(server) | ToolProvider::SignIn { server, .. } => Some(server.clone()),
        _ => None,
    }
}
