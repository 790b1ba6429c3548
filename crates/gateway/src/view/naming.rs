//! Names for clients: one total function for a whole view.

use std::collections::HashMap;
use std::sync::Arc;

use mcparley::catalog::{BuiltIn, CatalogEntry, ToolProvider};
use mcparley::model::limits::{SERVED_MODEL_NAME_CHARS, SERVED_NAME_CHARS};
use mcparley::model::name::{ServerName, normalize_server};
use sha2::{Digest, Sha256};

use crate::mode::{GatewayMode, Naming};

/// The name of the tool that calls unlisted tools.
pub(crate) const CALL_TOOL: &str = "CallTool";
/// The number of hash digits in a name that had to be shortened or told apart.
const HASH_DIGITS: usize = 8;

/// A tool or prompt that is given a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedItem<'n> {
    /// The server; none for tools of the host, which keep their names.
    server: Option<&'n ServerName>,
    /// The name that the server gave.
    name: &'n str,
    /// The name in the catalog.
    public: Option<&'n str>,
}

impl<'n> NamedItem<'n> {
    pub(super) fn new(server: Option<&'n ServerName>, name: &'n str) -> Self {
        Self { server, name, public: None }
    }

    pub(super) fn from_entry(entry: &'n CatalogEntry) -> Self {
        let server = match &entry.provider {
            ToolProvider::Server(server) | ToolProvider::SignIn { server, .. } => Some(server),
            ToolProvider::Host(_) => None,
        };
        let name = if server.is_some() { entry.tool.name.as_str() } else { entry.name.as_str() };
        Self { server, name, public: Some(entry.name.as_str()) }
    }

    /// The names that the host's own tools have where they are listed: no tool of a server gets one of them, so that
    /// its name stays when the host's tool joins the list.
    pub(super) fn reserved_items() -> impl Iterator<Item = Self> {
        let names = BuiltIn::ALL.map(BuiltIn::as_str).into_iter().chain([CALL_TOOL]);
        names.map(|name| Self::new(None, name))
    }

    /// `server__name`, in the characters and length of the mode.
    fn prefix_name(&self, server: &ServerName, mode: &GatewayMode) -> String {
        let name = legal_name(self.name, mode.for_model);
        self.shorten_name(format!("{}__{name}", normalize_server(server)), mode)
    }

    /// The name of the server alone, in the characters and length of the mode.
    fn bare_name(&self, mode: &GatewayMode) -> String {
        self.shorten_name(legal_name(self.name, mode.for_model), mode)
    }

    /// The name by the rule of the mode, before names of several items are told apart.
    fn choose_name(&self, mode: &GatewayMode, bare_counts: &HashMap<String, usize>) -> String {
        let Some(server) = self.server else { return self.name.to_owned() };
        if mode.is_bare(server) {
            let bare = self.bare_name(mode);
            if bare_counts.get(&bare) == Some(&1) {
                return bare;
            }
        }
        match (mode.naming, self.public) {
            (Naming::Mcp, Some(public)) => public.to_owned(),
            (Naming::Mcp, None) => {
                self.shorten_name(format!("mcp__{}", self.prefix_name(server, mode)), mode)
            }
            (Naming::Server | Naming::Bare, _) => self.prefix_name(server, mode),
        }
    }

    /// Whether this item keeps a name that several want: the one that has it in the catalog too, where names
    /// are never taken away again.
    fn keeps_name(&self, name: &str) -> bool {
        self.server.is_none() || self.public.and_then(|public| public.strip_prefix("mcp__")) == Some(name)
    }

    fn shorten_name(&self, name: String, mode: &GatewayMode) -> String {
        let limit = name_limit(mode);
        if name.chars().count() <= limit { name } else { self.with_hash(&name, limit) }
    }

    /// The name with digits of a hash of the item at its end.
    fn with_hash(&self, name: &str, limit: usize) -> String {
        let mut hash = Sha256::new();
        hash.update(self.server.map_or("", ServerName::as_str));
        hash.update([0]);
        hash.update(self.name);
        let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let digits: String = digits.chars().take(HASH_DIGITS).collect();
        let cut: String = name.chars().take(limit.saturating_sub(HASH_DIGITS + 1)).collect();
        format!("{cut}_{digits}")
    }
}

/// The names of all items of a view, each unique.
pub(super) fn assign_names(mode: &GatewayMode, items: &[NamedItem<'_>]) -> Vec<Arc<str>> {
    if mode.is_transparent() {
        return items.iter().map(|item| Arc::from(item.name)).collect();
    }
    let mut bare_counts: HashMap<String, usize> = HashMap::new();
    for item in items {
        *bare_counts.entry(item.bare_name(mode)).or_default() += 1;
    }
    let wanted: Vec<String> = items.iter().map(|item| item.choose_name(mode, &bare_counts)).collect();
    let mut wishes: HashMap<&str, usize> = HashMap::new();
    for name in &wanted {
        *wishes.entry(name).or_default() += 1;
    }
    let name = |(item, name): (&NamedItem<'_>, &String)| {
        let is_shared = wishes.get(name.as_str()).is_some_and(|count| *count > 1);
        if is_shared && !item.keeps_name(name) {
            item.with_hash(name, name_limit(mode)).into()
        } else {
            name.as_str().into()
        }
    };
    items.iter().zip(&wanted).map(name).collect()
}

fn name_limit(mode: &GatewayMode) -> usize {
    if mode.for_model { SERVED_MODEL_NAME_CHARS } else { SERVED_NAME_CHARS }
}

/// A name in the characters that models' APIs allow, or in those of the protocol.
fn legal_name(name: &str, for_model: bool) -> String {
    let is_legal = |character: char| {
        character.is_ascii_alphanumeric()
            || matches!(character, '_' | '-')
            || (!for_model && matches!(character, '.' | '/'))
    };
    name.chars().map(|character| if is_legal(character) { character } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    //! The names of each mode.
    use super::*;

    fn names(mode: &GatewayMode, items: &[(&str, &str)]) -> Vec<String> {
        let owned: Vec<(ServerName, &str)> =
            items.iter().map(|(server, name)| (ServerName::new(server), *name)).collect();
        let items: Vec<NamedItem<'_>> =
            owned.iter().map(|(server, name)| NamedItem::new(Some(server), name)).collect();
        assign_names(mode, &items).iter().map(ToString::to_string).collect()
    }

    // G5
    #[test]
    fn names_follow_the_mode() {
        let items = [("one", "echo"), ("two", "echo"), ("two", "files.read")];
        let model = GatewayMode::default();
        assert_eq!(names(&model, &items), ["one__echo", "two__echo", "two__files_read"]);
        let plain = GatewayMode { for_model: false, ..GatewayMode::default() };
        assert_eq!(names(&plain, &items), ["one__echo", "two__echo", "two__files.read"]);
        let bare = GatewayMode { naming: Naming::Bare, ..plain.clone() };
        assert_eq!(names(&bare, &items), ["one__echo", "two__echo", "files.read"]);
        let mcp = GatewayMode { naming: Naming::Mcp, ..plain.clone() };
        assert_eq!(names(&mcp, &items), ["mcp__one__echo", "mcp__two__echo", "mcp__two__files.read"]);
        let some = GatewayMode { bare_servers: vec![ServerName::new("one")], ..plain };
        assert_eq!(names(&some, &[("one", "a"), ("two", "b")]), ["a", "two__b"]);
        let one = GatewayMode::transparent(ServerName::new("one"));
        assert_eq!(names(&one, &[("one", "a b/ü")]), ["a b/ü"]);
    }

    // G5: two tools of one name in one list could not be told apart.
    #[test]
    fn no_tool_of_a_server_gets_the_name_of_a_tool_of_the_host() {
        let server = ServerName::new("one");
        let bare = GatewayMode { naming: Naming::Bare, ..GatewayMode::default() };
        let some = GatewayMode { bare_servers: vec![server.clone()], ..GatewayMode::default() };
        let reserved: Vec<&str> = NamedItem::reserved_items().map(|item| item.name).collect();
        assert_eq!(reserved, ["ListMcpResources", "ReadMcpResource", "ReadResult", "ToolSearch", "CallTool"]);
        for mode in [bare, some] {
            for name in &reserved {
                let own = [NamedItem::new(Some(&server), name), NamedItem::new(Some(&server), "echo")];
                let items: Vec<NamedItem<'_>> = own.into_iter().chain(NamedItem::reserved_items()).collect();
                let names = assign_names(&mode, &items);
                assert_eq!((&*names[0], &*names[1]), (format!("one__{name}").as_str(), "echo"));
            }
        }
    }

    // G5
    #[test]
    fn names_are_unique_and_short_for_models() {
        let long = "x".repeat(100);
        let items = [("a__b", "c"), ("a", "b__c"), ("a b", "d"), ("a.b", "d"), ("s", &long)];
        for mode in [GatewayMode::default(), GatewayMode { for_model: false, ..GatewayMode::default() }] {
            let names = names(&mode, &items);
            let unique: std::collections::HashSet<_> = names.iter().collect();
            assert_eq!(unique.len(), items.len(), "{names:?}");
            assert!(names.iter().all(|name| name.len() <= name_limit(&mode)), "{names:?}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(10_000))]

        // G5
        #[test]
        fn names_of_any_items_are_unique_and_short(
            items in proptest::collection::hash_set(("[a-c_. A]{1,4}", "[a-c_./é]{1,60}"), 0..8),
            for_model in proptest::bool::ANY,
            naming in proptest::sample::select(vec![Naming::Server, Naming::Mcp, Naming::Bare]),
        ) {
            let mode = GatewayMode { for_model, naming, ..GatewayMode::default() };
            let items: Vec<(&str, &str)> =
                items.iter().map(|(server, name)| (server.as_str(), name.as_str())).collect();
            let names = names(&mode, &items);
            let unique: std::collections::HashSet<_> = names.iter().collect();
            proptest::prop_assert_eq!(unique.len(), items.len(), "{:?}", names);
            proptest::prop_assert!(names.iter().all(|name| name.chars().count() <= name_limit(&mode)));
        }
    }
}
