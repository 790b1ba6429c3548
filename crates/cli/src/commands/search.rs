//! `search`: the tools that fit some words, the best first.

use std::sync::Arc;

use mcparley::model::name::ServerName;
use mcparley::{Entry, Found, Loaded, SearchQuery, Unfound};
use serde::Serialize;
use serde_json::{Value, json};

use super::listing::{self, Wanted};
use super::usable::{self, Lacking};
use super::{Done, code_of, tell_problems, tools};
use crate::args::SearchArgs;
use crate::context::Context;
use crate::exit;
use crate::out::Out;

/// What `search` shows.
#[derive(Serialize)]
struct Report {
    tools: Vec<Arc<Entry>>,
    /// How many more there are.
    more: usize,
    /// The names after `select:` that mean no tool.
    unknown: Vec<Value>,
    /// What became of the servers that offer nothing, or not all.
    servers: Vec<Lacking>,
}

pub(super) fn run(args: &SearchArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let wanted = Wanted { server: args.server.as_deref(), refresh: false };
    listing::run(&wanted, context, loaded, out, |known, out| {
        let server = wanted.usable(loaded, known.servers(), out)?;
        let query = query(args, server.clone());
        let found = known
            .either(|remembered| remembered.catalog.search(&query), |host| host.catalog().search(&query));
        let lacking = usable::lacking(loaded, known.servers(), server.as_ref());
        show(found, lacking, loaded, out)
    })
}

fn query(args: &SearchArgs, server: Option<ServerName>) -> SearchQuery {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let query = SearchQuery::new(&args.words.join(" ")).limit(limit);
    match server {
        Some(server) => query.of_server(server),
        None => query,
    }
}

fn show(found: Found, servers: Vec<Lacking>, loaded: &Loaded, out: &mut Out) -> Done {
    let Found { tools, more, unfound, .. } = found;
    let is_met = !tools.is_empty() && unfound.is_empty();
    let report = Report { tools, more, unknown: unfound.iter().map(as_json).collect(), servers };
    if out.json {
        out.value(&report);
    } else {
        tell_problems(loaded, out);
        report.render(&unfound, out);
    }
    Ok(if is_met { code_of(loaded) } else { exit::NOT_FOUND })
}

impl Report {
    fn render(&self, unfound: &[Unfound], out: &mut Out) {
        if !self.tools.is_empty() {
            tools::list(&self.tools, out.verbose > 0, out);
        } else if unfound.is_empty() {
            out.say("No tool matches.");
        }
        if self.more > 0 {
            out.remark(&format!("{} more match; `--limit` shows more of them", self.more));
        }
        unfound.iter().for_each(|unfound| tell(unfound, out));
        self.servers.iter().for_each(|lacking| lacking.tell(out));
    }
}

fn as_json(unfound: &Unfound) -> Value {
    match unfound {
        Unfound::Unknown { name, similar } => json!({ "name": name, "similar": similar }),
        Unfound::Ambiguous { name, candidates } => json!({ "name": name, "couldBe": candidates }),
        _ => Value::Null,
    }
}

fn tell(unfound: &Unfound, out: &mut Out) {
    let quoted =
        |names: &mut dyn Iterator<Item = &str>| names.map(|name| format!("`{name}`")).collect::<Vec<_>>();
    match unfound {
        Unfound::Unknown { name, similar } => {
            out.warn(&format!("there is no tool `{name}`"));
            let similar = quoted(&mut similar.iter().map(String::as_str));
            if !similar.is_empty() {
                out.hint(&format!("did you mean {}?", similar.join(", ")));
            }
        }
        Unfound::Ambiguous { name, candidates } => {
            let candidates = quoted(&mut candidates.iter().map(|name| name.as_str()));
            out.warn(&format!("several servers have a tool `{name}`"));
            out.hint(&format!("name one of {}", candidates.join(", ")));
        }
        _ => {}
    }
}
