//! What a person should know about an entry that was just written: secrets others may see, names others skip.

use mcparley::change::{Added, Exclusion, Exposure};
use mcparley::model::text::display;

use crate::out::Out;

/// One warning, and what to do about it.
pub(in crate::commands) struct Warning {
    pub(in crate::commands) text: String,
    hint: Option<String>,
}

/// Prints the warnings about an entry.
pub(in crate::commands) fn tell(added: &Added, out: &mut Out) {
    for warning in of(added) {
        out.warn(&warning.text);
        if let Some(hint) = &warning.hint {
            out.hint(hint);
        }
    }
}

/// The warnings about an entry.
pub(in crate::commands) fn of(added: &Added) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = added.exposure.iter().map(|exposure| exposed(added, exposure)).collect();
    if added.is_reserved_by_claude_code {
        warnings.push(Warning {
            text: format!("Claude Code reserves the name `{}` and skips this entry", added.name),
            hint: Some("choose another name if Claude Code is to use the server too".to_owned()),
        });
    }
    warnings
}

fn exposed(added: &Added, exposure: &Exposure) -> Warning {
    let fields = exposure.fields.iter().map(|field| display(field)).collect::<Vec<_>>().join("`, `");
    let file = display(&added.file.to_string_lossy()).into_owned();
    let consequence = match &exposure.exclusion {
        None => "a file that is shared with the repository".to_owned(),
        Some(Exclusion::Added(exclude) | Exclusion::Present(exclude)) => {
            format!("a file of the project; git leaves it out ({})", display(&exclude.to_string_lossy()))
        }
        Some(Exclusion::Tracked) => "a file that git tracks".to_owned(),
        Some(Exclusion::Failed { file, reason }) => format!(
            "a file of the project, and {} cannot be changed: {reason}",
            display(&file.to_string_lossy())
        ),
        Some(_) => "a file of the project".to_owned(),
    };
    Warning {
        text: format!("`{fields}` is written out in {file}, {consequence}"),
        hint: Some(
            "write `${NAME}` in its place and set that variable, or keep the server out of the project's folder with \
             `-s local`"
                .to_owned(),
        ),
    }
}
