//! `agents`: who is described by files; and `--agent`: what one of them sees.

use mcparley::model::config::Reveal;
use mcparley::model::name::ServerName;
use mcparley::model::scope::{Origin, Scope};
use mcparley::model::text::display;
use mcparley::{AgentSpec, Loaded, Missing, Problem, agents};
use serde::Serialize;

use super::{Done, code_of};
use crate::args::SeenBy;
use crate::context::Context;
use crate::error::CommandError;
use crate::out::{Out, bold, dim, standing};
use crate::report::{ServerReport, target};

/// The widest standing, so that columns line up.
const STANDING_WIDTH: usize = "needs approval".len();

/// What `agents` shows.
#[derive(Serialize)]
struct Report<'l> {
    agents: Vec<AgentReport<'l>>,
    problems: &'l [Problem],
}

#[derive(Serialize)]
struct AgentReport<'l> {
    name: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'l str>,
    scope: Scope,
    origin: &'l Origin,
    /// The shared servers it names; absent means that it sees all.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<&'l [ServerName]>,
    required: &'l [ServerName],
    /// The servers it names that may not run.
    missing: Vec<Missing>,
    /// The servers it brings.
    servers: Vec<ServerReport<'l>>,
}

pub(super) fn run(context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let found = agents(&context.paths, &context.run_options);
    let all: Vec<(&AgentSpec, Loaded)> =
        found.specs.iter().map(|spec| (spec, loaded.own_for_agent(spec))).collect();
    if out.json {
        let agents = all.iter().map(|(spec, own)| AgentReport::of(spec, own, loaded)).collect();
        out.value(&Report { agents, problems: &found.problems });
        return Ok(code_of(loaded));
    }
    for problem in &found.problems {
        out.problem(problem);
    }
    if all.is_empty() {
        out.line("No agents are described.");
        out.hint(
            "describe one in `~/.claude/agents/NAME.md`, with `name` and `mcpServers` in its front matter",
        );
    }
    for (spec, own) in &all {
        render(spec, own, loaded, out);
    }
    Ok(code_of(loaded))
}

/// The configuration as the agent sees it. Without an agent it is everybody's, unless what is asked for by name is
/// brought by one.
pub(super) fn seen(
    by: &SeenBy,
    names: &[&str],
    context: &Context,
    loaded: Loaded,
    out: &mut Out,
) -> Result<Loaded, CommandError> {
    let Some(spec) = asked(by, names, context, &loaded)? else { return Ok(loaded) };
    if by.agent.is_some() && !out.json {
        for missing in spec.missing(&loaded) {
            out.warn(&format!("agent `{}` names a server that is not there: {}", spec.name, told(&missing)));
        }
    }
    Ok(loaded.for_agent(&spec))
}

/// The configuration to choose in: what an agent brings, where one is asked for.
pub(super) fn chosen(
    by: &SeenBy,
    names: &[String],
    context: &Context,
    loaded: &Loaded,
) -> Result<Loaded, CommandError> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let spec = asked(by, &names, context, loaded)?;
    Ok(spec.map_or_else(|| loaded.clone(), |spec| loaded.own_for_agent(&spec)))
}

/// The agent that is named, or the one that brings a server nobody else has.
fn asked(
    by: &SeenBy,
    names: &[&str],
    context: &Context,
    loaded: &Loaded,
) -> Result<Option<AgentSpec>, CommandError> {
    let is_unknown = |name: &&&str| loaded.plan.named(name).is_empty();
    let unknown = names.iter().find(is_unknown);
    if by.agent.is_none() && unknown.is_none() {
        return Ok(None);
    }
    let found = agents(&context.paths, &context.run_options);
    if let Some(name) = &by.agent {
        return Ok(Some(found.named(name)?.clone()));
    }
    let brings =
        |spec: &&AgentSpec| spec.own.iter().any(|own| unknown.is_some_and(|it| own.name.as_str() == *it));
    let bringing: Vec<&AgentSpec> = found.specs.iter().filter(brings).collect();
    match bringing.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some((*one).clone())),
        several => {
            let names: Vec<&str> = several.iter().map(|spec| spec.name.as_str()).collect();
            Err(CommandError::usage(
                format!("several agents bring `{}`: {}", unknown.unwrap_or(&""), names.join(", ")),
                "say which one: `--agent NAME`",
            ))
        }
    }
}

impl<'l> AgentReport<'l> {
    fn of(spec: &'l AgentSpec, own: &'l Loaded, loaded: &Loaded) -> Self {
        Self {
            name: &spec.name,
            description: spec.description.as_deref(),
            scope: spec.scope(),
            origin: &spec.origin,
            shared: spec.shared.as_deref(),
            required: &spec.required,
            missing: spec.missing(loaded),
            servers: own.plan.servers.iter().map(|it| ServerReport::of(it, Reveal::Masked)).collect(),
        }
    }
}

fn render(spec: &AgentSpec, own: &Loaded, loaded: &Loaded, out: &mut Out) {
    let about = spec.description.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    let line = format!("{}  {}  {}", bold(&spec.name), spec.scope(), display(about));
    out.line(line.trim_end());
    out.line(format!("  {}", dim(&format!("described in {}", spec.origin))));
    let listed = |names: &[ServerName]| names.iter().map(ServerName::as_str).collect::<Vec<_>>().join(", ");
    match spec.shared.as_deref() {
        None => out.line("  sees every shared server"),
        Some([]) => out.line("  sees no shared server"),
        Some(names) => out.line(format!("  sees {}", display(&listed(names)))),
    }
    if !spec.required.is_empty() {
        out.line(format!("  requires {}", display(&listed(&spec.required))));
    }
    for missing in spec.missing(loaded) {
        out.line(format!("  missing {}", display(&told(&missing))));
    }
    for server in &own.plan.servers {
        let word = standing(&server.standing, STANDING_WIDTH);
        out.line(format!("  {word}  {}  {}", bold(server.name.as_str()), display(&target(server))));
        let indent = " ".repeat(STANDING_WIDTH + 4);
        let hint = server.standing.hint(&server.name).map(|hint| format!("hint: {hint}"));
        for line in server.standing.reason().into_iter().chain(hint) {
            out.line(format!("{indent}{}", dim(&line)));
        }
    }
}

/// A server that is not there, and why.
fn told(missing: &Missing) -> String {
    let because = missing.because.as_deref().unwrap_or("nobody has declared it");
    let similar = match missing.similar.as_slice() {
        [] => String::new(),
        names => format!("; did you mean `{}`?", names.join("`, `")),
    };
    format!("`{}`: {because}{similar}", missing.name)
}
