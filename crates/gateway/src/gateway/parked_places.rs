//! The places for parked calls of all clients of a gateway.

use std::sync::Arc;

use mcparley::model::limits::PARKED_CALLS_IN_ALL;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places for parked calls of all clients of a gateway. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ParkedPlaces(Arc<Semaphore>);

/// The place of one parked call, until it is dropped.
#[derive(Debug)]
pub(crate) struct ParkedPlace {
    _permit: OwnedSemaphorePermit,
}

impl Default for ParkedPlaces {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(PARKED_CALLS_IN_ALL)))
    }
}

impl ParkedPlaces {
    /// Takes a place; `None` if all are taken.
    pub(crate) fn take_place(&self) -> Option<ParkedPlace> {
        Arc::clone(&self.0).try_acquire_owned().ok().map(|permit| ParkedPlace { _permit: permit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G3
    #[test]
    fn places_of_parked_calls_are_limited_and_given_back() {
        let places = ParkedPlaces::default();
        let taken: Vec<_> = std::iter::from_fn(|| places.take_place()).collect();
        assert_eq!(taken.len(), PARKED_CALLS_IN_ALL);
        drop(taken);
        assert!(places.take_place().is_some());
    }
}
