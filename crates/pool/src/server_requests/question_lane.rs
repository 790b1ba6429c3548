//! The question lane: keeps calls apart whose questions could not be told apart.
//!
//! A server of the old era on a shared channel does not say which call a question belongs to. So calls of
//! tools that ask, or that have never been called to the end, run for one principal at a time; the others
//! wait, each for a limited time. Calls of one principal whose questions must be told apart wait until those
//! before them have asked. A canceled call keeps its place for a while: the server may ask before it learns of
//! the cancellation. Tools that have finished without a question are quiet and never wait.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcparley_model::limits::{CANCELED_CALL_TIME, QUESTION_TIME, SIBLING_TIME, UNKNOWN_TOOL_TIME};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::principal::PrincipalId;

/// The lane of one server.
#[derive(Debug, Default)]
pub(super) struct QuestionLane {
    state: Mutex<LaneState>,
    /// Notified when the lane is free, and when more is known about a tool.
    changed: Notify,
}

#[derive(Debug, Default)]
struct LaneState {
    tools: HashMap<Box<str>, Arc<ToolQuestions>>,
    /// The principal whose calls are in the lane; `None` inside for the host's own calls.
    holder: Option<Option<PrincipalId>>,
    /// The number of calls in the lane.
    calls: usize,
    /// The number of calls in the lane that have not asked yet.
    unasked: usize,
    /// The times at which canceled calls leave the lane.
    leaving: Vec<Instant>,
}

/// Whether a tool asks questions, as far as its calls have shown it.
#[derive(Debug, Default)]
pub(super) struct ToolQuestions(AtomicU8);

/// No call has finished yet.
const UNKNOWN: u8 = 0;
/// A call has finished without a question, and none has asked.
const QUIET: u8 = 1;
/// A call has asked.
const ASKS: u8 = 2;

/// The place of a call in the lane, until it is dropped.
#[derive(Debug)]
pub struct LanePlace<'l> {
    lane: &'l QuestionLane,
    call: Arc<LaneCall>,
    /// The time at which the call leaves the lane, if it was canceled.
    until: Option<Instant>,
}

/// A call in the lane.
#[derive(Debug, Default)]
pub(super) struct LaneCall {
    has_asked: AtomicBool,
}

/// The caller of a tool, as far as the lane depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneCaller<'c> {
    /// The principal; `None` for the host itself.
    pub(super) principal: Option<&'c PrincipalId>,
    /// Whether the questions of its calls must be told apart: they come as results of the calls.
    pub(super) is_exact: bool,
}

impl QuestionLane {
    /// Whether a tool asks questions, as a record that its calls share.
    pub(super) fn questions_of(&self, tool: &str) -> Arc<ToolQuestions> {
        let mut state = self.lock_state();
        match state.tools.get(tool) {
            Some(questions) => Arc::clone(questions),
            None => Arc::clone(state.tools.entry(tool.into()).or_default()),
        }
    }

    /// Waits for a place in the lane; `None` if the call of this tool needs none, or has waited long enough.
    pub(super) async fn wait_for_place(&self, tool: &str, caller: LaneCaller<'_>) -> Option<LanePlace<'_>> {
        let (questions, begun) = (self.questions_of(tool), Instant::now());
        let mut own_since = None;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let questions = questions.0.load(Ordering::Relaxed);
            if questions == QUIET {
                return None;
            }
            let (now, is_asking) = (Instant::now(), questions == ASKS);
            let own_time = if is_asking { SIBLING_TIME } else { UNKNOWN_TOOL_TIME };
            let is_patient = own_since.is_none_or(|since: Instant| now < since + own_time);
            let (step, soonest) = self.try_enter(caller, is_patient);
            let latest = match step {
                LaneStep::Enter => {
                    return Some(LanePlace { lane: self, call: Arc::default(), until: None });
                }
                LaneStep::WaitForOwn => *own_since.get_or_insert(now) + own_time,
                LaneStep::WaitForOther => {
                    own_since = None;
                    begun + if is_asking { QUESTION_TIME } else { UNKNOWN_TOOL_TIME }
                }
            };
            if step == LaneStep::WaitForOther && now >= latest {
                return None;
            }
            // Whatever it was that happened, the next round finds out.
            let _changed = timeout_at(soonest.map_or(latest, |soonest| latest.min(soonest)), changed).await;
        }
    }

    /// Enters the lane if it is free, or already the principal's. Returns the time at which the next canceled
    /// call leaves it, too.
    fn try_enter(&self, caller: LaneCaller<'_>, is_patient: bool) -> (LaneStep, Option<Instant>) {
        let LaneCaller { principal, is_exact } = caller;
        let mut state = self.lock_state();
        state.remove_left();
        let soonest = state.leaving.iter().min().copied();
        if state.holder.as_ref().is_some_and(|holder| holder.as_ref() != principal) {
            return (LaneStep::WaitForOther, soonest);
        }
        if is_exact && is_patient && state.unasked > 0 {
            return (LaneStep::WaitForOwn, soonest);
        }
        state.holder = Some(principal.cloned());
        state.calls += 1;
        state.unasked += 1;
        (LaneStep::Enter, None)
    }

    /// Notes that a call in the lane has asked.
    pub(super) fn note_asked(&self, call: &LaneCall) {
        if !call.has_asked.swap(true, Ordering::Relaxed) {
            let mut state = self.lock_state();
            state.unasked = state.unasked.saturating_sub(1);
            drop(state);
            self.changed.notify_waiters();
        }
    }

    /// Learns that a tool asks.
    pub(super) fn learn_question(&self, questions: &ToolQuestions) {
        if questions.0.swap(ASKS, Ordering::Relaxed) != ASKS {
            self.changed.notify_waiters();
        }
    }

    /// Learns that a call has finished without a question. A tool that has asked stays so.
    pub(super) fn learn_quiet(&self, questions: &ToolQuestions) {
        let learned = questions.0.compare_exchange(UNKNOWN, QUIET, Ordering::Relaxed, Ordering::Relaxed);
        if learned.is_ok() {
            self.changed.notify_waiters();
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, LaneState> {
        // Every change is one step, so a panic leaves no partial change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolQuestions {
    /// Whether a call of the tool may ask, as far as is known.
    pub(super) fn may_ask(&self) -> bool {
        self.0.load(Ordering::Relaxed) != QUIET
    }

    /// The time for which a canceled call of the tool may still ask.
    pub(super) fn canceled_time(&self) -> Duration {
        match self.0.load(Ordering::Relaxed) {
            ASKS => CANCELED_CALL_TIME,
            _ => UNKNOWN_TOOL_TIME,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneStep {
    Enter,
    /// Another principal has the lane.
    WaitForOther,
    /// A call of the same principal may still ask.
    WaitForOwn,
}

impl LanePlace<'_> {
    /// The call in the lane.
    pub(super) fn call(&self) -> &Arc<LaneCall> {
        &self.call
    }

    /// Keeps the place until this time, although the call was canceled.
    pub(super) fn keep_until(&mut self, until: Instant) {
        self.until = Some(until);
    }
}

impl LaneState {
    /// Removes the canceled calls whose time is over.
    fn remove_left(&mut self) {
        let now = Instant::now();
        let before = self.leaving.len();
        self.leaving.retain(|until| *until > now);
        for _ in self.leaving.len()..before {
            self.remove_call();
        }
    }

    fn remove_call(&mut self) {
        self.calls = self.calls.saturating_sub(1);
        if self.calls == 0 {
            self.holder = None;
        }
    }
}

impl Drop for LanePlace<'_> {
    fn drop(&mut self) {
        self.lane.note_asked(&self.call);
        let mut state = self.lane.lock_state();
        match self.until {
            Some(until) => state.leaving.push(until),
            None => state.remove_call(),
        }
        drop(state);
        self.lane.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
