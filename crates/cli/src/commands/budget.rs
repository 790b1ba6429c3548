//! `budget`: what the tools take of a model's context, and what of them it would be shown at once.

use std::collections::HashMap;

use mcparley::model::explain::Explain;
use mcparley::model::name::{PublicName, ServerName};
use mcparley::model::text::display;
use mcparley::{Budget, Entry, Loaded, Offer, Provider};
use serde::Serialize;

use super::listing::{self, Wanted};
use super::usable::{self, Lacking};
use super::{Done, code_of, tell_problems};
use crate::args::BudgetArgs;
use crate::context::Context;
use crate::exit;
use crate::out::{Out, bold, dim};

/// What `budget` shows.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// What all tools take together.
    tokens: u64,
    /// What they may take before tools are deferred; nothing if there is no limit.
    budget: Option<u64>,
    listed_tokens: u64,
    deferred_tokens: u64,
    groups: Vec<Group>,
    /// What a rule denies whole, so that no model sees it.
    denied: Vec<PublicName>,
    /// What became of the servers that offer nothing, or not all.
    servers: Vec<Lacking>,
}

/// The tools of one server, or the host's own.
#[derive(Serialize)]
struct Group {
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<ServerName>,
    tokens: u64,
    tools: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: PublicName,
    tokens: u64,
    /// Whether it waits for a search.
    deferred: bool,
}

pub(super) fn run(args: &BudgetArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let budget = of_settings(args.context, loaded, out);
    let wanted = Wanted { server: None, refresh: false };
    listing::run(&wanted, context, loaded, out, |known, out| {
        let offer = known
            .either(|remembered| remembered.catalog.offer(&budget), |host| host.catalog().offer(&budget));
        let report = Report::of(&offer, &budget, usable::lacking(loaded, known.servers(), None));
        if out.json {
            out.value(&report);
        } else {
            tell_problems(loaded, out);
            report.render(out);
        }
        match args.max.filter(|max| report.tokens > *max) {
            Some(max) => {
                out.complain(&format!("the tools take {} tokens, and {max} are allowed", report.tokens));
                Ok(exit::OVER_BUDGET)
            }
            None => Ok(code_of(loaded)),
        }
    })
}

/// What settings say; a setting that makes no sense is told, and the default holds.
pub(super) fn of_settings(window: Option<u64>, loaded: &Loaded, out: &mut Out) -> Budget {
    loaded.budget(window).unwrap_or_else(|error| {
        out.warn(&format!("`ENABLE_TOOL_SEARCH`: {error}"));
        out.hint(&error.hint().unwrap_or_default());
        window.map(Budget::of_context).unwrap_or_default()
    })
}

impl Report {
    fn of(offer: &Offer, budget: &Budget, servers: Vec<Lacking>) -> Self {
        let (listed_tokens, deferred_tokens) = (offer.listed_tokens(), offer.deferred_tokens());
        Self {
            tokens: listed_tokens + deferred_tokens,
            budget: budget.limit(),
            listed_tokens,
            deferred_tokens,
            groups: groups(offer),
            denied: offer.denied.iter().map(|entry| entry.name.clone()).collect(),
            servers,
        }
    }

    fn render(&self, out: &mut Out) {
        for group in &self.groups {
            let name =
                group.server.as_ref().map_or("mcparley's own".into(), |server| display(server.as_str()));
            out.line(format!("{:>7}  {}", group.tokens, bold(&name)));
            for row in &group.tools {
                let waits = if row.deferred { dim("  deferred") } else { String::new() };
                out.line(format!("{:>7}    {}{waits}", row.tokens, row.name));
            }
        }
        let rows = || self.groups.iter().flat_map(|group| &group.tools);
        let (count, waiting) = (rows().count(), rows().filter(|row| row.deferred).count());
        let budget = self.budget.map_or("no limit".to_owned(), |budget| format!("a budget of {budget}"));
        out.line(format!("{:>7}  in {count} tools, with {budget}", self.tokens));
        out.line(format!("{:>7}  in {} tools that are shown at once", self.listed_tokens, count - waiting));
        out.line(format!("{:>7}  in {waiting} tools that wait for a search", self.deferred_tokens));
        if !self.denied.is_empty() {
            out.remark(&format!("{} tools are denied by a rule and never shown", self.denied.len()));
        }
        self.servers.iter().for_each(|lacking| lacking.tell(out));
    }
}

/// The tools by server, those that take most first.
fn groups(offer: &Offer) -> Vec<Group> {
    let mut by_server: HashMap<Option<ServerName>, Vec<Row>> = HashMap::new();
    let mut add = |entry: &Entry, deferred: bool| {
        let row = Row { name: entry.name.clone(), tokens: entry.tokens(), deferred };
        by_server.entry(owner(entry)).or_default().push(row);
    };
    offer.listed.iter().for_each(|entry| add(entry, false));
    offer.deferred.iter().for_each(|entry| add(entry, true));
    let mut groups: Vec<Group> =
        by_server.into_iter().map(|(server, tools)| Group::of(server, tools)).collect();
    groups.sort_by(|one, other| other.tokens.cmp(&one.tokens).then_with(|| one.server.cmp(&other.server)));
    groups
}

impl Group {
    fn of(server: Option<ServerName>, mut tools: Vec<Row>) -> Self {
        tools.sort_by(|one, other| other.tokens.cmp(&one.tokens).then_with(|| one.name.cmp(&other.name)));
        Self { server, tokens: tools.iter().map(|row| row.tokens).sum(), tools }
    }
}

fn owner(entry: &Entry) -> Option<ServerName> {
    match &entry.provider {
        Provider::Server(server) | Provider::SignIn { server, .. } => Some(server.clone()),
        _ => None,
    }
}
