//! Reads the YAML between the `---` lines at the top of a markdown file.
//!
//! It becomes JSON that remembers where everything stood, so that entries of servers are read by the same reader as
//! everywhere else. Aliases and tags are refused: no server needs them, and a few lines of aliases can stand for more
//! than any memory holds.

mod yaml;

use crate::document::SyntaxError;
use crate::scope::{Place, Source};

/// JSON that was made from another text.
#[derive(Debug, Default)]
pub struct Translation {
    pub(crate) json: String,
    /// Where values and names stood, by their place in the JSON; ascending.
    pub(crate) places: Vec<(usize, Place)>,
}

/// The front matter of a markdown text; nothing when it has none.
///
/// # Errors
/// A [`SyntaxError`] with the place in the text where it stops being YAML, or is more than we read.
pub fn translate(source: &Source, text: &str) -> Result<Option<Translation>, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else { return Ok(None) };
    let mut length = 0;
    for line in lines {
        if is_fence(line) {
            let yaml = text.get(first.len()..first.len() + length).unwrap_or_default();
            return yaml::translate(source, yaml).map(Some);
        }
        length += line.len();
    }
    Err(SyntaxError {
        place: Place { line: 1, column: 1 },
        reason: "the front matter has no end: a line `---` is missing".to_owned(),
        source_text: source.clone(),
    })
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

#[cfg(test)]
mod tests;
