//! `add` and `add-json`.

mod check;
mod entry;
pub(super) mod warnings;

use std::io::Read;

use mcparley::Loaded;
use mcparley::change::{self, Added, NewServer};
use mcparley::model::approval::Provenance;
use mcparley::model::config::Reveal;
use mcparley::model::explain::Explain;
use mcparley::model::limits::CONFIG_FILE_BYTES;
use mcparley::model::scope::{Origin, Source};
use mcparley::model::secret::Secret;
use mcparley::model::text::display;
use serde_json::{Map, Value, json};

use super::Done;
use crate::args::{AddArgs, AddJsonArgs, ScopeArg};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::live;
use crate::out::{Out, bold};
use crate::sign_in::{Door, Who, client_secret};
use check::CheckOutcome;

pub(super) fn run(args: &AddArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
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
    let secret = if options.client_secret { Some(client_secret(context, out)?) } else { None };
    add(&new, secret, options.no_check, context, loaded, out)
}

pub(super) fn run_json(args: &AddJsonArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let text = if args.entry == "-" { read_stdin()? } else { args.entry.clone() };
    let new = NewServer {
        name: args.name.clone(),
        entry: parse(&text)?,
        scope: args.scope.into(),
        file: args.file.map(Into::into),
        replace: args.force,
        provenance: Provenance::Own,
    };
    let secret = if args.client_secret { Some(client_secret(context, out)?) } else { None };
    add(&new, secret, args.no_check, context, loaded, out)
}

fn add(
    new: &NewServer,
    secret: Option<Secret<String>>,
    no_check: bool,
    context: &Context,
    loaded: &Loaded,
    out: &mut Out,
) -> Done {
    let added = change::add(&context.paths, &context.run_options, loaded, new)?;
    let is_kept = secret.is_some();
    if let Some(secret) = secret {
        keep(secret, &added, context)?;
    }
    if !out.json {
        print_added(&added, is_kept, new, out);
    }
    let check = match no_check {
        true => None,
        false => Some(CheckOutcome::of_added(&new.name, context, out)?),
    };
    if out.json {
        out.value(&report(&added, is_kept, check.as_ref()));
    } else if let Some(check) = &check {
        check.tell(out);
    }
    Ok(exit::OK)
}

fn print_added(added: &Added, is_kept: bool, new: &NewServer, out: &mut Out) {
    let kind = added.raw.effective_kind(&nowhere()).map_or("", |kind| kind.as_str());
    let scope = added.scope.as_str();
    let (verb, to) = if added.replaced { ("Replaced", "in") } else { ("Added", "to") };
    out.line(format!("{verb} {kind} server {} {to} {scope} scope", bold(added.name.as_str())));
    out.line(format!("File: {}", display(&added.file.to_string_lossy())));
    if is_kept {
        out.line("Kept the client's secret in the vault");
    }
    if let Some(error) = &added.not_yet {
        out.warn(&error.to_string());
        if let Some(hint) = error.hint() {
            out.hint(&hint);
        }
    }
    warnings::tell(added, out);
    if new.scope == change::WriteScope::Project {
        out.hint(&format!(
            "everyone else approves it before it runs: `mcparley approve {}`",
            added.name.as_str()
        ));
    }
}

/// Keeps the secret of the server's client in the vault.
fn keep(secret: Secret<String>, added: &Added, context: &Context) -> Result<(), CommandError> {
    let loaded = context.load()?;
    let surroundings = context.surroundings(&loaded);
    let named = loaded.plan.named(added.name.as_str());
    let declared = named.into_iter().find(|server| server.scope == added.scope.scope());
    let door = declared.and_then(|server| Door::of(server, &surroundings));
    let not_kept = || CommandError::Unavailable {
        message: "the server was added, but its secret was not kept: its entry cannot be used yet".to_owned(),
        hint: Some("set what it needs, remove it, and add it again".to_owned()),
    };
    let door = door.ok_or_else(not_kept)?;
    let kept = live::beforehand(door.account.keep_client_secret(secret))?;
    kept.map_err(|error| CommandError::sign_in(Who::Server(door.name()), error.into()))
}

fn report(added: &Added, is_kept: bool, check: Option<&CheckOutcome>) -> Value {
    let kind = added.raw.effective_kind(&nowhere()).ok();
    let mut report = json!({
        "added": added.name,
        "scope": added.scope,
        "file": added.file.to_string_lossy(),
        "entry": added.raw.shown(kind, Reveal::Masked),
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
    let warnings = warnings::of(added);
    if !warnings.is_empty() {
        report["warnings"] = warnings.into_iter().map(|warning| warning.text).collect();
    }
    report
}

fn nowhere() -> Origin {
    Origin::whole(Source::inline("the new entry"))
}

fn parse(text: &str) -> Result<Map<String, Value>, CommandError> {
    // The parser's message names the place and never quotes the text, which may hold a secret.
    match serde_json::from_str(text) {
        Ok(Value::Object(entry)) => Ok(entry),
        Ok(_) => Err(CommandError::usage("the entry is not a JSON object", EXAMPLE)),
        Err(error) => Err(CommandError::usage(format!("the entry is not JSON: {error}"), EXAMPLE)),
    }
}

const EXAMPLE: &str = r#"an entry looks like {"type":"http","url":"https://example.com/mcp"}"#;

fn read_stdin() -> Result<String, CommandError> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(CONFIG_FILE_BYTES).read_to_string(&mut text);
    match read {
        Ok(_) => Ok(text),
        Err(error) => Err(CommandError::usage(format!("standard input cannot be read: {error}"), EXAMPLE)),
    }
}
