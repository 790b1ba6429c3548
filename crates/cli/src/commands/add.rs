//! `add` and `add-json`: write a server entry, store its client secret, and check the server.

mod check;
mod entry;
pub(super) mod warnings;

use std::io::Read;

use mcparley::config::LoadedConfig;
use mcparley::config::change::{self, AddedServer, NewServer};
use mcparley::model::approval::Provenance;
use mcparley::model::config::SecretVisibility;
use mcparley::model::explain::Explain;
use mcparley::model::limits::CONFIG_FILE_BYTES;
use mcparley::model::scope::{ConfigOrigin, Source};
use mcparley::model::secret::Secret;
use mcparley::model::text::display_line;
use serde_json::{Map, Value, json};

use super::CommandResult;
use crate::args::{AddArgs, AddJsonArgs, ScopeArg};
use crate::context::Context;
use crate::error::{AddError, CommandError, UnavailableError};
use crate::exit;
use crate::out::{TerminalOutput, bold};
use crate::runtime;
use crate::sign_in::{SecretOwner, ServerAccount, read_client_secret};
use check::CheckOutcome;
use mcparley_report::SignInTarget;

pub(super) fn run(
    args: &AddArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let entry = entry::from_args(args, &context.paths)?;
    let options = &args.options;
    let new = NewServer {
        name: args.name.clone(),
        entry,
        scope: options.scope.unwrap_or(ScopeArg::Local).into(),
        file: options.file.map(Into::into),
        replace: options.force,
        provenance: Provenance::Own,
    };
    let secret = read_secret(options.client_secret, context, out)?;
    add_server(&new, secret, options.no_check, context, loaded, out)
}

pub(super) fn run_json(
    args: &AddJsonArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let text = if args.entry == "-" { read_stdin()? } else { args.entry.clone() };
    let new = NewServer {
        name: args.name.clone(),
        entry: parse_entry(&text)?,
        scope: args.scope.into(),
        file: args.file.map(Into::into),
        replace: args.force,
        provenance: Provenance::Own,
    };
    let secret = read_secret(args.client_secret, context, out)?;
    add_server(&new, secret, args.no_check, context, loaded, out)
}

fn read_secret(
    is_wanted: bool,
    context: &Context,
    out: &mut TerminalOutput,
) -> Result<Option<Secret<String>>, CommandError> {
    is_wanted.then(|| read_client_secret(SecretOwner::Server, context, out)).transpose()
}

fn add_server(
    new: &NewServer,
    secret: Option<Secret<String>>,
    no_check: bool,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let added = change::add_server(&context.paths, &context.run_options, loaded, new)?;
    let is_kept = secret.is_some();
    if let Some(secret) = secret {
        store_client_secret(secret, &added, context)?;
    }
    if !out.json {
        print_addition(&added, is_kept, new, out);
    }
    let check = match no_check {
        true => None,
        false => Some(CheckOutcome::check_addition(&new.name, context, out)?),
    };
    if out.json {
        out.print_json(&addition_report(&added, is_kept, check.as_ref()));
    } else if let Some(check) = &check {
        check.print_outcome(out);
    }
    Ok(exit::OK)
}

fn print_addition(added: &AddedServer, is_kept: bool, new: &NewServer, out: &mut TerminalOutput) {
    let kind = added.raw.effective_kind(&inline_origin()).map_or("", |kind| kind.as_str());
    let scope = added.scope.as_str();
    let (verb, to) = if added.replaced { ("Replaced", "in") } else { ("Added", "to") };
    out.print_line(format!("{verb} {kind} server {} {to} {scope} scope", bold(added.name.as_str())));
    out.print_line(format!("File: {}", display_line(&added.file.to_string_lossy())));
    if is_kept {
        out.print_line("Stored the client secret in the vault");
    }
    if let Some(error) = &added.not_yet {
        out.warn(&error.to_string());
        if let Some(hint) = error.hint() {
            out.hint(&hint);
        }
    }
    warnings::print_warnings(added, out);
    if new.scope == change::WriteScope::Project {
        out.hint(&format!(
            "everyone else has to approve it first: `mcparley approve {}`",
            added.name.as_str()
        ));
    }
}

/// Stores the OAuth client secret of the server in the vault.
fn store_client_secret(
    secret: Secret<String>,
    added: &AddedServer,
    context: &Context,
) -> Result<(), CommandError> {
    let loaded = context.load()?;
    let connect_context = context.connect_context(&loaded);
    let named = loaded.plan.servers_by_name(added.name.as_str());
    let declared = named.into_iter().find(|server| server.scope == added.scope.scope());
    let door = declared.and_then(|server| ServerAccount::from_planned(server, &connect_context));
    let door = door.ok_or(UnavailableError::SecretNotStored)?;
    let kept = runtime::run_unguarded(door.account.store_client_secret(secret))?;
    kept.map_err(|error| CommandError::sign_in_failure(SignInTarget::Server(door.name()), error.into()))
}

fn addition_report(added: &AddedServer, is_kept: bool, check: Option<&CheckOutcome>) -> Value {
    let kind = added.raw.effective_kind(&inline_origin()).ok();
    let mut report = json!({
        "added": added.name,
        "scope": added.scope,
        "file": added.file.to_string_lossy(),
        "entry": added.raw.to_displayed(kind, SecretVisibility::Masked),
        "notYet": added.not_yet.as_ref().map(ToString::to_string),
    });
    if is_kept {
        report["secretKept"] = true.into();
    }
    if added.replaced {
        report["replaced"] = true.into();
    }
    if let Some(check) = check {
        report["check"] = check.to_json();
    }
    let warnings = warnings::addition_warnings(added);
    if !warnings.is_empty() {
        report["warnings"] = warnings.into_iter().map(|warning| warning.text).collect();
    }
    report
}

fn inline_origin() -> ConfigOrigin {
    ConfigOrigin::for_source(Source::from_label("the new entry"))
}

fn parse_entry(text: &str) -> Result<Map<String, Value>, AddError> {
    match serde_json::from_str(text) {
        Ok(Value::Object(entry)) => Ok(entry),
        Ok(_) => Err(AddError::NotObject),
        Err(error) => Err(AddError::NotJson(error)),
    }
}

fn read_stdin() -> Result<String, AddError> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(CONFIG_FILE_BYTES).read_to_string(&mut text);
    read.map(|_| text).map_err(AddError::StdinUnreadable)
}
