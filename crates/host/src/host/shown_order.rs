//! The order in which prompts and instructions were shown: later answers keep these names and positions.

use mcparley_model::name::{PublicNames, ServerName};

use super::{Host, lock_ignoring_poison};

/// The names and positions that were shown to a model.
#[derive(Debug, Default)]
pub(crate) struct ShownOrder {
    /// The command names of prompts.
    pub(crate) prompts: PublicNames,
    /// The order of the servers' instructions.
    pub(crate) instructions: Vec<ServerName>,
}

impl ShownOrder {
    /// An empty order; the prompts of `bare` servers have no prefix.
    pub(super) fn new(bare: &[ServerName]) -> Self {
        Self { prompts: PublicNames::default().with_bare_servers(bare.iter().cloned()), ..Self::default() }
    }
}

impl Host {
    /// Reads or updates the shown order, under its lock.
    pub(crate) fn with_shown_order<T>(&self, with: impl FnOnce(&mut ShownOrder) -> T) -> T {
        with(&mut lock_ignoring_poison(&self.inner.shown_order))
    }
}
