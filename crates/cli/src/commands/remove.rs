//! `remove`.

use mcparley::Loaded;
use mcparley::change;
use mcparley::model::text::display;
use serde_json::json;

use super::{Done, tell_problems};
use crate::args::RemoveArgs;
use crate::context::Context;
use crate::exit;
use crate::out::{Out, bold};

pub(super) fn run(args: &RemoveArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let removed = match change::remove(&context.places, loaded, &args.name, args.scope.map(Into::into)) {
        Ok(removed) => removed,
        Err(error) => {
            // It may stand in a file that could not be read.
            tell_problems(loaded, out);
            return Err(error.into());
        }
    };
    if out.json {
        out.value(&json!({
            "removed": removed.name,
            "scope": removed.scope,
            "files": removed.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
        }));
        return Ok(exit::OK);
    }
    out.line(format!("Removed server {} from {} scope", bold(&removed.name), removed.scope.as_str()));
    for file in &removed.files {
        out.line(format!("File: {}", display(&file.to_string_lossy())));
    }
    Ok(exit::OK)
}
