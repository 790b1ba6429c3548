//! `resources`: what servers have to read, and which servers have nothing.

use mcparley::model::name::ServerName;
use mcparley::model::text::{beginning, display};
use mcparley::{Host, Loaded, Remembered, Resource, ResourceTemplate, Resources, Server};
use serde::Serialize;

use super::listing::{self, Wanted};
use super::usable::{self, Lacking};
use super::{Done, code_of, tell_problems};
use crate::args::ResourcesArgs;
use crate::context::Context;
use crate::out::{Out, bold, dim};

/// How much of a description stands on one line.
const LINE_CHARS: usize = 80;

/// What `resources` shows.
#[derive(Serialize)]
struct Report {
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Vec<Resource>>,
    templates: Vec<ResourceTemplate>,
    /// What became of the servers that offer nothing, or not all.
    servers: Vec<Lacking>,
}

pub(super) fn run(args: &ResourcesArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let wanted = Wanted { server: args.server.as_deref(), refresh: args.refresh };
    listing::run(&wanted, context, loaded, out, |known, out| {
        let alive = |host: &Host| host.resources(None).unwrap_or_default();
        let resources = known.either(Remembered::resources, alive);
        show(args, &wanted, (resources, known.servers()), loaded, out)
    })
}

fn show(
    args: &ResourcesArgs,
    wanted: &Wanted<'_>,
    (all, servers): (Resources, &[Server]),
    loaded: &Loaded,
    out: &mut Out,
) -> Done {
    let code = code_of(loaded);
    let only = wanted.usable(loaded, servers, out)?;
    let is_wanted = |server: &ServerName| only.as_ref().is_none_or(|only| only == server);
    let resources = all.resources.into_iter().filter(|resource| is_wanted(&resource.server));
    let report = Report {
        resources: (!args.templates).then(|| resources.collect()),
        templates: all.templates.into_iter().filter(|template| is_wanted(&template.server)).collect(),
        servers: usable::lacking(loaded, servers, only.as_ref()),
    };
    if out.json {
        out.value(&report);
        return Ok(code);
    }
    tell_problems(loaded, out);
    report.render(out);
    Ok(code)
}

impl Report {
    fn render(&self, out: &mut Out) {
        let resources = self.resources.as_deref().unwrap_or_default();
        if resources.is_empty() && self.templates.is_empty() {
            out.say(if self.resources.is_some() {
                "There are no resources."
            } else {
                "There are no templates."
            });
        }
        for it in resources {
            let said = (it.title.as_deref(), it.description.as_deref(), it.mime.as_deref());
            line((it.server.as_str(), &it.uri, &it.name), said, out);
        }
        for it in &self.templates {
            let said = (it.title.as_deref(), it.description.as_deref(), it.mime.as_deref());
            line((it.server.as_str(), &it.uri_template, &it.name), said, out);
        }
        for lacking in &self.servers {
            lacking.tell(out);
        }
    }
}

type Said<'s> = (Option<&'s str>, Option<&'s str>, Option<&'s str>);

/// One line: server, address, what it is.
fn line((server, address, name): (&str, &str, &str), (title, description, mime): Said<'_>, out: &mut Out) {
    let first = description.and_then(|text| text.lines().map(str::trim).find(|line| !line.is_empty()));
    let name = title.unwrap_or(name);
    let about = match first {
        Some(first) if name == address || name == first => first.to_owned(),
        Some(first) => format!("{name}: {first}"),
        None if name == address => String::new(),
        None => name.to_owned(),
    };
    let about = match beginning(&about, LINE_CHARS) {
        Some(beginning) => format!("{}…", display(beginning)),
        None => display(&about).into_owned(),
    };
    let mime = mime.map(|mime| dim(&format!("  [{mime}]"))).unwrap_or_default();
    out.line(format!("{}  {}  {about}{mime}", display(server), bold(address)));
}
