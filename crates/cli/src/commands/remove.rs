//! `remove`.

use mcparley::Loaded;
use mcparley::change::{self, Removed};
use mcparley::model::plan::Planned;
use mcparley::model::text::display;
use serde_json::json;

use super::logout::Departure;
use super::{Done, tell_problems};
use crate::args::RemoveArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::live;
use crate::out::{Out, bold};
use crate::sign_in::Door;

pub(super) fn run(args: &RemoveArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let removed = match change::remove(&context.paths, loaded, &args.name, args.scope.map(Into::into)) {
        Ok(removed) => removed,
        Err(error) => {
            // It may stand in a file that could not be read.
            tell_problems(loaded, out);
            return Err(error.into());
        }
    };
    let forgotten = forget(&removed, context, loaded, out)?;
    if out.json {
        let mut report = json!({
            "removed": removed.name,
            "scope": removed.scope,
            "files": removed.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
        });
        if !forgotten.is_empty() {
            report["signedOut"] = json!(forgotten);
        }
        out.value(&report);
        return Ok(exit::OK);
    }
    out.line(format!("Removed server {} from {} scope", bold(&removed.name), removed.scope.as_str()));
    for file in &removed.files {
        out.line(format!("File: {}", display(&file.to_string_lossy())));
    }
    for departure in &forgotten {
        departure.tell(out);
    }
    Ok(exit::OK)
}

/// Gives back and forgets what was kept for the entries that are gone. What cannot be given back, or forgotten, is
/// told; the entry is gone all the same.
fn forget(
    removed: &Removed,
    context: &Context,
    loaded: &Loaded,
    out: &mut Out,
) -> Result<Vec<Departure>, CommandError> {
    let surroundings = context.surroundings(loaded);
    let left = context.load()?;
    let is_left = |server: &Planned| {
        let mut same = left.plan.named(removed.name.as_str()).into_iter();
        same.any(|other| other.signature() == server.signature())
    };
    let declared = loaded.plan.named(removed.name.as_str()).into_iter();
    let gone = declared.filter(|server| server.scope == removed.scope.scope() && !is_left(server));
    let doors: Vec<Door<'_>> = gone.filter_map(|server| Door::of(server, &surroundings)).collect();
    let mut forgotten = Vec::new();
    if doors.is_empty() {
        return Ok(forgotten);
    }
    let forgetting = async {
        for door in &doors {
            let left = Departure::of(door).await;
            let secret = door.account.forget_client_secret().await;
            if let Err(error) = secret {
                out.warn(&error.in_one_line());
            }
            match left {
                Ok(departure) if departure.is_one() => forgotten.push(departure),
                Ok(_) => {}
                Err(error) => out.warn(&error.to_string()),
            }
        }
    };
    live::run_with(&surroundings, forgetting)?;
    Ok(forgotten)
}
