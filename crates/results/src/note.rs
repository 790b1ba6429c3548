//! Notes for the model in place of a result that was stored, cut or lost.

use std::fmt::Write as _;
use std::ops::Range;

use mcparley_json::RawJson;
use mcparley_model::limits::{READ_BYTES, STORED_NOTE_BYTES};
use mcparley_model::text::{TRUNCATED, display_line, truncated_prefix};
use mcparley_model::tool::READ_RESULT;

use crate::outcome::{CallOutcome, ContentBlock};
use crate::stored::StoredResult;

/// The number of characters shown from the start of a text that is not JSON.
const BEGINNING_CHARS: usize = 300;

/// The longest path that a note shows; longer ones are of no use to a model.
const PATH_BYTES: usize = 512;

/// Statistics and structure of a stored text, for the note about it.
#[derive(Clone, Debug, Default)]
pub(super) struct TextSummary {
    pub(super) chars: usize,
    pub(super) lines: usize,
    /// The length of the longest line in bytes.
    pub(super) longest: usize,
    /// The byte range of the JSON in the text.
    pub(super) json: Option<Range<u64>>,
    /// The outline of that JSON.
    pub(super) outline: Option<String>,
}

impl TextSummary {
    /// Counts characters and lines, without looking for JSON.
    pub(super) fn measure_text(text: &str) -> Self {
        let (mut lines, mut longest) = (0, 0);
        for line in text.split_inclusive('\n') {
            lines += 1;
            longest = longest.max(line.len());
        }
        Self { chars: count_chars(text), lines, longest, json: None, outline: None }
    }

    pub(super) fn mime(&self) -> &'static str {
        match &self.json {
            Some(json) if json.start == 0 => "application/json",
            Some(_) | None => "text/plain",
        }
    }
}

/// The note about a stored result: size, place, outline or beginning, and the way to read it. It has at most
/// [`STORED_NOTE_BYTES`]; the middle part is dropped first.
pub(super) fn stored_note(stored: &StoredResult, found: &TextSummary, text: &str) -> String {
    let head = note_head(stored, found);
    let tail = note_tail(stored, found);
    let room = STORED_NOTE_BYTES.saturating_sub(head.len() + tail.len());
    let middle = note_middle(found, text);
    let middle = if middle.len() <= room { middle } else { String::new() };
    [head, middle, tail].concat()
}

/// The first sentences of the note: the size of the result, its handle and its file.
fn note_head(stored: &StoredResult, found: &TextSummary) -> String {
    let TextSummary { chars, lines, .. } = found;
    let StoredResult { handle, path, bytes, .. } = stored;
    let mut out = format!(
        "This result is too long to be shown: {chars} characters in {lines} lines, {bytes} bytes. It is stored as `{handle}`"
    );
    let path = path.as_deref().map(|path| path.to_string_lossy().into_owned());
    if let Some(path) = path.filter(|path| path.len() <= PATH_BYTES) {
        // Writing to a `String` cannot fail.
        write!(out, " in the file {}", display_line(&path)).unwrap_or_default();
    }
    out.push_str(".\n");
    out
}

/// The middle of the note: the outline of JSON, or the beginning of other text.
fn note_middle(found: &TextSummary, text: &str) -> String {
    if let Some(outline) = &found.outline {
        let what = if found.mime() == "application/json" { "It is JSON" } else { "It ends with JSON" };
        return format!("{what}: {outline}\n");
    }
    let start = truncated_prefix(text, BEGINNING_CHARS).unwrap_or(text);
    format!("It begins:\n{}{TRUNCATED}\n", start.trim_end())
}

/// The end of the note: the arguments of `ReadResult`, and a warning not to guess the unread parts.
fn note_tail(stored: &StoredResult, found: &TextSummary) -> String {
    let (tool, handle) = (READ_RESULT, &stored.handle);
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
        "Do not summarize or draw conclusions from what you have not read. If you answer before you have read all of it, say \
         which parts you have read.",
    );
    out
}

/// The note about a text that was cut and could not be stored.
pub(super) fn cut_note(kept: usize, of: usize, because: &str) -> String {
    format!(
        "only the first {kept} of {of} characters of the text are shown; the rest is not available, because {because}"
    )
}

/// The outcome that replaces a result if its storing was interrupted.
pub(super) fn lost_outcome(raw: RawJson, is_error: bool) -> CallOutcome {
    let note = ContentBlock::Note(
        "the result is too long to be shown, and was lost while it was being stored".into(),
    );
    CallOutcome { content: vec![note], is_error, is_fitted: true, ..CallOutcome::from_raw(raw) }
}

/// The number of characters in a text.
pub(super) fn count_chars(text: &str) -> usize {
    text.chars().count()
}
