//! The subject of a permission decision: a call of one tool, and the known servers.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::name::{
    BETWEEN, PREFIX, PublicName, ServerName, ToolName, ToolNameHash, normalize_server, normalize_tool,
};

/// The subject of a permission decision: a call of a server's tool.
#[derive(Clone, Copy, Debug)]
pub struct PermissionSubject<'a> {
    /// The server.
    pub server: &'a ServerName,
    /// The tool.
    pub tool: &'a ToolName,
    /// The tool's public name, where it has one.
    pub public: Option<&'a PublicName>,
    /// The arguments; without them no rule with a condition matches.
    pub arguments: Option<&'a Value>,
    /// Whether the tool claims to be read-only; its server may lie.
    pub read_only: bool,
}

impl<'a> PermissionSubject<'a> {
    /// Normalizes the names once for all rules.
    pub(super) fn to_normalized(self) -> NormalizedSubject<'a> {
        NormalizedSubject {
            subject: self,
            server: normalize_server(self.server),
            tool: normalize_tool(self.tool),
            identity: OnceCell::new(),
        }
    }
}

/// A subject with the normalized names that every rule compares.
#[derive(Debug)]
pub(super) struct NormalizedSubject<'a> {
    pub(super) subject: PermissionSubject<'a>,
    /// The server's normalized name.
    pub(super) server: String,
    /// The tool's normalized name.
    pub(super) tool: String,
    /// Computed on demand: it costs a hash, and few rules need it.
    identity: OnceCell<ToolNameHash>,
}

impl NormalizedSubject<'_> {
    /// Whether `text` is this tool's public name with a hash.
    pub(super) fn is_hashed_as(&self, text: &str) -> bool {
        self.name_hash().is_hashed_as(text)
    }

    /// The hash of the original names, in hexadecimal digits.
    pub(super) fn digest(&self) -> &str {
        self.name_hash().digest()
    }

    fn name_hash(&self) -> &ToolNameHash {
        self.identity.get_or_init(|| ToolNameHash::new(self.subject.server, self.subject.tool))
    }

    /// The normalized names, joined as in a public name.
    pub(super) fn joined_name(&self) -> String {
        [&self.server, BETWEEN, &self.tool].concat()
    }

    /// Whether the tool's normalized name is unambiguous, as far as its public name shows.
    pub(super) fn has_plain_name(&self) -> bool {
        let Some(public) = self.subject.public else { return true };
        // Without a prefix, no part of the name could be taken for another server.
        if public.as_str() == self.tool {
            return true;
        }
        let rest =
            public.as_str().strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix(self.server.as_str()));
        rest.and_then(|rest| rest.strip_prefix(BETWEEN)) == Some(self.tool.as_str())
    }
}

/// The configured servers, which decide how the server part of a rule is understood.
#[derive(Clone, Debug, Default)]
pub struct KnownServers {
    by_normal: BTreeMap<String, Vec<ServerName>>,
}

impl KnownServers {
    /// Collects all configured servers, also those that do not run.
    #[must_use]
    pub fn new(servers: impl IntoIterator<Item = ServerName>) -> Self {
        let mut by_normal: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for server in servers {
            let same = by_normal.entry(normalize_server(&server)).or_default();
            if !same.contains(&server) {
                same.push(server);
            }
        }
        Self { by_normal }
    }

    /// The servers with this normalized name.
    pub(super) fn servers_named(&self, normal: &str) -> &[ServerName] {
        self.by_normal.get(normal).map_or(&[], Vec::as_slice)
    }

    /// All servers with their normalized names.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &ServerName)> {
        self.by_normal
            .iter()
            .flat_map(|(normal, same)| same.iter().map(move |server| (normal.as_str(), server)))
    }
}
