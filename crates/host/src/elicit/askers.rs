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

/// How many there are of each. Few persons share a server at one time.
#[derive(Debug, Default)]
struct Calls {
    of_host: usize,
    of_persons: Vec<(Person, usize)>,
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
    /// The number of the person it is made for.
    person: Option<u64>,
}

impl Askers {
    pub(super) fn begin(&self, person: Option<&Person>) -> InFlight<'_> {
        let mut calls = self.locked();
        match person {
            None => calls.of_host += 1,
            Some(person) => {
                match calls.of_persons.iter_mut().find(|(known, _)| known.number == person.number) {
                    Some((_, count)) => *count += 1,
                    None => calls.of_persons.push((person.clone(), 1)),
                }
            }
        }
        InFlight { askers: self, person: person.map(|person| person.number) }
    }

    pub(super) fn whom(&self) -> Whom {
        let calls = self.locked();
        match (calls.of_host, calls.of_persons.as_slice()) {
            (_, []) => Whom::Host,
            (0, [(person, _)]) => Whom::Person(Arc::clone(&person.elicitor)),
            (_, _) => Whom::Unclear,
        }
    }

    fn locked(&self) -> MutexGuard<'_, Calls> {
        // Every change is one step, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let mut calls = self.askers.locked();
        let Some(number) = self.person else {
            calls.of_host = calls.of_host.saturating_sub(1);
            return;
        };
        if let Some((_, count)) = calls.of_persons.iter_mut().find(|(known, _)| known.number == number) {
            *count = count.saturating_sub(1);
        }
        calls.of_persons.retain(|(_, count)| *count > 0);
    }
}

#[cfg(test)]
mod tests;
