//! Remembers which era each server speaks, so that it is found out once (T9).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use mcparley_model::config::{Era, ServerConfig};
use mcparley_model::signature::Signature;
use mcparley_wire::{Failure, Spoken};

/// The eras of the servers that were reached before, by this process or as the cache tells.
#[derive(Debug, Default)]
pub(super) struct Eras(Mutex<HashMap<Signature, Era>>);

impl Eras {
    /// The era to speak: what the entry says, else what is remembered, else it is to be found out.
    pub(super) fn of(&self, config: &ServerConfig) -> Era {
        match config.era {
            Era::Old | Era::New => config.era,
            Era::Auto => {
                let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                known.get(&Signature::of(config)).copied().unwrap_or(Era::Auto)
            }
        }
    }

    /// Takes over what an earlier process found out.
    pub(super) fn assume(&self, config: &ServerConfig, era: Era) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(Signature::of(config)).or_insert(era);
    }

    /// Whether connecting may have failed because the server no longer speaks the era that was remembered.
    pub(super) fn may_have_changed(&self, config: &ServerConfig, tried: Era, failure: &Failure) -> bool {
        let was_remembered = match (config.era, tried) {
            (Era::Auto, Era::Old | Era::New) => self.of(config) == tried,
            (Era::Auto, Era::Auto) | (Era::Old | Era::New, _) => false,
        };
        was_remembered
            && match failure {
                Failure::Closed { .. }
                | Failure::Damaged(_)
                | Failure::Protocol(_)
                | Failure::Answered(_)
                | Failure::SessionExpired
                | Failure::Status { .. } => true,
                Failure::Refused { .. }
                | Failure::TimedOut { .. }
                | Failure::TooLarge { .. }
                | Failure::Unauthorized { .. }
                | Failure::Forbidden { .. }
                | Failure::QueueFull { .. } => false,
            }
    }

    /// Remembers what was spoken. After a failure it is found out anew: the server may have been replaced.
    pub(super) fn learn(&self, config: &ServerConfig, spoken: Option<Spoken>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match spoken {
            Some(Spoken::Old(_)) => known.insert(Signature::of(config), Era::Old),
            Some(Spoken::New) => known.insert(Signature::of(config), Era::New),
            None => known.remove(&Signature::of(config)),
        };
    }
}
