//! `search`: tools that match the words, best match first.

use std::sync::Arc;

use mcparley::catalog::{CatalogEntry, SearchQuery, SearchResults, UnresolvedName};
use mcparley::config::LoadedConfig;
use mcparley::model::name::ServerName;
use serde::Serialize;
use serde_json::{Value, json};

use super::listing::{self, ListingRequest};
use super::usable::{self, IncompleteServer};
use super::{CommandResult, base_exit_code, print_problems, tools, warn_unusable_vectors};
use crate::args::SearchArgs;
use crate::context::Context;
use crate::exit;
use crate::out::TerminalOutput;

/// The report of `search`.
#[derive(Serialize)]
struct SearchReport {
    tools: Vec<Arc<CatalogEntry>>,
    /// The number of further matches.
    more: usize,
    /// The names after `select:` that are no tools.
    unknown: Vec<Value>,
    /// The servers with missing or incomplete lists, with the reason.
    servers: Vec<IncompleteServer>,
}

pub(super) fn run(
    args: &SearchArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let wanted = ListingRequest { server: args.server.as_deref(), refresh: false };
    listing::run_listing(&wanted, context, loaded, out, |host, servers, out| {
        let server = wanted.require_usable_server(loaded, servers, out)?;
        let query = build_query(args, server.clone());
        let found = host.catalog().search_tools(&query);
        warn_unusable_vectors(host.search_vectors_error(), out);
        let lacking = usable::find_incomplete_servers(loaded, servers, server.as_ref());
        show_matches(found, lacking, loaded, out)
    })
}

fn build_query(args: &SearchArgs, server: Option<ServerName>) -> SearchQuery {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let query = SearchQuery::new(&args.words.join(" ")).with_limit(limit);
    match server {
        Some(server) => query.for_server(server),
        None => query,
    }
}

fn show_matches(
    found: SearchResults,
    servers: Vec<IncompleteServer>,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let SearchResults { tools, more, unfound, .. } = found;
    let is_met = !tools.is_empty() && unfound.is_empty();
    let report =
        SearchReport { tools, more, unknown: unfound.iter().map(unfound_to_json).collect(), servers };
    if out.json {
        out.print_json(&report);
    } else {
        print_problems(loaded, out);
        report.render(&unfound, loaded, out);
    }
    Ok(if is_met { base_exit_code(loaded) } else { exit::NOT_FOUND })
}

impl SearchReport {
    fn render(&self, unfound: &[UnresolvedName], loaded: &LoadedConfig, out: &mut TerminalOutput) {
        if !self.tools.is_empty() {
            tools::print_matches(&self.tools, loaded, out);
        } else if unfound.is_empty() {
            out.print_message("No tool matches.");
        }
        if self.more > 0 {
            out.print_remark(&format!("{} more tools match; use `--limit` to show more", self.more));
        }
        unfound.iter().for_each(|unfound| warn_unfound(unfound, out));
        self.servers.iter().for_each(|lacking| lacking.print_warnings(out));
    }
}

fn unfound_to_json(unfound: &UnresolvedName) -> Value {
    match unfound {
        UnresolvedName::Unknown { name, similar } => json!({ "name": name, "similar": similar }),
        UnresolvedName::Ambiguous { name, candidates } => json!({ "name": name, "couldBe": candidates }),
    }
}

fn warn_unfound(unfound: &UnresolvedName, out: &mut TerminalOutput) {
    let quoted =
        |names: &mut dyn Iterator<Item = &str>| names.map(|name| format!("`{name}`")).collect::<Vec<_>>();
    match unfound {
        UnresolvedName::Unknown { name, similar } => {
            out.warn(&format!("there is no tool `{name}`"));
            let similar = quoted(&mut similar.iter().map(String::as_str));
            if !similar.is_empty() {
                out.hint(&format!("did you mean {}?", similar.join(", ")));
            }
        }
        UnresolvedName::Ambiguous { name, candidates } => {
            let candidates = quoted(&mut candidates.iter().map(|name| name.as_str()));
            out.warn(&format!("several servers have a tool `{name}`"));
            out.hint(&format!("use one of {}", candidates.join(", ")));
        }
    }
}
