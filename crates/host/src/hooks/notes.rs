//! Messages of hooks for the user, and failures of hooks. Bounded; the oldest are dropped.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcparley_model::hook::HookEvent;
use mcparley_model::limits::HOOK_NOTES;
use serde::Serialize;

/// A message of a hook for the user, or a failure of a hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HookNote {
    /// The hook: its command, masked for display.
    pub hook: String,
    /// The event that the hook was run for.
    pub event: HookEvent,
    /// The sanitized text of the message.
    pub text: String,
    /// Whether the hook failed.
    pub is_trouble: bool,
}

/// The notes of a host, bounded.
#[derive(Debug, Default)]
pub(super) struct HookNotes(Mutex<VecDeque<HookNote>>);

impl HookNotes {
    pub(super) fn push_note(&self, note: HookNote) {
        let mut notes = self.lock_notes();
        if notes.len() >= HOOK_NOTES {
            notes.pop_front();
        }
        notes.push_back(note);
    }

    /// All notes, the oldest first.
    pub(super) fn to_vec(&self) -> Vec<HookNote> {
        self.lock_notes().iter().cloned().collect()
    }

    fn lock_notes(&self) -> MutexGuard<'_, VecDeque<HookNote>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
