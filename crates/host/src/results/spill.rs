//! Decides whether the text of a result fits, and takes out what does not: stored if it can be, else cut.

use mcparley_model::text::{TRUNCATED, beginning};
use mcparley_model::tokens;

use super::note::{self, Found};
use super::outline::outline;
use super::{Results, Room, Stored};
use crate::call::{Block, Body, Outcome};

/// A text that is too long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Excess {
    room: Room,
    chars: usize,
}

/// What is too much of the outcome's text; nothing if it fits.
pub(super) fn excess(outcome: &Outcome, room: Room) -> Option<Excess> {
    // Two data that say the same are told apart only where it matters.
    let pieces = || texts(outcome).chain(outcome.structured.as_ref().map(|structured| structured.as_str()));
    if room.holds_bytes(pieces().map(|text| text.len() + 1).sum()) {
        return None;
    }
    let unsaid = outcome.unsaid().map(|structured| structured.as_str());
    let (mut chars, mut all) = (0, 0);
    for text in texts(outcome).chain(unsaid) {
        chars += chars_in(text);
        all += tokens::estimate(text);
    }
    (!room.holds(chars, all)).then_some(Excess { room, chars })
}

/// The texts of the blocks that have one.
fn texts(outcome: &Outcome) -> impl Iterator<Item = &str> {
    outcome.content.iter().filter_map(text_of)
}

fn text_of(block: &Block) -> Option<&str> {
    match block {
        Block::Text(text) | Block::Note(text) | Block::Resource { body: Body::Text(text), .. } => Some(text),
        Block::Link { description, .. } => description.as_deref(),
        Block::Image { .. } | Block::Audio { .. } | Block::Resource { .. } => None,
    }
}

/// How many characters the text has.
pub(super) fn chars_in(text: &str) -> usize {
    text.chars().count()
}

impl Results {
    /// Takes out what is too much. Needs a thread that may block.
    pub(super) fn spill(&self, outcome: Outcome, excess: Excess, origin: &str) -> Outcome {
        if outcome.content.iter().any(|block| matches!(block, Block::Image { .. })) {
            return cut(outcome, excess, "it came with images");
        }
        let structured = outcome.unsaid().map(|structured| structured.as_str().len());
        let (is_error, raw) = (outcome.is_error, outcome.raw.clone());
        let stored = outcome.stored.clone();
        let text = outcome.into_text();
        let found = Found::in_text(&text, structured);
        match self.keep(&text, found.json.clone(), origin) {
            Ok((handle, path)) => {
                let mime = found.mime().to_owned();
                let new = Stored { handle, path, mime, bytes: text.len() as u64 };
                let content = vec![Block::Text(note::stored(&new, &found, &text))];
                let stored = stored.into_iter().chain([new]).collect();
                Outcome { content, is_error, is_fitted: true, stored, ..Outcome::of(raw) }
            }
            Err(error) => {
                let content = vec![Block::Text(text)];
                let outcome = Outcome { content, is_error, stored, ..Outcome::of(raw) };
                cut(outcome, excess, &format!("it could not be stored: {error}"))
            }
        }
    }
}

impl Found {
    /// What the text is; if so, with data of so many bytes at its end.
    fn in_text(text: &str, structured: Option<usize>) -> Self {
        let start = structured.map_or(0, |length| text.len().saturating_sub(length));
        let outline = text.get(start..).and_then(outline);
        let json = outline.as_ref().map(|_| start as u64..text.len() as u64);
        Self { json, outline, ..Self::measured(text) }
    }
}

/// Keeps as much of the texts, in their order, as there is room for, and says so.
fn cut(mut outcome: Outcome, excess: Excess, because: &str) -> Outcome {
    let mut room = excess.room;
    let mut kept = 0;
    for block in &mut outcome.content {
        let (Block::Text(text) | Block::Resource { body: Body::Text(text), .. }) = block else { continue };
        let left = room.without(text);
        if let Some(end) = end_within(text, room) {
            text.truncate(end);
            kept += chars_in(text);
            text.push_str(TRUNCATED);
        } else {
            kept += chars_in(text);
        }
        room = left;
    }
    if outcome.unsaid().is_some_and(|structured| end_within(structured.as_str(), room).is_some()) {
        outcome.structured = None;
    }
    outcome.is_fitted = true;
    outcome.content.push(Block::Note(note::cut(kept, excess.chars, because)));
    outcome
}

/// Where a text must end to fit; nothing if it does.
fn end_within(text: &str, room: Room) -> Option<usize> {
    let by_tokens = tokens::beginning(text, room.tokens);
    let by_chars = beginning(text, room.chars.min(chars_in(by_tokens)));
    by_chars.map(str::len)
}
