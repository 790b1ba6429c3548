//! Warnings about an entry that was just written: secrets in shared files, names that Claude Code skips.

use mcparley::config::change::{AddedServer, GitExclusion, SecretExposure};
use mcparley::model::text::display_line;

use crate::out::TerminalOutput;

/// A warning with its hint.
pub(in crate::commands) struct AdditionWarning {
    pub(in crate::commands) text: String,
    hint: Option<String>,
}

/// Prints the warnings about an entry.
pub(in crate::commands) fn print_warnings(added: &AddedServer, out: &mut TerminalOutput) {
    for warning in addition_warnings(added) {
        out.warn(&warning.text);
        if let Some(hint) = &warning.hint {
            out.hint(hint);
        }
    }
}

/// The warnings about an entry.
pub(in crate::commands) fn addition_warnings(added: &AddedServer) -> Vec<AdditionWarning> {
    let mut warnings: Vec<AdditionWarning> =
        added.exposure.iter().map(|exposure| exposure_warning(added, exposure)).collect();
    if added.is_reserved_by_claude_code {
        warnings.push(AdditionWarning {
            text: format!("Claude Code reserves the name `{}` and skips this entry", added.name),
            hint: Some("use another name if Claude Code should use the server too".to_owned()),
        });
    }
    warnings
}

fn exposure_warning(added: &AddedServer, exposure: &SecretExposure) -> AdditionWarning {
    let fields = exposure.fields.iter().map(|field| display_line(field)).collect::<Vec<_>>().join("`, `");
    let file = display_line(&added.file.to_string_lossy()).into_owned();
    let consequence = match &exposure.exclusion {
        None => "a file in the repository".to_owned(),
        Some(GitExclusion::Added(exclude) | GitExclusion::Present(exclude)) => {
            format!("a file of the project that git ignores ({})", display_line(&exclude.to_string_lossy()))
        }
        Some(GitExclusion::Tracked) => "a file that git tracks".to_owned(),
        Some(GitExclusion::Failed { file, reason }) => format!(
            "a file of the project, and {} cannot be changed: {reason}",
            display_line(&file.to_string_lossy())
        ),
        Some(_) => "a file of the project".to_owned(),
    };
    AdditionWarning {
        text: format!("`{fields}` is stored in plain text in {file}, {consequence}"),
        hint: Some(
            "use `${NAME}` instead and set that variable, or store the server outside of the project with \
             `-s local`"
                .to_owned(),
        ),
    }
}
