//! Reads the record of one folder in the approval store.
//!
//! ```json
//! { "approved": { "servers": { "api": ["sha256:…"] }, "variables": {}, "rules": {}, "hooks": {} },
//!   "rejected": { "servers": ["other"], "hooks": ["sha256:…"] },
//!   "claudeCode": { "trusted": true, "servers": ["api"] } }
//! ```

use super::{ApprovalItem, FolderServer, ItemKind};
use crate::document::Node;
use crate::name::{ServerName, is_same_server};
use crate::scope::ConfigOrigin;

/// Approvals and rejections recorded for one folder.
#[derive(Clone, Debug, Default)]
pub struct FolderApprovals {
    approved: Vec<(ItemKind, String, String)>,
    rejected: Vec<Rejection>,
    /// Whether Claude Code's trust in the folder was seen, so that the items it covered then are recorded.
    pub(super) saw_trust: bool,
    saw_names: Vec<String>,
}

/// A recorded rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The kind of the rejected item.
    pub kind: ItemKind,
    /// A server's name, or the content hash of any other item.
    pub text: String,
    /// The location of the rejection.
    pub origin: ConfigOrigin,
}

impl FolderApprovals {
    /// Reads the store's record of one folder. Malformed parts are ignored: they approve nothing.
    #[must_use]
    pub fn from_node(folder: Node<'_>) -> Self {
        let mut read = Self::default();
        for kind in ItemKind::ALL {
            let approved = folder.get("approved").and_then(|all| all.get(kind.store_key()));
            for member in approved.and_then(Node::as_object).into_iter().flatten() {
                let contents = member.value.as_array().into_iter().flatten().filter_map(Node::as_str);
                let entry = |content: &str| (kind, member.name.to_owned(), content.to_owned());
                read.approved.extend(contents.map(entry));
            }
            let rejected = folder.get("rejected").and_then(|all| all.get(kind.store_key()));
            for element in rejected.and_then(Node::as_array).into_iter().flatten() {
                let text = element.as_str().map(str::to_owned);
                read.rejected.extend(text.map(|text| Rejection { kind, text, origin: element.origin() }));
            }
        }
        if let Some(seen) = folder.get("claudeCode") {
            read.saw_trust = seen.get("trusted").and_then(Node::as_bool) == Some(true);
            let names = seen.get("servers").and_then(Node::as_array).into_iter().flatten();
            read.saw_names = names.filter_map(Node::as_str).map(str::to_owned).collect();
        }
        read
    }

    /// Whether the item's content is approved; `None` if no content of that name was ever approved.
    pub(super) fn is_item_approved(&self, item: &ApprovalItem) -> Option<bool> {
        let content = item.content.to_string();
        let mut known = self.approved_contents(item.kind, |name| name == item.name).peekable();
        known.peek()?;
        match item.kind {
            // Two hooks for one event are two hooks, not one that changed.
            ItemKind::Hook => known.any(|known| known == content).then_some(true),
            ItemKind::Server | ItemKind::Variable | ItemKind::Rule => {
                Some(known.any(|known| known == content))
            }
        }
    }

    /// Whether the server's content is approved, either expanded or as written; `None` if its name never
    /// was.
    pub(super) fn is_server_approved(&self, server: &FolderServer<'_>) -> Option<bool> {
        let is_it = |name: &str| is_same_server(name, server.name.as_str());
        let mut known = self.approved_contents(ItemKind::Server, is_it).peekable();
        known.peek()?;
        let contents = [server.definition.to_string(), server.written.to_string()];
        Some(known.any(|known| contents.iter().any(|content| content == known)))
    }

    pub(super) fn item_rejection(&self, item: &ApprovalItem) -> Option<&ConfigOrigin> {
        let content = item.content.to_string();
        let rejected = self.rejected.iter().find(|no| no.kind == item.kind && no.text == content);
        rejected.map(|rejection| &rejection.origin)
    }

    pub(super) fn server_rejection(&self, name: &ServerName) -> Option<&ConfigOrigin> {
        let is_it = |no: &&Rejection| no.kind == ItemKind::Server && is_same_server(&no.text, name.as_str());
        self.rejected.iter().find(is_it).map(|rejection| &rejection.origin)
    }

    /// Whether Claude Code's approval of this name was seen, so that the content it covered then is
    /// recorded.
    pub(super) fn has_recorded_name(&self, name: &ServerName) -> bool {
        self.saw_names.iter().any(|seen| is_same_server(seen, name.as_str()))
    }

    fn approved_contents(&self, kind: ItemKind, is_it: impl Fn(&str) -> bool) -> impl Iterator<Item = &str> {
        let named = self.approved.iter().filter(move |(of, name, _)| *of == kind && is_it(name));
        named.map(|(_, _, content)| content.as_str())
    }
}
