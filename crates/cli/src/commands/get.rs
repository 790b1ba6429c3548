//! `get`: one server in full, secrets masked.

use mcparley::Loaded;
use mcparley::model::config::{Reveal, Shown};
use mcparley::model::plan::{Planned, ServerStanding};
use mcparley::model::text::{display, shell_word};

use super::auth::SignInReport;
use super::{Done, code_of, tell_problems, trust};
use crate::args::GetArgs;
use crate::context::{self, Context};
use crate::error::CommandError;
use crate::live;
use crate::out::{Out, bold, dim, standing};
use crate::report::{self, ServerReport};
use crate::sign_in::Door;

pub(super) fn run(args: &GetArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let reveal = reveal(args)?;
    let servers = loaded.plan.named(&args.name);
    if servers.is_empty() {
        tell_problems(loaded, out);
        let similar = loaded.similar(&args.name);
        return Err(CommandError::NotFound { name: args.name.clone(), similar });
    }
    let sign_ins = sign_ins(&servers, context, loaded)?;
    if out.json {
        let reports: Vec<ServerReport<'_>> =
            servers.iter().map(|server| ServerReport::of(server, Reveal::Masked)).collect();
        let mut report = serde_json::json!({ "name": args.name, "declarations": reports });
        if !sign_ins.is_empty() {
            report["signIns"] = serde_json::json!(sign_ins);
        }
        out.value(&report);
        return Ok(code_of(loaded));
    }
    tell_problems(loaded, out);
    for (index, server) in servers.iter().enumerate() {
        if index > 0 {
            out.line("");
        }
        render(server, reveal, loaded, out);
    }
    for standing in &sign_ins {
        out.line(format!("  {}", standing.in_one_line()));
    }
    Ok(code_of(loaded))
}

/// How the sign-ins to these stand, as far as it is kept; no server is asked.
fn sign_ins(
    servers: &[&Planned],
    context: &Context,
    loaded: &Loaded,
) -> Result<Vec<SignInReport>, CommandError> {
    let surroundings = context.surroundings(loaded);
    let doors: Vec<Door<'_>> = servers.iter().filter_map(|server| Door::of(server, &surroundings)).collect();
    if doors.is_empty() {
        return Ok(Vec::new());
    }
    live::beforehand(async {
        let mut standings: Vec<SignInReport> = Vec::new();
        for door in &doors {
            let standing = SignInReport::of(door).await;
            // Declarations that are the same server share one.
            if !standings.contains(&standing) {
                standings.push(standing);
            }
        }
        standings
    })
}

/// Secrets are for eyes, never for pipes (B63).
fn reveal(args: &GetArgs) -> Result<Reveal, CommandError> {
    match (args.show_secrets, context::stdout_is_terminal()) {
        (false, _) => Ok(Reveal::Masked),
        (true, true) => Ok(Reveal::AsWritten),
        (true, false) => Err(CommandError::usage(
            "`--show-secrets` works only on a terminal",
            "read the file itself; `mcparley get` names it",
        )),
    }
}

fn render(server: &Planned, reveal: Reveal, loaded: &Loaded, out: &mut Out) {
    out.line(format!("{}  {}", bold(server.name.as_str()), standing(&server.standing, 0)));
    let mut field = |name: &str, value: &str| out.line(format!("  {name}: {}", display(value)));
    if let Some(reason) = server.standing.reason() {
        field("reason", &reason);
    }
    field("scope", server.scope.as_str());
    field("declared in", &server.origin.to_string());
    if let Some(raw) = &server.raw {
        entry(&raw.shown(server.kind, report::reveal(server, reveal)), &mut field);
    }
    if matches!(server.standing, ServerStanding::NeedsApproval(_)) {
        for review in trust::fields(server, loaded) {
            if let Some(runs) = &review.runs {
                field(&format!("{} runs as", review.name), runs);
            } else if review.name == "connects to" {
                field(&review.name, &review.written);
            }
        }
    }
    let dangerous: Vec<&str> = server.dangerous_variables().collect();
    if !dangerous.is_empty() {
        field("caution", &format!("{} can change what runs", dangerous.join(", ")));
    }
    for caution in &server.cautions {
        field("caution", &caution.to_string());
    }
    if let (ServerStanding::NeedsApproval(_), Some(definition)) = (&server.standing, server.definition) {
        let name = shell_word(server.name.as_str());
        out.line(format!(
            "  approve: {}",
            dim(&format!("mcparley approve {name} --definition {definition}"))
        ));
    } else if let Some(hint) = server.standing.hint(&server.name) {
        out.hint(&hint);
    }
    for hint in &server.hints {
        out.line(format!("  {}", dim(&format!("note: {}: {}", hint.origin, hint.text))));
    }
}

/// Every element on a line of its own: nothing can hide behind spaces or a long line (B45).
fn entry(shown: &Shown, field: &mut impl FnMut(&str, &str)) {
    if let Some(kind) = shown.kind {
        field("type", kind.as_str());
    }
    let one = [
        ("command", &shown.command),
        ("cwd", &shown.cwd),
        ("url", &shown.url),
        ("headers helper", &shown.headers_helper),
    ];
    for (name, value) in one {
        if let Some(value) = value {
            field(name, value);
        }
    }
    for (index, argument) in shown.args.iter().enumerate() {
        field(&format!("argument {}", index + 1), argument);
    }
    for (name, values) in [("variable", &shown.env), ("header", &shown.headers)] {
        for value in values {
            let separator = if name == "header" { ": " } else { "=" };
            let from: Vec<String> = value.variables.iter().map(|name| format!("${{{name}}}")).collect();
            let from = if from.is_empty() { String::new() } else { format!(" (from {})", from.join(", ")) };
            field(name, &format!("{}{separator}{}{from}", value.name, value.value));
        }
    }
    rest(shown, field);
}

fn rest(shown: &Shown, field: &mut impl FnMut(&str, &str)) {
    if let Some(oauth) = &shown.oauth {
        field("sign-in", &serde_json::to_string(oauth).unwrap_or_default());
    }
    if let Some(limit) = shown.timeout {
        field("time limit of a call", &format!("{limit} ms"));
    }
    if let Some(limit) = shown.idle_timeout {
        field("stopped after", &format!("{limit} ms without a call"));
    }
    let flags = [
        ("inherits the whole environment", shown.inherit_env),
        ("tools are always listed", shown.always_load),
        ("required", shown.required),
    ];
    for (name, _) in flags.into_iter().filter(|(_, on)| *on) {
        field(name, "yes");
    }
    match &shown.roots {
        Some(serde_json::Value::Array(folders)) if !folders.is_empty() => {
            for folder in folders.iter().filter_map(serde_json::Value::as_str) {
                field("root", folder);
            }
        }
        Some(_) => field("roots", "none"),
        None => {}
    }
    for (name, globs) in [("only tools", &shown.enabled_tools), ("without tools", &shown.disabled_tools)] {
        if !globs.is_empty() {
            field(name, &globs.join(", "));
        }
    }
}
