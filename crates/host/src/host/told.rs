//! What has been shown of prompts and instructions: names and places that later answers keep (N11).

use mcparley_model::name::{Names, ServerName};

use super::{Host, locked};
use crate::instruction::Order;

/// What has been shown.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The commands that prompts have.
    pub(crate) prompts: Names,
    /// The order of the servers' instructions.
    pub(crate) instructed: Order,
}

impl Told {
    /// Nothing yet; the prompts of `bare` servers have no prefix (N3).
    pub(super) fn new(bare: &[ServerName]) -> Self {
        Self { prompts: Names::default().with_bare(bare.iter().cloned()), ..Self::default() }
    }
}

impl Host {
    /// Does something with what has been shown.
    pub(crate) fn told<T>(&self, with: impl FnOnce(&mut Told) -> T) -> T {
        with(&mut locked(&self.inner.told))
    }
}
