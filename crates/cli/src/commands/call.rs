//! `call`: one tool, with the consent of the person who typed it.

mod print;
mod save;
mod wanted;

use std::sync::Arc;
use std::time::Duration;

use mcparley::model::limits::MESSAGE_BYTES;
use mcparley::model::text::display;
use mcparley::{Call, CallError, Consent, Entry, Host, Loaded, Outcome, Progress, Unavailable};
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::{Done, hooks, usable};
use crate::args::{CallArgs, CallOptions};
use crate::arguments::{self, Described, Input, Typed};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::live;
use crate::out::Out;
pub(super) use save::write_over;
use wanted::Wanted;

pub(super) fn run(args: &CallArgs, context: &Context, loaded: Loaded, out: &mut Out) -> Done {
    let wanted = Wanted::of(args, &loaded)?;
    let asked_for_json = out.json;
    // Until the tool is known it is not known either whose option this is.
    out.json |= wanted.words().iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let start = wanted.start(&loaded);
    let host = context.host_for_person(loaded).start_with(start);
    live::with_host(host, async |host| {
        let entry = wanted.entry(host, out).await?;
        let schema = schema(&entry)?;
        let own = CallOptions::behind();
        let mut stdin = std::io::stdin().lock();
        let mut input = Input::new(&mut stdin, MESSAGE_BYTES as u64);
        let Typed { arguments, own, help } = arguments::read(&schema, wanted.words(), &own, &mut input)?;
        let (options, json) = args.options.with(&own)?;
        out.json = asked_for_json || json;
        if help {
            out.text(&arguments::help(&described(&entry, &schema)));
            return Ok(exit::OK);
        }
        let outcome = call(host, &entry, arguments, &options, out).await;
        hooks::tell_notes(host, out);
        let outcome = outcome.inspect_err(|error| last_words(error, out))?;
        finish(&outcome, &entry, &options, out)
    })
}

/// Makes the call, and tells how far it is.
async fn call(
    host: &Host,
    entry: &Entry,
    arguments: Map<String, Value>,
    options: &CallOptions,
    out: &mut Out,
) -> Result<Outcome, CallError> {
    let name = entry.name.as_str();
    let mut call = Call::new(name, arguments).with_consent(Consent::Given);
    if let Some(milliseconds) = options.timeout {
        call = call.with_limit(Duration::from_millis(milliseconds));
    }
    let what = format!("calling {name} …");
    out.waiting(&what);
    let outcome = if out.is_waiting() {
        let (newest, seen) = watch::channel(None);
        told(host.call(call.with_progress(newest)), seen, &what, out).await
    } else {
        host.call(call).await
    };
    out.waited();
    outcome
}

async fn told<T>(
    call: impl Future<Output = T>,
    mut seen: watch::Receiver<Option<Progress>>,
    what: &str,
    out: &mut Out,
) -> T {
    let mut call = std::pin::pin!(call);
    loop {
        tokio::select! {
            biased;
            done = &mut call => return done,
            Ok(()) = seen.changed() => {
                if let Some(progress) = seen.borrow_and_update().as_ref() {
                    out.waiting(&format!("{what} {}", how_far(progress)));
                }
            }
            else => return call.await,
        }
    }
}

/// As far as it can be told: `40 %`, `12`, and what is being done.
fn how_far(progress: &Progress) -> String {
    let number = match progress.total {
        Some(total) if total > 0.0 => {
            format!("{:.0} %", (progress.progress / total * 100.0).clamp(0.0, 100.0))
        }
        Some(_) | None => format!("{}", progress.progress),
    };
    match progress.message.as_deref().filter(|message| !message.is_empty()) {
        Some(message) => format!("{number} {}", display(message)),
        None => number,
    }
}

fn finish(outcome: &Outcome, entry: &Entry, options: &CallOptions, out: &mut Out) -> Done {
    let saved = save::save(outcome, entry, options, out)?;
    if out.json {
        out.value(outcome);
    } else {
        print::print(outcome, &saved, out);
    }
    if !outcome.is_error {
        return Ok(exit::OK);
    }
    if !out.json {
        out.complain(&format!("tool `{}` says that it failed", entry.name));
    }
    Ok(exit::TOOL_ERROR)
}

/// What a server that cannot be used wrote last is often the real reason.
fn last_words(error: &CallError, out: &mut Out) {
    if let CallError::Unavailable {
        why: Unavailable::Failed(error) | Unavailable::Waiting { error, .. },
        ..
    } = error
    {
        usable::tell_last_words(&error.stderr, out);
    }
}

fn schema(entry: &Arc<Entry>) -> Result<Value, CommandError> {
    serde_json::from_str(entry.tool.input_schema.get()).map_err(|error| CommandError::Unavailable {
        message: format!("the schema of `{}` cannot be read: {error}", entry.name),
        hint: None,
    })
}

fn described<'e>(entry: &'e Entry, schema: &'e Value) -> Described<'e> {
    let name = entry.tool.name.as_str();
    let how = match entry.server() {
        Some(server) => vec![server.as_str(), name],
        None => vec![name],
    };
    Described { how, title: entry.tool.title.as_deref(), description: &entry.tool.description, schema }
}
