//! What one server offers now: one value, fetched whole and replaced whole (L11).
//!
//! The lists are asked for at the same time, each with all its pages, and only where the server says it has
//! them. What goes wrong with one list or one entry stays with it: the rest is kept and the reason noted.

mod pages;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{LIST_ITEMS, LIST_PAGES, LIST_TIME};
use mcparley_model::text::Untrusted;
use mcparley_model::tool::{Fault, Tool, Withheld};
use mcparley_wire::{Failure, METHOD_NOT_FOUND, RawJson, Session};

use crate::{prompt, skill};
pub use pages::Cut;
use pages::{Asked, List};

const TOOLS: Asked = Asked { capability: "tools", method: "tools/list", member: "tools" };
const PROMPTS: Asked = Asked { capability: "prompts", method: "prompts/list", member: "prompts" };
const RESOURCES: Asked = Asked { capability: "resources", method: "resources/list", member: "resources" };
const TEMPLATES: Asked =
    Asked { capability: "resources", method: "resources/templates/list", member: "resourceTemplates" };
const SKILLS: Asked =
    Asked { capability: "io.modelcontextprotocol/skills", method: "skills/list", member: "skills" };

/// Some of a server's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lists(u8);

impl Lists {
    pub(crate) const TOOLS: Self = Self(1);
    pub(crate) const PROMPTS: Self = Self(2);
    /// The resources, their templates and skills: a server tells about all at once.
    pub(crate) const RESOURCES: Self = Self(4);
    pub(crate) const ALL: Self = Self(7);

    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    pub(crate) fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    pub(crate) fn and(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    fn has(self, list: Self) -> bool {
        self.0 & list.0 != 0
    }
}

/// What one server offers.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// The tools that can be offered, in the server's order. The catalogue shares them: there is one of each.
    pub tools: Vec<Arc<Tool>>,
    /// The tools that cannot, each with its reason.
    pub withheld: Vec<Withheld>,
    /// The prompts, as the server lists them.
    pub prompts: Vec<RawJson>,
    /// The resources, as the server lists them.
    pub resources: Vec<RawJson>,
    /// The templates of resources, as the server lists them.
    pub templates: Vec<RawJson>,
    /// The skills, as a server with that extension lists them.
    pub skills: Vec<RawJson>,
    /// How the server wants to be used.
    pub instructions: Option<Untrusted>,
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
    /// These tools, as far as they can be offered, and nothing else.
    pub(crate) fn of_tools(entries: &[RawJson]) -> Self {
        let mut surface = Self::default();
        surface.take_tools(entries);
        surface
    }

    /// Asks a server for everything it offers.
    pub async fn fetch(session: &Session) -> Self {
        Self::default().refetched(session, Lists::ALL).await
    }

    /// The same, which takes no longer than `time`; a list that is late is missing.
    pub(crate) async fn fetch_within(session: &Session, time: Duration) -> Self {
        Self::default().refetch_within(session, Lists::ALL, time).await
    }

    /// The same with these lists asked for again; one that cannot be had stays as it was (L10).
    pub(crate) async fn refetched(&self, session: &Session, lists: Lists) -> Self {
        self.refetch_within(session, lists, LIST_TIME).await
    }

    async fn refetch_within(&self, session: &Session, lists: Lists, time: Duration) -> Self {
        let limit = Limits { pages: LIST_PAGES, items: LIST_ITEMS, time: time.min(LIST_TIME) };
        let list = |wanted: Lists, asked: Asked| async move {
            if lists.has(wanted) { Some(pages::fetch(session, asked, limit).await) } else { None }
        };
        let (tools, prompts, resources, templates, skills) = tokio::join!(
            list(Lists::TOOLS, TOOLS),
            list(Lists::PROMPTS, PROMPTS),
            list(Lists::RESOURCES, RESOURCES),
            list(Lists::RESOURCES, TEMPLATES),
            list(Lists::RESOURCES, SKILLS),
        );
        let mut surface = self.clone();
        surface.instructions.clone_from(&session.about().instructions);
        if let Some(tools) = surface.judge(TOOLS, tools) {
            surface.take_tools(&tools);
        }
        if let Some(prompts) = surface.judge(PROMPTS, prompts) {
            surface.prompts = kept(&prompts);
        }
        if let Some(resources) = surface.judge(RESOURCES, resources) {
            surface.resources = kept(&resources);
        }
        if let Some(templates) = surface.judge(TEMPLATES, templates.map(without_templates)) {
            surface.templates = kept(&templates);
        }
        if let Some(skills) = surface.judge(SKILLS, skills) {
            surface.skills = kept(&skills);
        }
        surface
    }

    /// What replaces the list that was `asked` for, if anything does. Its gap is noted in place of an earlier one.
    fn judge(&mut self, asked: Asked, list: Option<List>) -> Option<Vec<RawJson>> {
        let List { items, gap } = list?;
        self.gaps.retain(|gap| gap.method != asked.method);
        let failed = matches!(&gap, Some(Gap { why: Why::Failed(_), .. }));
        self.gaps.extend(gap);
        // Pages that came before the failure are worth more than nothing, but not more than a whole list.
        let had_some = match asked {
            TOOLS => !self.tools.is_empty(),
            PROMPTS => !self.prompts.is_empty(),
            TEMPLATES => !self.templates.is_empty(),
            SKILLS => !self.skills.is_empty(),
            _ => !self.resources.is_empty(),
        };
        (!(failed && had_some)).then_some(items)
    }

    /// The same with what `change` makes of every failure that left a gap.
    pub(crate) fn with_failures(mut self, change: impl Fn(Failure) -> Failure) -> Self {
        for gap in &mut self.gaps {
            if let Why::Failed(failure) = &mut gap.why {
                *failure = change(failure.clone());
            }
        }
        self
    }

    /// How the way to the server failed while a list was fetched, if it did. An error the server answers with is its
    /// own affair; but a list that never came would be missed for as long as the connection lives.
    pub(crate) fn broke_off(&self) -> Option<&Failure> {
        self.gaps.iter().find_map(|gap| match &gap.why {
            Why::Failed(
                failure @ (Failure::Closed { .. }
                | Failure::Refused { .. }
                | Failure::SessionExpired
                | Failure::Unauthorized { .. }),
            ) => Some(failure),
            // Some greet everybody and show their tools only to those with more rights.
            Why::Failed(failure @ Failure::Forbidden { .. }) if gap.method == "tools/list" => Some(failure),
            Why::Failed(
                Failure::TimedOut { .. }
                | Failure::Damaged(_)
                | Failure::Protocol(_)
                | Failure::Answered(_)
                | Failure::TooLarge { .. }
                | Failure::Forbidden { .. }
                | Failure::Status { .. }
                | Failure::QueueFull { .. },
            )
            | Why::Cut(_) => None,
        })
    }

    /// Why nothing at all is offered: every list that was asked for failed.
    #[must_use]
    pub fn total_failure(&self) -> Option<&Gap> {
        let offers = self.tools.len() + self.withheld.len() + self.prompts.len() + self.resources.len();
        let is_empty = offers + self.templates.len() + self.skills.len() == 0;
        self.gaps.iter().find(|gap| is_empty && matches!(gap.why, Why::Failed(_)))
    }

    /// What is missing and why, one sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let withheld = self.withheld.iter().map(|withheld| format!("withheld: {withheld}"));
        let nameless = self.prompts.iter().filter(|raw| !prompt::is_usable(raw)).count();
        let nameless = (nameless > 0).then(|| format!("withheld: {nameless} prompt(s) without a name"));
        let odd = self.skills.iter().filter(|raw| !skill::is_usable(raw)).count();
        let odd = (odd > 0).then(|| format!("withheld: {odd} skill(s) whose entries cannot be used"));
        withheld.chain(nameless).chain(odd).chain(self.gaps.iter().map(ToString::to_string)).collect()
    }

    /// Sorts the tools into those that can be offered and those that cannot.
    fn take_tools(&mut self, entries: &[RawJson]) {
        self.tools.clear();
        self.withheld.clear();
        let mut names = HashSet::new();
        for entry in entries {
            let read = entry
                .as_raw_value()
                .map_or_else(|| Err(Withheld { name: String::new(), fault: Fault::NotAnObject }), Tool::read);
            match read {
                Ok(tool) if names.insert(tool.name.clone()) => self.tools.push(Arc::new(tool)),
                Ok(tool) => {
                    let name = tool.name.as_str().to_owned();
                    self.withheld.push(Withheld { name, fault: Fault::Twice });
                }
                Err(withheld) => self.withheld.push(withheld),
            }
        }
        self.tools.shrink_to_fit();
    }
}

/// A list to be kept as long as its server is: without the messages it came in.
fn kept(list: &[RawJson]) -> Vec<RawJson> {
    list.iter().map(RawJson::detached).collect()
}

/// Who has resources need not have templates, and many a server does not even know the word.
fn without_templates(list: List) -> List {
    match list.gap {
        Some(Gap { why: Why::Failed(Failure::Answered(error)), .. }) if error.code == METHOD_NOT_FOUND => {
            List { gap: None, ..list }
        }
        gap => List { gap, ..list },
    }
}

/// How much of one list is taken.
#[derive(Clone, Copy, Debug)]
struct Limits {
    pages: usize,
    items: usize,
    time: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    // U1 U2
    #[test]
    fn a_server_whose_only_list_fails_offers_nothing_and_is_told_so() {
        let gap = || Gap { method: "tools/list", why: Why::Failed(Failure::SessionExpired) };
        let nothing = Surface { gaps: vec![gap()], ..Surface::default() };
        assert_eq!(nothing.total_failure().map(|gap| gap.method), Some("tools/list"));
        let prompts = vec![RawJson::of(&serde_json::json!({ "name": "p" })).unwrap()];
        let some = Surface { gaps: vec![gap()], prompts, ..Surface::default() };
        assert!(some.total_failure().is_none());
        assert!(Surface::default().total_failure().is_none());
    }
}
