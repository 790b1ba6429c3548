//! Cache of the protocol era of each server, so that it is probed once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use mcparley_model::config::{Era, ServerConfig};
use mcparley_model::signature::Signature;
use mcparley_wire::{AgreedProtocol, Failure};

/// The eras of servers, from connections of this process and from the catalog cache.
#[derive(Debug, Default)]
pub(super) struct EraCache(Mutex<HashMap<Signature, Era>>);

impl EraCache {
    /// The era to use: that of the entry, else the cached one, else `Auto` to probe.
    pub(super) fn era_for(&self, config: &ServerConfig) -> Era {
        match config.era {
            Era::Old | Era::New => config.era,
            Era::Auto => {
                let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                known.get(&Signature::from_config(config)).copied().unwrap_or(Era::Auto)
            }
        }
    }

    /// Adds the era that an earlier process found, unless one is cached already.
    pub(super) fn assume_era(&self, config: &ServerConfig, era: Era) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(Signature::from_config(config)).or_insert(era);
    }

    /// Whether connecting may have failed because the cached era is out of date.
    pub(super) fn may_have_changed(&self, config: &ServerConfig, tried: Era, failure: &Failure) -> bool {
        let was_remembered = match (config.era, tried) {
            (Era::Auto, Era::Old | Era::New) => self.era_for(config) == tried,
            (Era::Auto, Era::Auto) | (Era::Old | Era::New, _) => false,
        };
        was_remembered
            && match failure {
                Failure::Closed { .. }
                | Failure::Damaged(_)
                | Failure::Protocol(_)
                | Failure::ErrorResponse(_)
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

    /// Caches the era of a successful handshake. A failure clears it: the server may have been replaced.
    pub(super) fn record_era(&self, config: &ServerConfig, protocol: Option<AgreedProtocol>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match protocol {
            Some(AgreedProtocol::Old(_)) => known.insert(Signature::from_config(config), Era::Old),
            Some(AgreedProtocol::New) => known.insert(Signature::from_config(config), Era::New),
            None => known.remove(&Signature::from_config(config)),
        };
    }
}
