//! Whose call a server's question belongs to (G3).
//!
//! A server that asks unasked, as servers of the old era do, does not say for which call. As long as all of its calls in
//! flight are of one person, it can only be theirs; when they are not, nobody is asked, because the wrong one might answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Elicitor;
use crate::call::Person;

/// The calls of one server that are in flight, by whom they are made.
#[derive(Debug, Default)]
pub(super) struct Askers(Mutex<Calls>);

#[derive(Debug, Default)]
struct Calls {
    next: u64,
    open: Vec<(u64, Option<Person>)>,
}

/// Who is to be asked.
pub(super) enum Whom {
    /// Whoever the host asks.
    Host,
    /// The person behind the calls in flight.
    Person(Arc<dyn Elicitor>),
    /// It could be one of several.
    Unclear,
}

/// A call in flight, for as long as this lives.
#[derive(Debug)]
pub(crate) struct InFlight<'d> {
    askers: &'d Askers,
    number: u64,
}

impl Askers {
    pub(super) fn begin(&self, person: Option<Person>) -> InFlight<'_> {
        let mut calls = self.locked();
        let number = calls.next;
        calls.next += 1;
        calls.open.push((number, person));
        InFlight { askers: self, number }
    }

    pub(super) fn whom(&self) -> Whom {
        let calls = self.locked();
        let number = |person: &Option<Person>| person.as_ref().map(|person| person.number);
        let Some((_, newest)) = calls.open.last() else { return Whom::Host };
        if calls.open.iter().any(|(_, person)| number(person) != number(newest)) {
            return Whom::Unclear;
        }
        newest.as_ref().map_or(Whom::Host, |person| Whom::Person(Arc::clone(&person.elicitor)))
    }

    fn locked(&self) -> MutexGuard<'_, Calls> {
        // Every change is one step, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.askers.locked().open.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests;
