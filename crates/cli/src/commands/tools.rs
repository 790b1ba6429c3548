//! `tools`: what the servers offer, and which of them do not.

use std::borrow::Cow;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use mcparley::model::name::{ServerName, ToolNameCaution};
use mcparley::model::text::{beginning, display, display_block};
use mcparley::model::tool::{Hints, Tool};
use mcparley::{Budget, Catalog, ChangedTool, Dialect, Entry, Host, Loaded, Remembered, Server, Start};
use serde::Serialize;

use super::usable::{self, Lacking};
use super::{Done, code_of, tell_problems};
use crate::args::ToolsArgs;
use crate::arguments::similar;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Code;
use crate::live;
use crate::out::{Out, bold, dim};

/// How much of a description stands on one line.
const LINE_CHARS: usize = 100;

/// How wide the column of names gets at most.
const NAME_WIDTH: usize = 40;

/// Room for such a line: a name, as much of a description, and what it says about itself.
const ROW_BYTES: usize = NAME_WIDTH + LINE_CHARS + 32;

/// What `tools` shows.
#[derive(Serialize)]
struct Report {
    tools: Vec<Arc<Entry>>,
    /// What became of the servers that offer nothing, or not all.
    servers: Vec<Lacking>,
    /// Tools that have changed since they were reviewed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<ChangedTool>,
    /// Cautions about the names of tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cautions: Vec<ToolNameCaution>,
}

pub(super) fn run(args: &ToolsArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let wanted = Wanted::of(args, loaded)?;
    let (code, dialect) = (code_of(loaded), args.dialect);
    let start = wanted.start(loaded, args.refresh);
    // The program ends with this command: taking hundreds of tools apart again would only take time.
    let host = match dialect {
        // The very set that a client of `serve` is shown.
        Some(_) if wanted.server() == Some(usable::BUILT_IN) => {
            context.host(loaded.clone()).offer_own_server()
        }
        Some(_) => context.host(loaded.clone()),
        None => context.host_for_person(loaded.clone()),
    };
    let host = host.start_with(start);
    let host = ManuallyDrop::new(if args.refresh { host } else { host.skip_known_failures() });
    // What is remembered needs no servers, and so nothing that they would need.
    if let Some(remembered) = host.remembered().map(ManuallyDrop::new) {
        let Remembered { catalog, servers, .. } = &*remembered;
        return show(&wanted, &Known { loaded, servers, catalog, dialect, printed: &[] }, code, out);
    }
    live::with_host(ManuallyDrop::into_inner(host), async |host| {
        if let Some(name) = wanted.server() {
            usable::named(loaded, &host.servers(), name, out)?;
        }
        // For people: what is known need not wait for the servers that are not.
        let is_for_people = !out.json && dialect.is_none() && matches!(wanted, Wanted::All);
        let printed = if is_for_people { print_known(host, out) } else { Vec::new() };
        let servers = usable::settled(host, out).await;
        let (servers, catalog) = (&servers[..], &*host.catalog());
        show(&wanted, &Known { loaded, servers, catalog, dialect, printed: &printed }, code, out)
    })
}

/// What there is to show.
struct Known<'k> {
    loaded: &'k Loaded,
    servers: &'k [Server],
    catalog: &'k Catalog,
    dialect: Option<Dialect>,
    /// The tools that have been printed already.
    printed: &'k [Arc<Entry>],
}

/// Prints the tools of servers that need not be waited for; gives them.
fn print_known(host: &Host, out: &mut Out) -> Vec<Arc<Entry>> {
    let servers = host.servers();
    let is_settled = |entry: &&Arc<Entry>| {
        let server = servers.iter().find(|server| Some(&server.name) == entry.server());
        server.is_some_and(|server| server.state.status.is_settled())
    };
    let is_waiting = servers.iter().any(|server| !server.state.status.is_settled());
    // Reading the catalogue fixes the order of what is in it, so it is left alone while it holds only our own tools.
    let has_known = servers.iter().any(|server| {
        server.name.as_str() != usable::BUILT_IN
            && server.state.status.is_settled()
            && !server.state.surface.tools.is_empty()
    });
    let known: Vec<Arc<Entry>> = match is_waiting && has_known {
        true => host.catalog().iter().filter(is_settled).cloned().collect(),
        false => Vec::new(),
    };
    list(&known, out.verbose > 0, out);
    known
}

fn show(wanted: &Wanted<'_>, known: &Known<'_>, code: Code, out: &mut Out) -> Done {
    let Known { loaded, servers, catalog, .. } = *known;
    let server = wanted.server().map(|name| usable::named(loaded, servers, name, out)).transpose()?;
    if let Some(server) = &server {
        usable::usable(servers, server, out)?;
    }
    let all = catalog.iter().filter(|entry| server.is_none() || entry.server() == server.as_ref());
    let tools: Vec<Arc<Entry>> = all.filter(|entry| wanted.is_met_by(entry)).cloned().collect();
    let lacking = usable::lacking(loaded, servers, server.as_ref());
    if let (Some(tool), []) = (wanted.tool(), tools.as_slice()) {
        return Err(no_tool(loaded, servers, catalog, server.as_ref(), tool));
    }
    if let Some(dialect) = known.dialect {
        for_model(dialect, tools, catalog, &lacking, out);
        return Ok(code);
    }
    let is_shown = |changed: &&ChangedTool| server.as_ref().is_none_or(|server| changed.server == *server);
    let changed = catalog.changed().iter().filter(is_shown).cloned().collect();
    let cautions = find_name_cautions(catalog, server.as_ref());
    let mut report = Report { tools, servers: lacking, changed, cautions };
    if out.json {
        out.value(&report);
        return Ok(code);
    }
    tell_problems(loaded, out);
    report.tools.retain(|entry| !known.printed.iter().any(|printed| printed.name == entry.name));
    let is_printed = !known.printed.is_empty();
    report.render(wanted.tool().is_some() || out.verbose > 0, is_printed, out);
    Ok(code)
}

/// The tools as a request has them; what is missing in it is told beside it.
fn for_model(
    dialect: Dialect,
    tools: Vec<Arc<Entry>>,
    catalog: &Catalog,
    lacking: &[Lacking],
    out: &mut Out,
) {
    let mut offer = catalog.offer(&Budget::unlimited());
    // What waits for a search is shown to a person who asks for all.
    let tools = tools.into_iter().filter(|entry| offer.shows(entry)).collect();
    offer.deferred.clear();
    offer.listed = tools;
    let model_tools = offer.for_model(dialect);
    out.value(&model_tools.tools);
    for (name, why) in &model_tools.withheld {
        out.warn(&format!("`{name}` is left out: {why}"));
    }
    for name in &model_tools.deferred {
        out.warn(&format!("`{name}` is left out: a model has to search for it"));
    }
    lacking.iter().for_each(|lacking| lacking.tell(out));
}

/// What was asked for.
enum Wanted<'a> {
    All,
    Server(&'a str),
    Tool { server: &'a str, tool: &'a str },
    Public(&'a str),
}

impl<'a> Wanted<'a> {
    fn of(args: &'a ToolsArgs, loaded: &Loaded) -> Result<Self, CommandError> {
        match (args.server.as_deref(), args.tool.as_deref()) {
            (Some(name), Some(word)) if usable::is_tool_name(loaded, name) => Err(CommandError::usage(
                format!("`{name}` is a tool already, and `{word}` too many"),
                "give the server and the tool, or the tool's whole name",
            )),
            (Some(name), None) if usable::is_tool_name(loaded, name) => Ok(Self::Public(name)),
            (Some(server), Some(tool)) => Ok(Self::Tool { server, tool }),
            (Some(server), None) => Ok(Self::Server(server)),
            (None, _) => Ok(Self::All),
        }
    }

    /// The servers that have to be asked: all that could have what is wanted, or those of them that nothing is
    /// remembered of.
    fn start(&self, loaded: &Loaded, refresh: bool) -> Start {
        let servers = match self {
            Self::All => None,
            Self::Server(server) | Self::Tool { server, .. } => Some(vec![ServerName::new(server)]),
            Self::Public(name) => usable::owners(loaded, name),
        };
        match (servers, refresh) {
            (None, true) => Start::All,
            (None, false) => Start::AsNeeded,
            (Some(servers), true) => Start::Only(servers),
            (Some(servers), false) => Start::Among(servers),
        }
    }

    fn server(&self) -> Option<&'a str> {
        match self {
            Self::Server(server) | Self::Tool { server, .. } => Some(server),
            Self::All | Self::Public(_) => None,
        }
    }

    fn tool(&self) -> Option<&'a str> {
        match self {
            Self::Tool { tool, .. } => Some(tool),
            Self::Public(name) => Some(name),
            Self::All | Self::Server(_) => None,
        }
    }

    fn is_met_by(&self, entry: &Entry) -> bool {
        match self {
            Self::All | Self::Server(_) => true,
            Self::Tool { tool, .. } => entry.tool.name.as_str() == *tool,
            Self::Public(name) => entry.name.as_str() == *name,
        }
    }
}

/// The tool is not there: withheld, misspelt, or on a server that is not there.
pub(super) fn no_tool(
    loaded: &Loaded,
    servers: &[Server],
    catalog: &Catalog,
    server: Option<&ServerName>,
    tool: &str,
) -> CommandError {
    let of_server = |known: &&Server| server.is_none_or(|server| known.name == *server);
    let mut withheld = servers.iter().filter(of_server).flat_map(|server| &server.state.surface.withheld);
    let because = withheld.find(|withheld| withheld.name == tool).map(|withheld| withheld.to_string());
    let because = because.or_else(|| changed(catalog, server, tool));
    let missing = || {
        let lacking = usable::lacking(loaded, servers, server).into_iter();
        let missing: Vec<String> = lacking.filter_map(|lacking| lacking.in_words()).collect();
        (!missing.is_empty()).then(|| missing.join("; "))
    };
    let names: Vec<&str> = match server {
        Some(server) => catalog
            .iter()
            .filter(|entry| entry.server() == Some(server))
            .map(|entry| entry.tool.name.as_str())
            .collect(),
        None => catalog.iter().map(|entry| entry.name.as_str()).collect(),
    };
    let similar = similar(tool, names.into_iter()).into_iter().map(str::to_owned).collect();
    CommandError::NoTool { tool: tool.to_owned(), because: because.or_else(missing), similar }
}

/// Why a tool is withheld that has changed; it may be named as its server does, or whole.
fn changed(catalog: &Catalog, server: Option<&ServerName>, tool: &str) -> Option<String> {
    let mut withheld = catalog.changed().iter().filter(|changed| changed.withheld);
    let is_it = |changed: &ChangedTool| match server {
        Some(server) => changed.server == *server && changed.tool.as_str() == tool,
        None => {
            let public = catalog.names().public(&changed.server, &changed.tool);
            public.is_some_and(|public| public.as_str() == tool)
        }
    };
    withheld.find(|changed| is_it(changed)).map(ToString::to_string)
}

impl Report {
    fn render(&self, whole: bool, is_printed: bool, out: &mut Out) {
        if self.tools.is_empty() && !is_printed {
            out.say("There are no tools.");
        } else {
            list(&self.tools, whole, out);
        }
        for lacking in &self.servers {
            lacking.tell(out);
        }
        for caution in &self.cautions {
            out.warn(&caution.to_string());
        }
        for changed in &self.changed {
            out.warn(&changed.to_string());
        }
        if !self.changed.is_empty() {
            out.hint("see what is different with `mcparley permissions review`");
        }
    }
}

/// Cautions about the names of tools: of all, or those that concern one server.
fn find_name_cautions(catalog: &Catalog, server: Option<&ServerName>) -> Vec<ToolNameCaution> {
    let tools = catalog.iter().filter_map(|entry| Some((entry.server()?, &entry.tool.name)));
    let mut cautions = ToolNameCaution::find(tools);
    cautions.retain(|caution| server.is_none_or(|server| caution.concerns(server)));
    cautions
}

/// Shows tools: a line each, or whole entries.
pub(super) fn list(tools: &[Arc<Entry>], whole: bool, out: &mut Out) {
    if whole {
        return tools.iter().for_each(|entry| describe(entry, out));
    }
    let width = tools.iter().map(|entry| entry.name.as_str().len()).max().unwrap_or(0);
    // One text: written line by line, hundreds of tools take longer to write than to know.
    let mut rows = String::with_capacity(tools.len() * ROW_BYTES);
    for entry in tools {
        row(entry, width.min(NAME_WIDTH), out.colours(), &mut rows);
    }
    out.bytes(rows.as_bytes());
}

/// Appends the line of a tool.
fn row(entry: &Entry, width: usize, colours: bool, rows: &mut String) {
    let name = entry.name.as_str();
    let hint = match entry.tool.hints {
        Hints { read_only: true, .. } => "  [read-only]",
        // The protocol's default is no word of the server.
        Hints { destructive: true, .. } if entry.tool.says_destructive => "  [destructive]",
        Hints { .. } => "",
    };
    let about = about(&entry.tool);
    let (shown, dots) = match beginning(&about, LINE_CHARS) {
        Some(beginning) => (beginning, "…"),
        None => (about.as_ref(), ""),
    };
    let (name_shown, hint) = match colours {
        true => (Cow::Owned(bold(name)), Cow::Owned(dim(hint))),
        false => (display(name), Cow::Borrowed(hint)),
    };
    rows.push_str(&name_shown);
    rows.extend(std::iter::repeat_n(' ', width.saturating_sub(name.len())));
    rows.extend(["  ", &*display(shown), dots, &*hint, "\n"]);
}

/// The title and the beginning of the description.
fn about(tool: &Tool) -> Cow<'_, str> {
    let first = tool.description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match tool.title.as_deref().map(str::trim).filter(|title| !title.is_empty() && *title != first) {
        Some(title) if first.is_empty() => Cow::Borrowed(title),
        Some(title) => Cow::Owned(format!("{title}: {first}")),
        None => Cow::Borrowed(first),
    }
}

/// What it says about its effects, as far as it is more than the default.
fn words(hints: Hints) -> Vec<&'static str> {
    let all = [
        (hints.read_only, "read-only"),
        (hints.destructive, "destructive"),
        (hints.idempotent && !hints.read_only, "idempotent"),
        (hints.open_world, "open world"),
    ];
    all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word).collect()
}

fn describe(entry: &Entry, out: &mut Out) {
    let tool = &entry.tool;
    out.line(bold(entry.name.as_str()));
    let mut field = |name: &str, value: &str| out.line(format!("  {name}: {}", display(value)));
    if let Some(server) = entry.server() {
        field("server", server.as_str());
        field("tool", tool.name.as_str());
    }
    if let Some(title) = &tool.title {
        field("title", title);
    }
    field("says it is", &words(tool.hints).join(", "));
    block("description", &tool.description, out);
    block("arguments", &pretty(tool.input_schema.get()), out);
    if let Some(schema) = &tool.output_schema {
        block("result", &pretty(schema.get()), out);
    }
}

fn block(name: &str, text: &str, out: &mut Out) {
    if text.trim().is_empty() {
        return;
    }
    out.line(format!("  {name}:"));
    for line in display_block(text).lines() {
        out.line(format!("    {line}"));
    }
}

fn pretty(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json);
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| json.to_owned())
}
