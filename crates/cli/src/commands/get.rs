//! `get`: shows one server in full, with secrets masked.

use mcparley::config::LoadedConfig;
use mcparley::config::plan::{PlanStatus, PlannedServer};
use mcparley::model::config::{CredentialPolicy, DisplayedServer, SecretVisibility, SharePolicy};
use mcparley::model::text::{display_line, shell_word};
use mcparley_console::dialog::approval::review_fields;

use super::auth::SignInReport;
use super::{CommandResult, base_exit_code, print_problems};
use crate::args::GetArgs;
use crate::context::{self, Context};
use crate::error::{CommandError, UsageError};
use crate::out::{TerminalOutput, bold, color_status, dim};
use crate::runtime;
use crate::sign_in::ServerAccount;
use mcparley_report::{self, ServerReport};

pub(super) fn run(
    args: &GetArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let reveal = requested_reveal(args)?;
    let servers = loaded.plan.servers_by_name(&args.name);
    if servers.is_empty() {
        print_problems(loaded, out);
        let similar = loaded.similar_server_names(&args.name);
        return Err(CommandError::NotFound { name: args.name.clone(), similar });
    }
    let sign_ins = load_sign_ins(&servers, context, loaded)?;
    if out.json {
        let reports: Vec<ServerReport<'_>> = servers
            .iter()
            .map(|server| ServerReport::from_planned(server, SecretVisibility::Masked))
            .collect();
        let mut report = serde_json::json!({ "name": args.name, "declarations": reports });
        if !sign_ins.is_empty() {
            report["signIns"] = serde_json::json!(sign_ins);
        }
        out.print_json(&report);
        return Ok(base_exit_code(loaded));
    }
    print_problems(loaded, out);
    for (index, server) in servers.iter().enumerate() {
        if index > 0 {
            out.print_line("");
        }
        render_server(server, reveal, loaded, out);
    }
    for standing in &sign_ins {
        out.print_line(format!("  {}", standing.summary_line()));
    }
    Ok(base_exit_code(loaded))
}

/// The stored sign-ins of these servers. Connects to no server.
fn load_sign_ins(
    servers: &[&PlannedServer],
    context: &Context,
    loaded: &LoadedConfig,
) -> Result<Vec<SignInReport>, CommandError> {
    let connect_context = context.connect_context(loaded);
    let doors: Vec<ServerAccount<'_>> =
        servers.iter().filter_map(|server| ServerAccount::from_planned(server, &connect_context)).collect();
    if doors.is_empty() {
        return Ok(Vec::new());
    }
    runtime::run_unguarded(async {
        let mut standings: Vec<SignInReport> = Vec::new();
        for door in &doors {
            let standing = SignInReport::from_account(door).await;
            // Entries of the same server share one sign-in.
            if !standings.contains(&standing) {
                standings.push(standing);
            }
        }
        standings
    })
}

/// Whether secrets are shown: only with `--show-secrets` and only on a terminal, never in a pipe.
fn requested_reveal(args: &GetArgs) -> Result<SecretVisibility, UsageError> {
    match (args.show_secrets, context::stdout_is_terminal()) {
        (false, _) => Ok(SecretVisibility::Masked),
        (true, true) => Ok(SecretVisibility::AsWritten),
        (true, false) => Err(UsageError::SecretsWithoutTerminal),
    }
}

fn render_server(
    server: &PlannedServer,
    reveal: SecretVisibility,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) {
    out.print_line(format!("{}  {}", bold(server.name.as_str()), color_status(&server.status, 0)));
    let mut field = |name: &str, value: &str| out.print_line(format!("  {name}: {}", display_line(value)));
    if let Some(reason) = server.status.reason() {
        field("reason", &reason);
    }
    field("scope", server.scope.as_str());
    field("declared in", &server.origin.to_string());
    if let Some(raw) = &server.raw {
        render_entry(
            &raw.to_displayed(server.kind, mcparley_report::effective_reveal(server, reveal)),
            &mut field,
        );
    }
    if matches!(server.status, PlanStatus::NeedsApproval(_)) {
        for review in review_fields(server, loaded) {
            if let Some(runs) = &review.runs {
                field(&format!("{} runs as", review.name), runs);
            } else if review.name == "connects to" {
                field(&review.name, &review.written);
            }
        }
    }
    let dangerous: Vec<&str> = server.dangerous_variables().collect();
    if !dangerous.is_empty() {
        field("caution", &format!("{} can change the program that runs", dangerous.join(", ")));
    }
    for caution in &server.cautions {
        field("caution", &caution.to_string());
    }
    if let (PlanStatus::NeedsApproval(_), Some(definition)) = (&server.status, server.definition) {
        let name = shell_word(server.name.as_str());
        out.print_line(format!(
            "  approve: {}",
            dim(&format!("mcparley approve {name} --definition {definition}"))
        ));
    } else if let Some(hint) = server.status.hint(&server.name) {
        out.hint(&hint);
    }
    for hint in &server.hints {
        out.print_line(format!("  {}", dim(&format!("note: {}: {}", hint.origin, hint.text))));
    }
}

/// Prints every element of an entry on its own line, so that none can hide behind spaces or in a long line.
fn render_entry(shown: &DisplayedServer, field: &mut impl FnMut(&str, &str)) {
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
    render_options(shown, field);
}

fn render_options(shown: &DisplayedServer, field: &mut impl FnMut(&str, &str)) {
    if let Some(oauth) = &shown.oauth {
        field("sign-in", &serde_json::to_string(oauth).unwrap_or_default());
    }
    if let Some(limit) = shown.timeout {
        field("call timeout", &format!("{limit} ms"));
    }
    if let Some(limit) = shown.idle_timeout {
        field("stopped after", &format!("{limit} ms without a call"));
    }
    if shown.share != SharePolicy::Auto {
        field("share", shown.share.as_str());
    }
    if shown.credentials != CredentialPolicy::Auto {
        field("credentials", shown.credentials.as_str());
    }
    let flags = [
        ("inherits the whole environment", shown.inherit_env),
        ("tools are never deferred", shown.always_load),
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
