//! `prompts`: the commands that servers offer, and which servers do not.

use std::sync::Arc;

use mcparley::model::text::{beginning, display};
use mcparley::{Loaded, Prompt, Prompts, Server};
use serde::Serialize;

use super::listing::{self, Wanted};
use super::usable::Lacking;
use super::{Done, code_of, tell_problems};
use crate::args::PromptsArgs;
use crate::context::Context;
use crate::exit::Code;
use crate::out::{Out, bold};

/// How much of a description stands on one line.
const LINE_CHARS: usize = 100;

/// What `prompts` shows.
#[derive(Serialize)]
struct Report {
    prompts: Vec<Arc<Prompt>>,
    /// What became of the servers that offer nothing, or not all.
    servers: Vec<Lacking>,
}

pub(super) fn run(args: &PromptsArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let wanted = Wanted { server: args.server.as_deref(), refresh: args.refresh };
    listing::run(&wanted, context, loaded, out, |known, out| {
        let prompts = known.either(mcparley::Remembered::prompts, mcparley::Host::prompts);
        show(&wanted, &prompts, known.servers(), loaded, out)
    })
}

fn show(wanted: &Wanted<'_>, prompts: &Prompts, servers: &[Server], loaded: &Loaded, out: &mut Out) -> Done {
    let code: Code = code_of(loaded);
    let server = wanted.usable(loaded, servers, out)?;
    let all = prompts.iter().filter(|prompt| server.as_ref().is_none_or(|server| prompt.server == *server));
    let report = Report {
        prompts: all.cloned().collect(),
        servers: super::usable::lacking(loaded, servers, server.as_ref()),
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
        if self.prompts.is_empty() {
            out.say("There are no prompts.");
        }
        for prompt in &self.prompts {
            out.line(format!("{}  {}", bold(&prompt.usage()), about(prompt)));
            if out.verbose > 0 {
                arguments(prompt, out);
            }
        }
        for lacking in &self.servers {
            lacking.tell(out);
        }
    }
}

fn arguments(prompt: &Prompt, out: &mut Out) {
    for argument in &prompt.arguments {
        let said = argument.description.as_deref().or(argument.title.as_deref()).unwrap_or_default();
        out.line(format!("    {}: {}", display(&argument.name), display(said)));
    }
}

/// The beginning of what it does.
fn about(prompt: &Prompt) -> String {
    let first = prompt.description.lines().map(str::trim).find(|line| !line.is_empty());
    let about = first.or(prompt.title.as_deref()).unwrap_or_default();
    match beginning(about, LINE_CHARS) {
        Some(beginning) => format!("{}…", display(beginning)),
        None => display(about).into_owned(),
    }
}
