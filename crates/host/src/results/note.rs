//! What a model is told in place of a result that was stored, cut or lost.

use std::fmt::Write as _;
use std::ops::Range;

use mcparley_model::limits::{READ_BYTES, STORED_NOTE_BYTES};
use mcparley_model::text::{TRUNCATED, beginning, display};
use mcparley_wire::RawJson;

use super::Stored;
use super::spill::chars_in;
use crate::call::{Block, Outcome};
use crate::catalog::BuiltIn;

/// How much of a text that is no JSON is shown.
const BEGINNING_CHARS: usize = 300;

/// The longest path that is shown; longer ones are no use to a model.
const PATH_BYTES: usize = 512;

/// What is known of a text that is stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) chars: usize,
    pub(super) lines: usize,
    /// The longest of them, in bytes.
    pub(super) longest: usize,
    /// Where JSON stands in it.
    pub(super) json: Option<Range<u64>>,
    /// What it is made of.
    pub(super) outline: Option<String>,
}

impl Found {
    /// What can be counted.
    pub(super) fn measured(text: &str) -> Self {
        let (mut lines, mut longest) = (0, 0);
        for line in text.split_inclusive('\n') {
            lines += 1;
            longest = longest.max(line.len());
        }
        Self { chars: chars_in(text), lines, longest, json: None, outline: None }
    }

    pub(super) fn mime(&self) -> &'static str {
        match &self.json {
            Some(json) if json.start == 0 => "application/json",
            Some(_) | None => "text/plain",
        }
    }
}

/// What a model is told of a result that was stored; never more than [`STORED_NOTE_BYTES`].
pub(super) fn stored(stored: &Stored, found: &Found, text: &str) -> String {
    let head = head(stored, found);
    let tail = tail(stored, found);
    let room = STORED_NOTE_BYTES.saturating_sub(head.len() + tail.len());
    let middle = middle(found, text);
    let middle = if middle.len() <= room { middle } else { String::new() };
    [head, middle, tail].concat()
}

fn head(stored: &Stored, found: &Found) -> String {
    let Found { chars, lines, .. } = found;
    let Stored { handle, path, bytes, .. } = stored;
    let mut out = format!(
        "This result is too long to be shown: {chars} characters in {lines} lines, {bytes} bytes. It is stored as `{handle}`"
    );
    let path = path.as_deref().map(|path| path.to_string_lossy().into_owned());
    if let Some(path) = path.filter(|path| path.len() <= PATH_BYTES) {
        // Writing to a `String` cannot fail.
        write!(out, " in the file {}", display(&path)).unwrap_or_default();
    }
    out.push_str(".\n");
    out
}

/// What it is made of, or how it begins.
fn middle(found: &Found, text: &str) -> String {
    if let Some(outline) = &found.outline {
        let what = if found.mime() == "application/json" { "It is JSON" } else { "It ends with JSON" };
        return format!("{what}: {outline}\n");
    }
    let start = beginning(text, BEGINNING_CHARS).unwrap_or(text);
    format!("It begins:\n{}{TRUNCATED}\n", start.trim_end())
}

fn tail(stored: &Stored, found: &Found) -> String {
    let (tool, handle) = (BuiltIn::ReadResult.as_str(), &stored.handle);
    let mut out = format!(
        "To read it, call {tool} with {{\"handle\": \"{handle}\"}} and: `offset` and `limit` for some of its lines (or bytes, with \
         `\"unit\": \"bytes\"`); `grep` for the lines that match a regular expression"
    );
    if found.json.is_some() {
        out.push_str("; `pointer` for the value at a JSON pointer such as `/items/0`");
    }
    out.push_str(".\n");
    if found.longest > READ_BYTES {
        out.push_str("It has a line too long to be read at once: read that by bytes.\n");
    }
    out.push_str(
        "Do not summarise or draw conclusions from what you have not read. If you answer before you have read all of it, say \
         which parts you have read.",
    );
    out
}

/// What a model is told of a text that was cut.
pub(super) fn cut(kept: usize, of: usize, because: &str) -> String {
    format!(
        "only the first {kept} of {of} characters of the text are shown; the rest is not available, because {because}"
    )
}

/// What is left of a result when storing it came to nothing.
pub(super) fn lost(raw: RawJson, is_error: bool) -> Outcome {
    let note =
        Block::Note("the result is too long to be shown, and was lost while it was being stored".into());
    Outcome { content: vec![note], is_error, is_fitted: true, ..Outcome::of(raw) }
}
