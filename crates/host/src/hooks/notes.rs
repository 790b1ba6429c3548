//! What hooks told the person, and what went wrong with them. Bounded; the newest is kept.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcparley_model::hook::Event;
use mcparley_model::limits::HOOK_NOTES;
use serde::Serialize;

/// Something a hook told the person, or something that went wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HookNote {
    /// The hook: its command, as people may see it.
    pub hook: String,
    /// What it was run for.
    pub event: Event,
    /// What there is to tell, clean.
    pub text: String,
    /// Whether something went wrong.
    pub is_trouble: bool,
}

#[derive(Debug, Default)]
pub(super) struct Notes(Mutex<VecDeque<HookNote>>);

impl Notes {
    pub(super) fn push(&self, note: HookNote) {
        let mut notes = self.notes();
        if notes.len() >= HOOK_NOTES {
            notes.pop_front();
        }
        notes.push_back(note);
    }

    /// The oldest first.
    pub(super) fn all(&self) -> Vec<HookNote> {
        self.notes().iter().cloned().collect()
    }

    fn notes(&self) -> MutexGuard<'_, VecDeque<HookNote>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
