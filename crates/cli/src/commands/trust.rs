//! `trust`: everything a folder brings that waits for approval, shown whole and approved at once.

use std::io::{BufRead, Write};
use std::path::Path;

use mcparley::change::{self, Waiting};
use mcparley::model::approval::ItemKind;
use mcparley::model::config::ReviewField;
use mcparley::model::hook::Hook;
use mcparley::model::plan::Planned;
use mcparley::model::text::display;
use mcparley::{Loaded, Paths};
use serde_json::{Value, json};

use super::Done;
use crate::args::TrustArgs;
use crate::context::{self, Context};
use crate::error::CommandError;
use crate::exit;
use crate::out::{Out, bold, dim};
use crate::report::WaitingReport;

pub(super) fn run(args: &TrustArgs, context: &Context, out: &mut Out) -> Done {
    let paths = match &args.folder {
        Some(folder) => places_in(folder, context)?,
        None => context.paths.clone(),
    };
    let waiting = Waiting::find(&paths, &context.run_options);
    if !out.json {
        show(&waiting, out);
    }
    let is_agreed = !waiting.is_empty() && is_agreed(args, out);
    let file = if is_agreed { Some(change::approve_items(&paths, &waiting.to_items())?) } else { None };
    if out.json {
        out.value(&report(&waiting, file.as_deref()));
    } else if let Some(file) = &file {
        out.line(format!("Approved all of it as it is now\nFile: {}", display(&file.to_string_lossy())));
    }
    Ok(if waiting.is_empty() || file.is_some() { exit::OK } else { exit::DENIED })
}

/// The paths of a user who stands in the folder.
fn places_in(folder: &Path, context: &Context) -> Result<Paths, CommandError> {
    match context.paths.cwd.join(folder).canonicalize() {
        Ok(folder) if folder.is_dir() => Ok(context.paths.standing_in(&folder)),
        Ok(_) | Err(_) => {
            let message = format!("`{}` is not a folder", folder.display());
            Err(CommandError::usage(message, "name a folder that exists"))
        }
    }
}

fn is_agreed(args: &TrustArgs, out: &mut Out) -> bool {
    if args.yes {
        return true;
    }
    if out.json || !context::is_interactive() {
        out.hint("nothing was approved; `mcparley trust --yes` approves all of it");
        return false;
    }
    ask("Approve all of it as it is now? [y/N]", out)
}

/// Asks a person at the terminal; anything but yes is no.
pub(super) fn ask(question: &str, out: &mut Out) -> bool {
    out.say(question);
    let mut answer = String::new();
    // The question must be on the screen before the wait for its answer.
    let asked = std::io::stderr().flush().and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    asked.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn show(waiting: &Waiting, out: &mut Out) {
    let folder = waiting.folder.to_string_lossy();
    if waiting.is_empty() {
        return out.line(format!("Nothing in {} waits for approval.", display(&folder)));
    }
    out.line(format!("{} brings, and nothing of it counts yet:", display(&folder)));
    for server in &waiting.servers {
        show_server(server, None, &waiting.approved, out);
    }
    for (agent, server) in &waiting.agents {
        show_server(server, Some(agent), &waiting.approved, out);
    }
    for waiting in &waiting.items {
        let word = match waiting.item.kind {
            ItemKind::Rule => "allows without asking",
            ItemKind::Variable => "variable",
            ItemKind::Server | ItemKind::Hook => continue,
        };
        out.line(format!("{}  {}", bold(word), display(&waiting.text)));
        out.line(format!("  {}", dim(&format!("{}; {}", waiting.origin, waiting.why))));
    }
    for hook in &waiting.hooks {
        out.line(format!("{}  {}", bold("hook"), display(hook.event.as_str())));
        hook_fields(hook).iter().for_each(|field| show_field(field, out));
        out.line(format!("  {}", dim(&hook.origin.to_string())));
    }
}

/// A server whole, every element on a line of its own: nothing can hide behind spaces or a long line (B45).
pub(super) fn show_server(server: &Planned, agent: Option<&str>, loaded: &Loaded, out: &mut Out) {
    let name = display(server.name.as_str()).into_owned();
    let by = agent.map(|agent| format!(" of agent {}", display(agent))).unwrap_or_default();
    out.line(format!("{}  {}{by}", bold("server"), bold(&name)));
    out.line(format!("  {}", dim(&format!("declared in {}", server.origin))));
    fields(server, loaded).iter().for_each(|field| show_field(field, out));
    let dangerous: Vec<&str> = server.dangerous_variables().collect();
    if !dangerous.is_empty() {
        out.line(format!("  caution: {} can change what runs", display(&dangerous.join(", "))));
    }
}

fn show_field(field: &ReviewField, out: &mut Out) {
    out.line(format!("  {}: {}", display(&field.name), display(&field.written)));
    if let Some(runs) = &field.runs {
        out.line(format!("    runs as: {}", display(runs)));
    }
}

/// The fields of a server as they are written and as they would run.
pub(super) fn fields(server: &Planned, loaded: &Loaded) -> Vec<ReviewField> {
    let Some(raw) = &server.raw else { return Vec::new() };
    raw.review(server.config.as_ref(), &loaded.env, |name| loaded.is_own_variable(name))
}

fn hook_fields(hook: &Hook) -> Vec<ReviewField> {
    let field = |name: String, written: &str| ReviewField { name, written: written.to_owned(), runs: None };
    let mut fields = vec![
        field("for".to_owned(), if hook.matcher.as_str().is_empty() { "*" } else { hook.matcher.as_str() }),
        field("command".to_owned(), hook.command.expose()),
    ];
    let arguments = hook.args.iter().flatten().enumerate();
    fields.extend(arguments.map(|(index, text)| field(format!("argument {}", index + 1), text.expose())));
    fields
}

fn report(waiting: &Waiting, file: Option<&Path>) -> Value {
    let server = |agent: Option<&str>, server: &Planned| {
        json!({
            "name": server.name, "agent": agent, "scope": server.scope, "origin": server.origin,
            "definition": server.definition, "fields": fields(server, &waiting.approved),
            "cautions": server.dangerous_variables().collect::<Vec<_>>(),
        })
    };
    let shared = waiting.servers.iter().map(|it| server(None, it));
    let brought = waiting.agents.iter().map(|(agent, it)| server(Some(agent), it));
    let WaitingReport { variables, rules } = WaitingReport::of(&waiting.items);
    let hooks: Vec<Value> = waiting
        .hooks
        .iter()
        .map(|it| json!({ "event": it.event, "origin": it.origin, "fields": hook_fields(it) }))
        .collect();
    json!({
        "folder": waiting.folder.to_string_lossy(),
        "servers": shared.chain(brought).collect::<Vec<_>>(),
        "variables": variables,
        "rules": rules,
        "hooks": hooks,
        "approved": file.is_some(),
        "file": file.map(Path::to_string_lossy),
    })
}
