//! The surface of a server: its tools, prompts and resources, an immutable snapshot that is replaced as a
//! whole.
//!
//! The lists are fetched concurrently, each with all its pages, and only if the server declares the
//! capability. A failed list or entry does not affect the others: the rest is kept and the reason recorded as
//! a gap.

mod pages;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::hex::Hex;
use mcparley_model::limits::{LIST_BYTES, LIST_ITEMS, LIST_PAGES, LIST_TIME};
use mcparley_model::text::Untrusted;
use mcparley_model::tool::{Tool, ToolFault, WithheldTool};
use mcparley_wire::{Failure, METHOD_NOT_FOUND, ProtocolSession, RawJson, ServerDescription};
use sha2::{Digest as _, Sha256};

use mcparley_catalog::is_usable_skill;
pub use pages::ListCut;
use pages::{FetchedList, ListRequest};

const TOOLS: ListRequest = ListRequest { capability: "tools", method: "tools/list", member: "tools" };
const PROMPTS: ListRequest = ListRequest { capability: "prompts", method: "prompts/list", member: "prompts" };
const RESOURCES: ListRequest =
    ListRequest { capability: "resources", method: "resources/list", member: "resources" };
const TEMPLATES: ListRequest =
    ListRequest { capability: "resources", method: "resources/templates/list", member: "resourceTemplates" };
const SKILLS: ListRequest =
    ListRequest { capability: "io.modelcontextprotocol/skills", method: "skills/list", member: "skills" };

/// A set of a server's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListSet(u8);

impl ListSet {
    /// The tools.
    pub const TOOLS: Self = Self(1);
    /// The prompts.
    pub const PROMPTS: Self = Self(2);
    /// The resources, their templates and skills, for which servers send one common change notification.
    pub const RESOURCES: Self = Self(4);
    /// Every list.
    pub const ALL: Self = Self(7);

    /// The lists as bits.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The lists of these bits.
    pub fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// The union of two sets.
    pub fn union(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    /// Whether the set contains the list.
    fn contains(self, list: Self) -> bool {
        self.0 & list.0 != 0
    }
}

/// The tools, prompts and resources of one server.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// The usable tools, in the server's order. Shared with the catalog, so that each definition exists once
    /// in memory.
    pub tools: Vec<Arc<Tool>>,
    /// The withheld tools, each with its reason.
    pub withheld: Vec<WithheldTool>,
    /// The prompts, as the server lists them.
    pub prompts: Vec<RawJson>,
    /// The resources, as the server lists them.
    pub resources: Vec<RawJson>,
    /// The templates of resources, as the server lists them.
    pub templates: Vec<RawJson>,
    /// The skills, as a server with that extension lists them.
    pub skills: Vec<RawJson>,
    /// The server's instructions for its use.
    pub instructions: Option<Untrusted>,
    /// The server's description of itself, as it gave it last.
    pub about: Option<Arc<ServerDescription>>,
    /// The cache hints and the `_meta` of the lists of a server of the new era, as it sent them, by the member
    /// with the items.
    pub list_hints: BTreeMap<Box<str>, RawJson>,
    /// The incomplete lists and the reasons.
    pub gaps: Vec<ListGap>,
    /// The changes that the server has announced since it was connected.
    pub announced: AnnouncedChanges,
}

/// The number of fetches that a server has caused by announcing changes, for each list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnnouncedChanges {
    /// Changes of the tools.
    pub tools: u64,
    /// Changes of the prompts.
    pub prompts: u64,
    /// Changes of the resources, their templates and skills.
    pub resources: u64,
}

impl std::iter::Sum for AnnouncedChanges {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, Self { tools, prompts, resources }| Self {
            tools: sum.tools + tools,
            prompts: sum.prompts + prompts,
            resources: sum.resources + resources,
        })
    }
}

impl AnnouncedChanges {
    /// Counts a change of these lists.
    fn count_lists(&mut self, lists: ListSet) {
        self.tools += u64::from(lists.contains(ListSet::TOOLS));
        self.prompts += u64::from(lists.contains(ListSet::PROMPTS));
        self.resources += u64::from(lists.contains(ListSet::RESOURCES));
    }
}

/// A gap: a list that is incomplete.
#[derive(Clone, Debug)]
pub struct ListGap {
    /// The method that fetches the list.
    pub method: &'static str,
    /// The reason.
    pub reason: GapReason,
}

/// The reason a list is incomplete.
#[derive(Clone, Debug)]
pub enum GapReason {
    /// The request failed; earlier pages are kept.
    Failed(Failure),
    /// The list was cut at a limit.
    Cut(ListCut),
}

impl std::fmt::Display for ListGap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.reason {
            GapReason::Failed(failure) => write!(f, "`{}`: {failure}", self.method),
            GapReason::Cut(cut) => write!(f, "`{}`: {cut}", self.method),
        }
    }
}

impl Surface {
    /// A surface with only these tools.
    pub fn from_tools(entries: &[RawJson]) -> Self {
        let mut surface = Self::default();
        surface.set_tools(entries);
        surface
    }

    /// Fetches all lists of a server.
    pub async fn fetch_all(session: &ProtocolSession) -> Self {
        Self::default().refetch_lists(session, ListSet::ALL).await
    }

    /// The digest of the lists: surfaces with equal ones have equal lists. `None` for incomplete lists, and with tools
    /// that are withheld, because these are not kept as they were sent.
    #[must_use]
    pub fn lists_digest(&self) -> Option<String> {
        if !self.gaps.is_empty() || !self.withheld.is_empty() {
            return None;
        }
        let mut hash = Sha256::new();
        self.tools.iter().for_each(|tool| hash_item(&mut hash, "tool", tool.definition_text().as_str()));
        for (kind, list) in [
            ("prompt", &self.prompts),
            ("resource", &self.resources),
            ("template", &self.templates),
            ("skill", &self.skills),
        ] {
            list.iter().for_each(|item| hash_item(&mut hash, kind, item.as_str()));
        }
        self.list_hints.iter().for_each(|(list, hints)| hash_item(&mut hash, list, hints.as_str()));
        Some(Hex(&<[u8; 32]>::from(hash.finalize())).to_string())
    }

    /// Whether the lists have this digest.
    pub(crate) fn has_digest(&self, digest: Option<&str>) -> bool {
        digest.is_some() && self.lists_digest().as_deref() == digest
    }

    /// This surface for a new session with its server.
    pub(crate) fn for_session(self, session: &ProtocolSession) -> Self {
        let about = session.server_description();
        Self {
            instructions: about.instructions.clone(),
            about: Some(Arc::new(about.clone())),
            announced: AnnouncedChanges::default(),
            ..self
        }
    }

    /// Fetches all lists within `time`; a list that times out is a gap.
    pub async fn fetch_within(session: &ProtocolSession, time: Duration) -> Self {
        Self::default().refetch_within(session, ListSet::ALL, time).await
    }

    /// This surface after the server has announced changes of some lists, and may have changed others.
    pub async fn after_changes(
        &self,
        session: &ProtocolSession,
        announced: ListSet,
        missed: ListSet,
    ) -> Self {
        let mut surface = self.refetch_lists(session, announced.union(missed)).await;
        surface.announced.count_lists(announced);
        surface
    }

    /// This surface with some lists fetched again; a list that fails stays as it was.
    pub async fn refetch_lists(&self, session: &ProtocolSession, lists: ListSet) -> Self {
        self.refetch_within(session, lists, LIST_TIME).await
    }

    async fn refetch_within(&self, session: &ProtocolSession, lists: ListSet, time: Duration) -> Self {
        let time = time.min(LIST_TIME);
        let limit = ListLimits { pages: LIST_PAGES, items: LIST_ITEMS, bytes: LIST_BYTES, time };
        let list = |wanted: ListSet, asked: ListRequest| async move {
            if lists.contains(wanted) { Some(pages::fetch_list(session, asked, limit).await) } else { None }
        };
        let (tools, prompts, resources, templates, skills) = tokio::join!(
            list(ListSet::TOOLS, TOOLS),
            list(ListSet::PROMPTS, PROMPTS),
            list(ListSet::RESOURCES, RESOURCES),
            list(ListSet::RESOURCES, TEMPLATES),
            list(ListSet::RESOURCES, SKILLS),
        );
        let mut surface = self.clone();
        surface.instructions.clone_from(&session.server_description().instructions);
        surface.about = Some(Arc::new(session.server_description().clone()));
        if let Some(tools) = surface.accept_list(TOOLS, tools) {
            surface.set_tools(&tools);
        }
        if let Some(prompts) = surface.accept_list(PROMPTS, prompts) {
            surface.prompts = detach_items(&prompts);
        }
        if let Some(resources) = surface.accept_list(RESOURCES, resources) {
            surface.resources = detach_items(&resources);
        }
        if let Some(templates) = surface.accept_list(TEMPLATES, templates.map(ignore_missing_templates)) {
            surface.templates = detach_items(&templates);
        }
        if let Some(skills) = surface.accept_list(SKILLS, skills) {
            surface.skills = detach_items(&skills);
        }
        surface
    }

    /// The new items of a fetched list, or `None` if the old ones stay. Its gap replaces an earlier one.
    fn accept_list(&mut self, asked: ListRequest, list: Option<FetchedList>) -> Option<Vec<RawJson>> {
        let FetchedList { items, hints, gap } = list?;
        self.gaps.retain(|gap| gap.method != asked.method);
        let failed = matches!(&gap, Some(ListGap { reason: GapReason::Failed(_), .. }));
        self.gaps.extend(gap);
        // The pages before a failure are better than an empty list, but not better than an earlier complete
        // one.
        let had_some = match asked {
            TOOLS => !self.tools.is_empty(),
            PROMPTS => !self.prompts.is_empty(),
            TEMPLATES => !self.templates.is_empty(),
            SKILLS => !self.skills.is_empty(),
            _ => !self.resources.is_empty(),
        };
        if failed && had_some {
            return None;
        }
        match hints {
            Some(hints) => drop(self.list_hints.insert(asked.member.into(), hints)),
            None => drop(self.list_hints.remove(asked.member)),
        }
        Some(items)
    }

    /// This surface with `change` applied to the failure of every gap, for redaction.
    pub fn map_failures(mut self, change: impl Fn(Failure) -> Failure) -> Self {
        for gap in &mut self.gaps {
            if let GapReason::Failed(failure) = &mut gap.reason {
                *failure = change(failure.clone());
            }
        }
        self
    }

    /// The failure of the connection during a fetch, if there was one. An error answer concerns one list
    /// only; but after a connection failure the list would be missing for as long as the connection lives.
    pub fn connection_failure(&self) -> Option<&Failure> {
        self.gaps.iter().find_map(|gap| match &gap.reason {
            GapReason::Failed(
                failure @ (Failure::Closed { .. }
                | Failure::Refused { .. }
                | Failure::SessionExpired
                | Failure::Unauthorized { .. }),
            ) => Some(failure),
            // Some servers accept every client, but show their tools only to authorized ones.
            GapReason::Failed(failure @ Failure::Forbidden { .. }) if gap.method == "tools/list" => {
                Some(failure)
            }
            GapReason::Failed(
                Failure::TimedOut { .. }
                | Failure::Damaged(_)
                | Failure::Protocol(_)
                | Failure::ErrorResponse(_)
                | Failure::TooLarge { .. }
                | Failure::Forbidden { .. }
                | Failure::Status { .. }
                | Failure::QueueFull { .. },
            )
            | GapReason::Cut(_) => None,
        })
    }

    /// The gap of a server with no items at all, because every fetched list failed.
    #[must_use]
    pub fn total_failure(&self) -> Option<&ListGap> {
        let offers = self.tools.len() + self.withheld.len() + self.prompts.len() + self.resources.len();
        let is_empty = offers + self.templates.len() + self.skills.len() == 0;
        self.gaps.iter().find(|gap| is_empty && matches!(gap.reason, GapReason::Failed(_)))
    }

    /// Whether there are resources or resource templates.
    pub fn has_resources(&self) -> bool {
        !self.resources.is_empty() || !self.templates.is_empty()
    }

    /// Messages about withheld items and gaps, for the user.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let withheld = self.withheld.iter().map(|withheld| format!("withheld: {withheld}"));
        let nameless = self.prompts.iter().filter(|raw| !has_name(raw)).count();
        let nameless = (nameless > 0).then(|| format!("withheld: {nameless} prompt(s) without a name"));
        let odd = self.skills.iter().filter(|raw| !is_usable_skill(raw)).count();
        let odd = (odd > 0).then(|| format!("withheld: {odd} skill(s) with unusable entries"));
        withheld.chain(nameless).chain(odd).chain(self.gaps.iter().map(ToString::to_string)).collect()
    }

    /// Parses the tools and sorts them into usable and withheld ones.
    fn set_tools(&mut self, entries: &[RawJson]) {
        self.tools.clear();
        self.withheld.clear();
        let mut names = HashSet::new();
        for entry in entries {
            let read = entry.as_raw_value().map_or_else(
                || Err(WithheldTool { name: String::new(), fault: ToolFault::NotAnObject }),
                Tool::parse,
            );
            match read {
                Ok(tool) if names.insert(tool.name.clone()) => self.tools.push(Arc::new(tool)),
                Ok(tool) => {
                    let name = tool.name.as_str().to_owned();
                    self.withheld.push(WithheldTool { name, fault: ToolFault::Duplicate });
                }
                Err(withheld) => self.withheld.push(withheld),
            }
        }
        self.tools.shrink_to_fit();
    }
}

/// Copies list items out of their messages, so that the messages are not kept in memory.
fn detach_items(list: &[RawJson]) -> Vec<RawJson> {
    list.iter().map(RawJson::to_detached).collect()
}

/// Removes the gap of a server that does not know `resources/templates/list`, which is optional.
fn ignore_missing_templates(list: FetchedList) -> FetchedList {
    match list.gap {
        Some(ListGap { reason: GapReason::Failed(Failure::ErrorResponse(error)), .. })
            if error.code == METHOD_NOT_FOUND =>
        {
            FetchedList { gap: None, ..list }
        }
        gap => FetchedList { gap, ..list },
    }
}

/// Whether a listed prompt has a name, without which it cannot be requested.
fn has_name(raw: &RawJson) -> bool {
    raw.member("name").and_then(|name| name.decode::<String>().ok()).is_some_and(|name| !name.is_empty())
}

/// The limits for fetching one list.
#[derive(Clone, Copy, Debug)]
struct ListLimits {
    pages: usize,
    items: usize,
    bytes: usize,
    time: Duration,
}

/// Adds an item of a list to a digest, so that no two different sequences of items are the same bytes.
fn hash_item(hash: &mut Sha256, kind: &str, item: &str) {
    for text in [kind, item] {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // U1 U2
    #[test]
    fn server_with_only_failed_lists_has_a_total_failure() {
        let gap = || ListGap { method: "tools/list", reason: GapReason::Failed(Failure::SessionExpired) };
        let nothing = Surface { gaps: vec![gap()], ..Surface::default() };
        assert_eq!(nothing.total_failure().map(|gap| gap.method), Some("tools/list"));
        let prompts = vec![RawJson::from_value(&serde_json::json!({ "name": "p" })).unwrap()];
        let some = Surface { gaps: vec![gap()], prompts, ..Surface::default() };
        assert!(some.total_failure().is_none());
        assert!(Surface::default().total_failure().is_none());
    }
}
