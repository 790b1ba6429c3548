//! Decides whether the text of a result fits, and takes out what does not: stored if it can be, else cut.

use mcparley_model::text::{TRUNCATED, beginning};
use mcparley_model::tokens;

use super::note::{self, Found};
use super::outline::outline;
use super::{ResultBudget, Results, Stored};
use crate::call::{Block, Body, Outcome};

/// No character takes more.
const CHARACTER_BYTES: usize = 4;

/// A text that is too long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Excess {
    budget: ResultBudget,
    chars: usize,
}

/// What is too much of the outcome's text; nothing if it fits.
pub(super) fn excess(outcome: &Outcome, budget: ResultBudget) -> Option<Excess> {
    let words = || outcome.content.iter().flat_map(words);
    // Data that a text says too are left out only where it matters: comparing the two takes time.
    let structured = outcome.structured.as_ref().map(|structured| structured.as_str());
    if budget.holds_bytes(words().chain(structured).map(|text| text.len() + 1).sum()) {
        return None;
    }
    let unsaid = outcome.unsaid().map(|structured| structured.as_str());
    let (mut chars, mut all) = (0, 0);
    for text in words().chain(unsaid) {
        chars += chars_in(text);
        all += tokens::estimate(text);
    }
    (!budget.holds(chars, all)).then_some(Excess { budget, chars })
}

/// Whether nothing is too much. What is much too long is not counted for that.
pub(super) fn is_within(outcome: &Outcome, budget: ResultBudget) -> bool {
    let bytes: usize = outcome.content.iter().flat_map(words).map(str::len).sum();
    bytes <= budget.chars.saturating_mul(CHARACTER_BYTES) && excess(outcome, budget).is_none()
}

/// Everything of a block that is text.
fn words(block: &Block) -> impl Iterator<Item = &str> {
    let words: [Option<&str>; 4] = match block {
        Block::Text(text) | Block::Note(text) => [Some(text), None, None, None],
        Block::Resource { uri, body: Body::Text(text), .. } => [Some(uri), Some(text), None, None],
        Block::Resource { uri, body: Body::Blob(_), .. } => [Some(uri), None, None, None],
        Block::Link { uri, name, title, description, .. } => {
            [Some(uri), Some(name), title.as_deref(), description.as_deref()]
        }
        Block::Image { .. } | Block::Audio { .. } => [None; 4],
    };
    words.into_iter().flatten()
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

/// Keeps as much of the text, in its order, as there is room for, and says so. Images stay.
fn cut(mut outcome: Outcome, excess: Excess, because: &str) -> Outcome {
    let (mut budget, mut kept, mut is_full) = (excess.budget, 0, false);
    let blocks = std::mem::take(&mut outcome.content);
    for mut block in blocks {
        let left = words(&block).try_fold(budget, ResultBudget::without);
        match (left, &mut block) {
            (_, Block::Image { .. } | Block::Audio { .. }) => {}
            _ if is_full => continue,
            (Some(left), _) => budget = left,
            (
                None,
                Block::Text(text) | Block::Note(text) | Block::Resource { body: Body::Text(text), .. },
            ) => {
                is_full = true;
                text.truncate(end_within(text, budget));
                kept += chars_in(text);
                text.push_str(TRUNCATED);
                outcome.content.push(block);
                continue;
            }
            (None, Block::Link { .. } | Block::Resource { .. }) => {
                is_full = true;
                continue;
            }
        }
        kept += words(&block).map(chars_in).sum::<usize>();
        outcome.content.push(block);
    }
    if outcome.unsaid().is_some_and(|structured| is_full || budget.without(structured.as_str()).is_none()) {
        outcome.structured = None;
    }
    outcome.is_fitted = true;
    outcome.content.push(Block::Note(note::cut(kept, excess.chars, because)));
    outcome
}

/// Where a text that does not fit must end.
fn end_within(text: &str, budget: ResultBudget) -> usize {
    let by_tokens = tokens::beginning(text, budget.tokens);
    let by_chars = beginning(text, budget.chars.min(chars_in(by_tokens)));
    by_chars.map_or(text.len(), str::len)
}
