//! `prompts`: lists the prompts of servers, and servers that do not work.

use std::sync::Arc;

use mcparley::config::LoadedConfig;
use mcparley::host::HostServer;
use mcparley::model::text::{display_line, truncated_prefix};
use mcparley::prompt::{Prompt, Prompts};
use serde::Serialize;

use super::listing::{self, ListingRequest};
use super::usable::IncompleteServer;
use super::{CommandResult, base_exit_code, print_problems};
use crate::args::PromptsArgs;
use crate::context::Context;
use crate::exit::NamedExitCode;
use crate::out::{TerminalOutput, bold};

/// The maximum length of a description on one line.
const LINE_CHARS: usize = 100;

/// The report of `prompts`.
#[derive(Serialize)]
struct PromptsReport {
    prompts: Vec<Arc<Prompt>>,
    /// The servers with missing or incomplete lists, with the reason.
    servers: Vec<IncompleteServer>,
}

pub(super) fn run(
    args: &PromptsArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let wanted = ListingRequest { server: args.server.as_deref(), refresh: args.refresh };
    listing::run_listing(&wanted, context, loaded, out, |host, servers, out| {
        show_prompts(&wanted, &host.prompts(), servers, loaded, out)
    })
}

fn show_prompts(
    wanted: &ListingRequest<'_>,
    prompts: &Prompts,
    servers: &[HostServer],
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let code: NamedExitCode = base_exit_code(loaded);
    let server = wanted.require_usable_server(loaded, servers, out)?;
    let all = prompts.iter().filter(|prompt| server.as_ref().is_none_or(|server| prompt.server == *server));
    let report = PromptsReport {
        prompts: all.cloned().collect(),
        servers: super::usable::find_incomplete_servers(loaded, servers, server.as_ref()),
    };
    if out.json {
        out.print_json(&report);
        return Ok(code);
    }
    print_problems(loaded, out);
    report.render(out);
    Ok(code)
}

impl PromptsReport {
    fn render(&self, out: &mut TerminalOutput) {
        if self.prompts.is_empty() {
            out.print_message("No prompts found.");
        }
        for prompt in &self.prompts {
            out.print_line(format!("{}  {}", bold(&prompt.usage()), description_line(prompt)));
            if out.verbose > 0 {
                print_arguments(prompt, out);
            }
        }
        for lacking in &self.servers {
            lacking.print_warnings(out);
        }
    }
}

fn print_arguments(prompt: &Prompt, out: &mut TerminalOutput) {
    for argument in &prompt.arguments {
        let said = argument.description.as_deref().or(argument.title.as_deref()).unwrap_or_default();
        out.print_line(format!("    {}: {}", display_line(&argument.name), display_line(said)));
    }
}

/// The first line of the description, or the title, truncated.
fn description_line(prompt: &Prompt) -> String {
    let first = prompt.description.lines().map(str::trim).find(|line| !line.is_empty());
    let about = first.or(prompt.title.as_deref()).unwrap_or_default();
    match truncated_prefix(about, LINE_CHARS) {
        Some(beginning) => format!("{}…", display_line(beginning)),
        None => display_line(about).into_owned(),
    }
}
