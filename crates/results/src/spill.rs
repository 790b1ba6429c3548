//! Checks the text of a result against its budget; text over the budget is stored, or cut if it cannot be
//! stored.

use crate::token_estimate;
use mcparley_model::text::{TRUNCATED, truncated_prefix};

use crate::budget::ResultBudget;
use crate::note::{self, TextSummary, count_chars};
use crate::outcome::{CallOutcome, ContentBlock, ResourceBody};
use crate::outline::outline_json;
use crate::stored::{StoredResult, StoredResults};

/// The maximum length of a UTF-8 character.
const CHARACTER_BYTES: usize = 4;

/// The size of a text over its budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextExcess {
    budget: ResultBudget,
    chars: usize,
}

/// Measures the outcome's text; `None` if it fits.
pub(super) fn measure_excess(outcome: &CallOutcome, budget: ResultBudget) -> Option<TextExcess> {
    let words = || outcome.content.iter().flat_map(block_texts);
    // The comparison of structured content with the text takes time, so it happens only if the total may not
    // fit.
    let structured = outcome.structured.as_ref().map(|structured| structured.as_str());
    if budget.can_hold_bytes(words().chain(structured).map(|text| text.len() + 1).sum()) {
        return None;
    }
    let unsaid = outcome.unrepeated_structured().map(|structured| structured.as_str());
    let (mut chars, mut all) = (0, 0);
    for text in words().chain(unsaid) {
        chars += count_chars(text);
        all += token_estimate::estimate_tokens(text);
    }
    (!budget.can_hold(chars, all)).then_some(TextExcess { budget, chars })
}

/// Whether the outcome fits. A text that is far too long is rejected by its bytes, without counting.
pub(super) fn is_within_budget(outcome: &CallOutcome, budget: ResultBudget) -> bool {
    let bytes: usize = outcome.content.iter().flat_map(block_texts).map(str::len).sum();
    bytes <= budget.chars.saturating_mul(CHARACTER_BYTES) && measure_excess(outcome, budget).is_none()
}

/// The text fields of a block.
fn block_texts(block: &ContentBlock) -> impl Iterator<Item = &str> {
    let words: [Option<&str>; 4] = match block {
        ContentBlock::Text(text) | ContentBlock::Note(text) => [Some(text), None, None, None],
        ContentBlock::Resource { uri, body: ResourceBody::Text(text), .. } => {
            [Some(uri), Some(text), None, None]
        }
        ContentBlock::Resource { uri, body: ResourceBody::Blob(_), .. } => [Some(uri), None, None, None],
        ContentBlock::Link { uri, name, title, description, .. } => {
            [Some(uri), Some(name), title.as_deref(), description.as_deref()]
        }
        ContentBlock::Image { .. } | ContentBlock::Audio { .. } => [None; 4],
    };
    words.into_iter().flatten()
}

impl StoredResults {
    /// Stores an outcome's text and replaces it by a note, or cuts the text. Blocks: call it on a blocking
    /// thread.
    pub(super) fn spill_text(&self, outcome: CallOutcome, excess: TextExcess, origin: &str) -> CallOutcome {
        if outcome.content.iter().any(|block| matches!(block, ContentBlock::Image { .. })) {
            return cut_outcome(outcome, excess, "it came with images");
        }
        let structured = outcome.unrepeated_structured().map(|structured| structured.as_str().len());
        let (is_error, raw) = (outcome.is_error, outcome.raw.clone());
        let stored = outcome.stored.clone();
        let text = outcome.into_text();
        let found = TextSummary::from_text(&text, structured);
        match self.store_text(&text, found.json.clone(), origin) {
            Ok((handle, path)) => {
                let mime = found.mime().to_owned();
                let new = StoredResult { handle, path, mime, bytes: text.len() as u64 };
                let content = vec![ContentBlock::Text(note::stored_note(&new, &found, &text))];
                let stored = stored.into_iter().chain([new]).collect();
                CallOutcome { content, is_error, is_fitted: true, stored, ..CallOutcome::from_raw(raw) }
            }
            Err(error) => {
                let content = vec![ContentBlock::Text(text)];
                let outcome = CallOutcome { content, is_error, stored, ..CallOutcome::from_raw(raw) };
                cut_outcome(outcome, excess, &format!("it could not be stored: {error}"))
            }
        }
    }
}

impl TextSummary {
    /// Summarizes a text. Its last `structured` bytes are the structured content, if there is any.
    fn from_text(text: &str, structured: Option<usize>) -> Self {
        let start = structured.map_or(0, |length| text.len().saturating_sub(length));
        let outline = text.get(start..).and_then(outline_json);
        let json = outline.as_ref().map(|_| start as u64..text.len() as u64);
        Self { json, outline, ..Self::measure_text(text) }
    }
}

/// Cuts the text to the budget, block by block, and adds a note with the reason. Images stay.
fn cut_outcome(mut outcome: CallOutcome, excess: TextExcess, because: &str) -> CallOutcome {
    let (mut budget, mut kept, mut is_full) = (excess.budget, 0, false);
    let blocks = std::mem::take(&mut outcome.content);
    for mut block in blocks {
        let left = block_texts(&block).try_fold(budget, ResultBudget::remaining_after);
        match (left, &mut block) {
            (_, ContentBlock::Image { .. } | ContentBlock::Audio { .. }) => {}
            _ if is_full => continue,
            (Some(left), _) => budget = left,
            (
                None,
                ContentBlock::Text(text)
                | ContentBlock::Note(text)
                | ContentBlock::Resource { body: ResourceBody::Text(text), .. },
            ) => {
                is_full = true;
                text.truncate(cut_position(text, budget));
                kept += count_chars(text);
                text.push_str(TRUNCATED);
                outcome.content.push(block);
                continue;
            }
            (None, ContentBlock::Link { .. } | ContentBlock::Resource { .. }) => {
                is_full = true;
                continue;
            }
        }
        kept += block_texts(&block).map(count_chars).sum::<usize>();
        outcome.content.push(block);
    }
    if outcome
        .unrepeated_structured()
        .is_some_and(|structured| is_full || budget.remaining_after(structured.as_str()).is_none())
    {
        outcome.structured = None;
    }
    outcome.is_fitted = true;
    outcome.content.push(ContentBlock::Note(note::cut_note(kept, excess.chars, because)));
    outcome
}

/// The byte position at which a text over the budget is cut.
fn cut_position(text: &str, budget: ResultBudget) -> usize {
    let by_tokens = token_estimate::prefix_within(text, budget.tokens);
    let by_chars = truncated_prefix(text, budget.chars.min(count_chars(by_tokens)));
    by_chars.map_or(text.len(), str::len)
}
