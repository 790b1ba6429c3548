//! `tools`: lists the tools of servers, and servers that do not work.

mod page;

use std::sync::Arc;

use mcparley::Host;
use mcparley::catalog::{Budget, Catalog, CatalogEntry, ChangedTool, Dialect};
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::host::HostServer;
use mcparley::model::name::{ServerName, ToolNameCaution};
use mcparley_console::arguments::similar_spellings;
use mcparley_report::{RowNames, render_tool_table};
use serde::Serialize;

use super::usable::{self, IncompleteServer};
use super::{CommandResult, base_exit_code, print_problems};
use crate::args::ToolsArgs;
use crate::context::Context;
use crate::error::{CommandError, UsageError};
use crate::exit::NamedExitCode;
use crate::out::TerminalOutput;
use crate::runtime;
use page::print_page;

/// The report of `tools`.
#[derive(Serialize)]
struct ToolsReport {
    tools: Vec<Arc<CatalogEntry>>,
    /// The servers with missing or incomplete lists, with the reason.
    servers: Vec<IncompleteServer>,
    /// Tools that changed since they were reviewed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<ChangedTool>,
    /// Cautions about similar tool names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cautions: Vec<ToolNameCaution>,
}

pub(super) fn run(
    args: &ToolsArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let wanted = ToolSelection::from_args(args, loaded)?;
    let (code, dialect) = (base_exit_code(loaded), args.dialect);
    let start = wanted.servers_to_start(loaded, args.refresh);
    let host = match dialect {
        // Exactly the tools that a client of `serve` gets.
        Some(_) if wanted.server() == Some(usable::BUILT_IN) => {
            context.host_for_model(loaded.clone(), None).offer_built_in_server()
        }
        Some(_) => context.host_for_model(loaded.clone(), None),
        None => context.host_for_user(loaded.clone(), out.dialogs()),
    };
    let host = host.start_with(start);
    let host = if args.refresh { host } else { host.skip_known_failures() };
    runtime::run_with_host(host, async |host| {
        if let Some(name) = wanted.server() {
            usable::find_server(loaded, &host.servers(), name, out)?;
        }
        // A person sees cached tools at once, before the other servers are ready. Elsewhere the order of the
        // servers must not depend on the cache.
        let is_for_people = out.is_terminal() && dialect.is_none() && matches!(wanted, ToolSelection::All);
        let printed = if is_for_people { print_known_tools(host, out) } else { Vec::new() };
        let servers = usable::wait_until_settled(host, out).await;
        let (servers, catalog) = (&servers[..], &*host.publish_catalog());
        let style = ToolStyle::from_args(args, &wanted, out);
        show_tools(
            &wanted,
            &KnownCatalog { loaded, servers, catalog, dialect, style, printed: &printed },
            code,
            out,
        )
    })
}

/// The form in which tools are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolStyle {
    /// One line per tool.
    Row,
    /// A page per tool: description and arguments.
    Page,
    /// A page per tool, with the JSON Schemas of arguments and result.
    PageWithSchema,
}

impl ToolStyle {
    fn from_args(args: &ToolsArgs, wanted: &ToolSelection<'_>, out: &TerminalOutput) -> Self {
        match (args.schema, wanted.tool().is_some() || out.verbose > 0) {
            (true, _) => Self::PageWithSchema,
            (false, true) => Self::Page,
            (false, false) => Self::Row,
        }
    }
}

fn print_tools(
    tools: &[Arc<CatalogEntry>],
    style: ToolStyle,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) {
    match style {
        ToolStyle::Row => print_tool_rows(tools, RowNames::GroupedByServer, out),
        ToolStyle::Page => tools.iter().for_each(|entry| print_page(entry, loaded, false, out)),
        ToolStyle::PageWithSchema => tools.iter().for_each(|entry| print_page(entry, loaded, true, out)),
    }
}

/// Prints the tools that a search found, in the order given.
pub(super) fn print_matches(tools: &[Arc<CatalogEntry>], loaded: &LoadedConfig, out: &mut TerminalOutput) {
    match out.verbose {
        0 => print_tool_rows(tools, RowNames::WithServer, out),
        _ => print_tools(tools, ToolStyle::Page, loaded, out),
    }
}

/// Prints a table at once: hundreds of single writes would take longer than the lookup.
fn print_tool_rows(tools: &[Arc<CatalogEntry>], names: RowNames, out: &mut TerminalOutput) {
    let table = render_tool_table(tools, names, out.table_terminal());
    out.print_bytes(table.as_bytes());
}

/// The catalog to show, with its servers.
struct KnownCatalog<'k> {
    loaded: &'k LoadedConfig,
    servers: &'k [HostServer],
    catalog: &'k Catalog,
    dialect: Option<Dialect>,
    style: ToolStyle,
    /// The tools that are already printed.
    printed: &'k [Arc<CatalogEntry>],
}

/// Prints the tools of servers that are already known, and returns them.
fn print_known_tools(host: &Host, out: &mut TerminalOutput) -> Vec<Arc<CatalogEntry>> {
    let servers = host.servers();
    let is_settled = |entry: &&Arc<CatalogEntry>| {
        let server = servers.iter().find(|server| Some(&server.name) == entry.server());
        server.is_some_and(|server| server.state.status.is_settled())
    };
    // The built-in server is always ready.
    let others = || servers.iter().filter(|server| server.name.as_str() != usable::BUILT_IN);
    let is_waiting = others().any(|server| !server.state.status.is_settled());
    // Publishing fixes the order of the catalog, so it is not published while it has only built-in tools.
    let has_known =
        others().any(|server| server.state.status.is_settled() && !server.state.surface.tools.is_empty());
    let known: Vec<Arc<CatalogEntry>> = match is_waiting && has_known {
        true => host.publish_catalog().iter().filter(is_settled).cloned().collect(),
        false => Vec::new(),
    };
    let style = if out.verbose > 0 { ToolStyle::Page } else { ToolStyle::Row };
    print_tools(&known, style, &host.loaded_config(), out);
    known
}

fn show_tools(
    wanted: &ToolSelection<'_>,
    known: &KnownCatalog<'_>,
    code: NamedExitCode,
    out: &mut TerminalOutput,
) -> CommandResult {
    let KnownCatalog { loaded, servers, catalog, .. } = *known;
    let server = wanted.server().map(|name| usable::find_server(loaded, servers, name, out)).transpose()?;
    if let Some(server) = &server {
        usable::require_usable(servers, server, out)?;
    }
    let all = catalog.iter().filter(|entry| server.is_none() || entry.server() == server.as_ref());
    let tools: Vec<Arc<CatalogEntry>> = all.filter(|entry| wanted.selects_entry(entry)).cloned().collect();
    let lacking = usable::find_incomplete_servers(loaded, servers, server.as_ref());
    if let (Some(tool), []) = (wanted.tool(), tools.as_slice()) {
        return Err(no_tool_error(loaded, servers, catalog, server.as_ref(), tool));
    }
    if let Some(dialect) = known.dialect {
        print_for_model(dialect, tools, catalog, &lacking, out);
        return Ok(code);
    }
    let is_shown = |changed: &&ChangedTool| server.as_ref().is_none_or(|server| changed.server == *server);
    let changed = catalog.changed_tools().iter().filter(is_shown).cloned().collect();
    let cautions = find_name_cautions(catalog, server.as_ref());
    let mut report = ToolsReport { tools, servers: lacking, changed, cautions };
    if out.json {
        out.print_json(&report);
        return Ok(code);
    }
    print_problems(loaded, out);
    report.tools.retain(|entry| !known.printed.iter().any(|printed| printed.name == entry.name));
    report.render(known, out);
    Ok(code)
}

/// Prints the tools in the format of a model API, and warns about tools that are left out.
fn print_for_model(
    dialect: Dialect,
    tools: Vec<Arc<CatalogEntry>>,
    catalog: &Catalog,
    lacking: &[IncompleteServer],
    out: &mut TerminalOutput,
) {
    let mut offer = catalog.model_offer(&Budget::without_limit());
    // Deferred tools are listed too, because the user asked for all.
    let tools = tools.into_iter().filter(|entry| offer.can_show(entry)).collect();
    offer.deferred.clear();
    offer.listed = tools;
    let model_tools = offer.for_model(dialect);
    out.print_json(&model_tools.tools);
    for (name, why) in &model_tools.withheld {
        out.warn(&format!("skipped `{name}`: {why}"));
    }
    for name in &model_tools.deferred {
        out.warn(&format!("skipped `{name}`: it is deferred until a search"));
    }
    lacking.iter().for_each(|lacking| lacking.print_warnings(out));
}

/// The tools that the arguments select.
enum ToolSelection<'a> {
    All,
    Server(&'a str),
    Tool { server: &'a str, tool: &'a str },
    Public(&'a str),
}

impl<'a> ToolSelection<'a> {
    fn from_args(args: &'a ToolsArgs, loaded: &LoadedConfig) -> Result<Self, UsageError> {
        match (args.server.as_deref(), args.tool.as_deref()) {
            (Some(name), Some(word)) if usable::is_tool_name(loaded, name) => {
                Err(UsageError::ToolTwice { name: name.to_owned(), word: word.to_owned() })
            }
            (Some(name), None) if usable::is_tool_name(loaded, name) => Ok(Self::Public(name)),
            (Some(server), Some(tool)) => Ok(Self::Tool { server, tool }),
            (Some(server), None) => Ok(Self::Server(server)),
            (None, _) => Ok(Self::All),
        }
    }

    /// The servers to start: all that could have the selected tools, or only those of them that are not
    /// cached.
    fn servers_to_start(&self, loaded: &LoadedConfig, refresh: bool) -> StartPolicy {
        let servers = match self {
            Self::All => None,
            Self::Server(server) | Self::Tool { server, .. } => Some(vec![ServerName::new(server)]),
            Self::Public(name) => usable::owning_servers(loaded, name),
        };
        match (servers, refresh) {
            (None, true) => StartPolicy::All,
            (None, false) => StartPolicy::AsNeeded,
            (Some(servers), true) => StartPolicy::Only(servers),
            (Some(servers), false) => StartPolicy::Among(servers),
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

    fn selects_entry(&self, entry: &CatalogEntry) -> bool {
        match self {
            Self::All | Self::Server(_) => true,
            Self::Tool { tool, .. } => entry.tool.name.as_str() == *tool,
            Self::Public(name) => entry.name.as_str() == *name,
        }
    }
}

/// The error about a missing tool: withheld, misspelled, or on a server that does not work.
pub(super) fn no_tool_error(
    loaded: &LoadedConfig,
    servers: &[HostServer],
    catalog: &Catalog,
    server: Option<&ServerName>,
    tool: &str,
) -> CommandError {
    let of_server = |known: &&HostServer| server.is_none_or(|server| known.name == *server);
    let mut withheld = servers.iter().filter(of_server).flat_map(|server| &server.state.surface.withheld);
    let because = withheld.find(|withheld| withheld.name == tool).map(|withheld| withheld.to_string());
    let because = because.or_else(|| withheld_reason(catalog, server, tool));
    let missing = || {
        let lacking = usable::find_incomplete_servers(loaded, servers, server).into_iter();
        let missing: Vec<String> = lacking.filter_map(|lacking| lacking.reason_text()).collect();
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
    let similar = similar_spellings(tool, names.into_iter());
    CommandError::NoTool { tool: tool.to_owned(), because: because.or_else(missing), similar }
}

/// The reason why a changed tool is withheld, given by its own name or by its full name.
pub(super) fn withheld_reason(catalog: &Catalog, server: Option<&ServerName>, tool: &str) -> Option<String> {
    let mut withheld = catalog.changed_tools().iter().filter(|changed| changed.withheld);
    let is_it = |changed: &ChangedTool| match server {
        Some(server) => changed.server == *server && changed.tool.as_str() == tool,
        None => {
            let public = catalog.names().public_name(&changed.server, &changed.tool);
            public.is_some_and(|public| public.as_str() == tool)
        }
    };
    withheld.find(|changed| is_it(changed)).map(ToString::to_string)
}

impl ToolsReport {
    fn render(&self, known: &KnownCatalog<'_>, out: &mut TerminalOutput) {
        if self.tools.is_empty() && known.printed.is_empty() {
            out.print_message("No tools found.");
        } else {
            print_tools(&self.tools, known.style, known.loaded, out);
        }
        for lacking in &self.servers {
            lacking.print_warnings(out);
        }
        for caution in &self.cautions {
            out.warn(&caution.to_string());
        }
        for changed in &self.changed {
            out.warn(&changed.to_string());
        }
        if !self.changed.is_empty() {
            out.hint("run `mcparley permissions review` to see the changes");
        }
    }
}

/// Cautions about similar tool names, of all servers or of one.
fn find_name_cautions(catalog: &Catalog, server: Option<&ServerName>) -> Vec<ToolNameCaution> {
    let tools = catalog.iter().filter_map(|entry| Some((entry.server()?, &entry.tool.name)));
    let mut cautions = ToolNameCaution::find_cautions(tools);
    cautions.retain(|caution| server.is_none_or(|server| caution.concerns_server(server)));
    cautions
}
