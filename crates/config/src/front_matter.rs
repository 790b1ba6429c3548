//! Parses YAML front matter: the part between the `---` lines at the top of a markdown file.
//!
//! It is translated to JSON with the original positions, so that server entries go through the same parser
//! as everywhere else. Aliases and tags are refused: servers do not need them, and a few lines of aliases
//! can expand to more text than memory holds.

mod yaml;

use mcparley_model::document::{SyntaxError, TranslatedJson};
use mcparley_model::scope::{Source, TextPosition};

/// Translates the front matter of a markdown text to JSON; `None` if there is no front matter.
///
/// # Errors
/// A [`SyntaxError`] with the position where the text stops being YAML, or exceeds a limit.
pub fn translate_front_matter(source: &Source, text: &str) -> Result<Option<TranslatedJson>, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else { return Ok(None) };
    let mut length = 0;
    for line in lines {
        if is_fence(line) {
            let yaml = text.get(first.len()..first.len() + length).unwrap_or_default();
            return yaml::translate_yaml(source, yaml).map(Some);
        }
        length += line.len();
    }
    Err(SyntaxError {
        place: TextPosition { line: 1, column: 1 },
        reason: "the front matter is not closed: a line `---` is missing".to_owned(),
        source_text: source.clone(),
    })
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

#[cfg(test)]
mod tests;
