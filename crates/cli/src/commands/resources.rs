//! `resources`: lists the resources and templates of servers, and servers that do not work.

use mcparley::config::LoadedConfig;
use mcparley::host::HostServer;
use mcparley::model::name::ServerName;
use mcparley::model::text::{display_line, truncated_prefix};
use mcparley::resource::{ListedResource, ResourceTemplate, Resources};
use serde::Serialize;

use super::listing::{self, ListingRequest};
use super::usable::{self, IncompleteServer};
use super::{CommandResult, base_exit_code, print_problems};
use crate::args::ResourcesArgs;
use crate::context::Context;
use crate::out::{TerminalOutput, bold, dim};

/// The maximum length of a description on one line.
const LINE_CHARS: usize = 80;

/// The report of `resources`.
#[derive(Serialize)]
struct ResourcesReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Vec<ListedResource>>,
    templates: Vec<ResourceTemplate>,
    /// The servers with missing or incomplete lists, with the reason.
    servers: Vec<IncompleteServer>,
}

pub(super) fn run(
    args: &ResourcesArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let wanted = ListingRequest { server: args.server.as_deref(), refresh: args.refresh };
    listing::run_listing(&wanted, context, loaded, out, |host, servers, out| {
        let resources = host.resources(None).unwrap_or_default();
        show_resources(args, &wanted, (resources, servers), loaded, out)
    })
}

fn show_resources(
    args: &ResourcesArgs,
    wanted: &ListingRequest<'_>,
    (all, servers): (Resources, &[HostServer]),
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let code = base_exit_code(loaded);
    let only = wanted.require_usable_server(loaded, servers, out)?;
    let is_wanted = |server: &ServerName| only.as_ref().is_none_or(|only| only == server);
    let resources = all.resources.into_iter().filter(|resource| is_wanted(&resource.server));
    let report = ResourcesReport {
        resources: (!args.templates).then(|| resources.collect()),
        templates: all.templates.into_iter().filter(|template| is_wanted(&template.server)).collect(),
        servers: usable::find_incomplete_servers(loaded, servers, only.as_ref()),
    };
    if out.json {
        out.print_json(&report);
        return Ok(code);
    }
    print_problems(loaded, out);
    report.render(out);
    Ok(code)
}

impl ResourcesReport {
    fn render(&self, out: &mut TerminalOutput) {
        let resources = self.resources.as_deref().unwrap_or_default();
        if resources.is_empty() && self.templates.is_empty() {
            out.print_message(if self.resources.is_some() {
                "No resources found."
            } else {
                "No templates found."
            });
        }
        for it in resources {
            let said = (it.title.as_deref(), it.description.as_deref(), it.mime.as_deref());
            print_row((it.server.as_str(), &it.uri, &it.name), said, out);
        }
        for it in &self.templates {
            let said = (it.title.as_deref(), it.description.as_deref(), it.mime.as_deref());
            print_row((it.server.as_str(), &it.uri_template, &it.name), said, out);
        }
        for lacking in &self.servers {
            lacking.print_warnings(out);
        }
    }
}

type ResourceTexts<'s> = (Option<&'s str>, Option<&'s str>, Option<&'s str>);

/// Prints one line: server, URI, title and description.
fn print_row(
    (server, address, name): (&str, &str, &str),
    (title, description, mime): ResourceTexts<'_>,
    out: &mut TerminalOutput,
) {
    let first = description.and_then(|text| text.lines().map(str::trim).find(|line| !line.is_empty()));
    let name = title.unwrap_or(name);
    let about = match first {
        Some(first) if name == address || name == first => first.to_owned(),
        Some(first) => format!("{name}: {first}"),
        None if name == address => String::new(),
        None => name.to_owned(),
    };
    let about = match truncated_prefix(&about, LINE_CHARS) {
        Some(beginning) => format!("{}…", display_line(beginning)),
        None => display_line(&about).into_owned(),
    };
    let mime = mime.map(|mime| dim(&format!("  [{mime}]"))).unwrap_or_default();
    out.print_line(format!("{}  {}  {about}{mime}", display_line(server), bold(address)));
}
