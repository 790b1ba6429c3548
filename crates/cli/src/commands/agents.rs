//! `agents` lists the agents in files; `--agent` restricts a command to the servers of one agent.

use mcparley::AgentSpec;
use mcparley::config::{ConfigProblem, LoadedConfig, MissingServer, load_agents};
use mcparley::host::AgentError;
use mcparley::model::config::SecretVisibility;
use mcparley::model::name::ServerName;
use mcparley::model::scope::{ConfigOrigin, Scope};
use mcparley::model::text::display_line;
use serde::Serialize;

use super::{CommandResult, base_exit_code};
use crate::args::{AgentOption, AgentView};
use crate::context::Context;
use crate::error::{CommandError, UsageError};
use crate::out::{TerminalOutput, bold, color_status, dim};
use mcparley_report::{ServerReport, target_line};

/// The width of the column of plan statuses.
const STANDING_WIDTH: usize = "needs approval".len();

/// The report of `agents`.
#[derive(Serialize)]
struct AgentsReport<'l> {
    agents: Vec<AgentReport<'l>>,
    problems: &'l [ConfigProblem],
}

#[derive(Serialize)]
struct AgentReport<'l> {
    name: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'l str>,
    scope: Scope,
    origin: &'l ConfigOrigin,
    /// The shared servers that the agent lists; absent if it uses all.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<&'l [ServerName]>,
    required: &'l [ServerName],
    /// The servers that the agent lists and that may not run.
    missing: Vec<MissingServer>,
    /// The servers that the agent defines.
    servers: Vec<ServerReport<'l>>,
}

pub(super) fn run(context: &Context, loaded: &LoadedConfig, out: &mut TerminalOutput) -> CommandResult {
    let found = load_agents(&context.paths, &context.run_options);
    let all: Vec<(&AgentSpec, LoadedConfig)> =
        found.specs.iter().map(|spec| (spec, loaded.only_agent_servers(spec))).collect();
    if out.json {
        let agents = all.iter().map(|(spec, own)| AgentReport::from_spec(spec, own, loaded)).collect();
        out.print_json(&AgentsReport { agents, problems: &found.problems });
        return Ok(base_exit_code(loaded));
    }
    for problem in &found.problems {
        out.report_problem(problem);
    }
    if all.is_empty() {
        out.print_line("No agents found.");
        out.hint("create `~/.claude/agents/NAME.md` with `name` and `mcpServers` in its front matter");
    }
    for (spec, own) in &all {
        render_agent(spec, own, loaded, out);
    }
    Ok(base_exit_code(loaded))
}

/// Restricts the configuration to the servers of an agent: the requested one, or the only one that defines
/// the named server. Without such an agent the configuration is unchanged.
pub(super) fn load_agent_view(
    view: &AgentView<'_>,
    context: &Context,
    loaded: LoadedConfig,
    out: &mut TerminalOutput,
) -> Result<LoadedConfig, CommandError> {
    let AgentView { seen_by, server } = view;
    let Some(spec) = find_agent(seen_by, server.as_slice(), context, &loaded)? else { return Ok(loaded) };
    if seen_by.agent.is_some() && !out.json {
        for missing in loaded.missing_servers(&spec) {
            out.warn(&format!(
                "agent `{}` lists a missing server: {}",
                spec.name,
                describe_missing(&missing)
            ));
        }
    }
    Ok(loaded.for_agent(&spec))
}

/// Loads the configuration for `approve` and `reject`: the servers that an agent defines, if one is
/// requested.
pub(super) fn load_agent_servers(
    by: &AgentOption,
    names: &[String],
    context: &Context,
    loaded: &LoadedConfig,
) -> Result<LoadedConfig, CommandError> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let spec = find_agent(by, &names, context, loaded)?;
    Ok(spec.map_or_else(|| loaded.clone(), |spec| loaded.only_agent_servers(&spec)))
}

/// Finds the requested agent, or the one that defines a server that is configured nowhere else.
fn find_agent(
    by: &AgentOption,
    names: &[&str],
    context: &Context,
    loaded: &LoadedConfig,
) -> Result<Option<AgentSpec>, CommandError> {
    let is_unknown = |name: &&&str| loaded.plan.servers_by_name(name).is_empty();
    let unknown = names.iter().find(is_unknown);
    if by.agent.is_none() && unknown.is_none() {
        return Ok(None);
    }
    let found = load_agents(&context.paths, &context.run_options);
    if let Some(name) = &by.agent {
        return Ok(Some(found.find_agent(name).map_err(AgentError::from)?.clone()));
    }
    let brings =
        |spec: &&AgentSpec| spec.own.iter().any(|own| unknown.is_some_and(|it| own.name.as_str() == *it));
    let bringing: Vec<&AgentSpec> = found.specs.iter().filter(brings).collect();
    match bringing.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some((*one).clone())),
        several => {
            let agents = several.iter().map(|spec| spec.name.clone()).collect();
            let server = unknown.map(|name| (*name).to_owned()).unwrap_or_default();
            Err(UsageError::AmbiguousAgent { server, agents }.into())
        }
    }
}

impl<'l> AgentReport<'l> {
    fn from_spec(spec: &'l AgentSpec, own: &'l LoadedConfig, loaded: &LoadedConfig) -> Self {
        Self {
            name: &spec.name,
            description: spec.description.as_deref(),
            scope: spec.scope(),
            origin: &spec.origin,
            shared: spec.shared.as_deref(),
            required: &spec.required,
            missing: loaded.missing_servers(spec),
            servers: own
                .plan
                .servers
                .iter()
                .map(|it| ServerReport::from_planned(it, SecretVisibility::Masked))
                .collect(),
        }
    }
}

fn render_agent(spec: &AgentSpec, own: &LoadedConfig, loaded: &LoadedConfig, out: &mut TerminalOutput) {
    let about = spec.description.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    let line = format!("{}  {}  {}", bold(&spec.name), spec.scope(), display_line(about));
    out.print_line(line.trim_end());
    out.print_line(format!("  {}", dim(&format!("defined in {}", spec.origin))));
    let listed = |names: &[ServerName]| names.iter().map(ServerName::as_str).collect::<Vec<_>>().join(", ");
    match spec.shared.as_deref() {
        None => out.print_line("  uses all shared servers"),
        Some([]) => out.print_line("  uses no shared servers"),
        Some(names) => out.print_line(format!("  uses {}", display_line(&listed(names)))),
    }
    if !spec.required.is_empty() {
        out.print_line(format!("  requires {}", display_line(&listed(&spec.required))));
    }
    for missing in loaded.missing_servers(spec) {
        out.print_line(format!("  missing {}", display_line(&describe_missing(&missing))));
    }
    for server in &own.plan.servers {
        let word = color_status(&server.status, STANDING_WIDTH);
        out.print_line(format!(
            "  {word}  {}  {}",
            bold(server.name.as_str()),
            display_line(&target_line(server))
        ));
        let indent = " ".repeat(STANDING_WIDTH + 4);
        let hint = server.status.hint(&server.name).map(|hint| format!("hint: {hint}"));
        for line in server.status.reason().into_iter().chain(hint) {
            out.print_line(format!("{indent}{}", dim(&line)));
        }
    }
}

/// Describes a server that is missing, with the reason.
fn describe_missing(missing: &MissingServer) -> String {
    let because = missing.because.as_deref().unwrap_or("it is not configured");
    let similar = match missing.similar.as_slice() {
        [] => String::new(),
        names => format!("; did you mean `{}`?", names.join("`, `")),
    };
    format!("`{}`: {because}{similar}", missing.name)
}
