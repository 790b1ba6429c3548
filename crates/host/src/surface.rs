//! What one server offers now: one value, fetched whole and replaced whole (L11).
//!
//! The lists are asked for at the same time, each with all its pages, and only where the server says it has
//! them. What goes wrong with one list or one entry stays with it: the rest is kept and the reason noted.

mod pages;

use std::collections::HashSet;
use std::time::Duration;

use mcparley_model::limits::{LIST_ITEMS, LIST_PAGES, LIST_TIME};
use mcparley_model::tool::{Fault, Tool, Withheld};
use mcparley_wire::{Failure, RawJson, Session};

pub use pages::Cut;

/// What one server offers.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// The tools that can be offered, in the server's order.
    pub tools: Vec<Tool>,
    /// The tools that cannot, each with its reason.
    pub withheld: Vec<Withheld>,
    /// The prompts, as the server lists them.
    pub prompts: Vec<RawJson>,
    /// The resources, as the server lists them.
    pub resources: Vec<RawJson>,
    /// Lists that are not whole, and why.
    pub gaps: Vec<Gap>,
}

/// A list that is not whole.
#[derive(Clone, Debug)]
pub struct Gap {
    /// The method that asks for it.
    pub method: &'static str,
    /// Why.
    pub why: Why,
}

/// Why a list is not whole.
#[derive(Clone, Debug)]
pub enum Why {
    /// The request failed; what came before is kept.
    Failed(Failure),
    /// The server would have gone on for ever.
    Cut(Cut),
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.why {
            Why::Failed(failure) => write!(f, "`{}`: {failure}", self.method),
            Why::Cut(cut) => write!(f, "`{}`: {cut}", self.method),
        }
    }
}

impl Surface {
    /// Asks a server for everything it offers.
    pub async fn fetch(session: &Session) -> Self {
        let limit = Limits { pages: LIST_PAGES, items: LIST_ITEMS, time: LIST_TIME };
        let (tools, prompts, resources) = tokio::join!(
            pages::fetch(session, "tools", "tools/list", limit),
            pages::fetch(session, "prompts", "prompts/list", limit),
            pages::fetch(session, "resources", "resources/list", limit),
        );
        let mut surface = Self { prompts: prompts.items, resources: resources.items, ..Self::default() };
        surface.gaps.extend([tools.gap, prompts.gap, resources.gap].into_iter().flatten());
        surface.take_tools(&tools.items);
        surface
    }

    /// Sorts the tools into those that can be offered and those that cannot.
    fn take_tools(&mut self, entries: &[RawJson]) {
        let mut names = HashSet::new();
        for entry in entries {
            let read = entry
                .as_raw_value()
                .map_or_else(|| Err(Withheld { name: String::new(), fault: Fault::NotAnObject }), Tool::read);
            match read {
                Ok(tool) if names.insert(tool.name.clone()) => self.tools.push(tool),
                Ok(tool) => {
                    let name = tool.name.as_str().to_owned();
                    self.withheld.push(Withheld { name, fault: Fault::Twice });
                }
                Err(withheld) => self.withheld.push(withheld),
            }
        }
    }
}

/// How much of one list is taken.
#[derive(Clone, Copy, Debug)]
struct Limits {
    pages: usize,
    items: usize,
    time: Duration,
}
