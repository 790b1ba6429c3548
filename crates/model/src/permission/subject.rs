//! What is decided about: a call of one tool, among the servers there are.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::name::{
    BETWEEN, Identity, PREFIX, PublicName, ServerName, ToolName, normalise_server, normalise_tool,
};

/// A call that is to be decided.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The server.
    pub server: &'a ServerName,
    /// The tool.
    pub tool: &'a ToolName,
    /// The tool's public name, where it has one.
    pub public: Option<&'a PublicName>,
    /// The arguments; without them no rule with a condition matches.
    pub arguments: Option<&'a Value>,
    /// Whether the tool says it only reads; its server may lie.
    pub read_only: bool,
}

impl<'a> Subject<'a> {
    /// Normalises the names once for all rules.
    pub(super) fn prepare(&self) -> Prepared<'a> {
        Prepared {
            subject: *self,
            server: normalise_server(self.server),
            tool: normalise_tool(self.tool),
            identity: OnceCell::new(),
        }
    }
}

/// A subject with what every rule compares.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) subject: Subject<'a>,
    /// The server's normalised name.
    pub(super) server: String,
    /// The tool's normalised name.
    pub(super) tool: String,
    /// Costs a hash, and few rules ask for it.
    identity: OnceCell<Identity>,
}

impl Prepared<'_> {
    /// Whether `text` is this tool's public name with a hash.
    pub(super) fn is_hashed_as(&self, text: &str) -> bool {
        self.identity().is_hashed_as(text)
    }

    /// The hash of the original names, in hexadecimal digits.
    pub(super) fn digest(&self) -> &str {
        self.identity().digest()
    }

    fn identity(&self) -> &Identity {
        self.identity.get_or_init(|| Identity::new(self.subject.server, self.subject.tool))
    }

    /// The normalised names, joined as in a public name.
    pub(super) fn pair(&self) -> String {
        [&self.server, BETWEEN, &self.tool].concat()
    }

    /// Whether the tool's normalised name means this tool alone, as far as its public name shows.
    pub(super) fn has_plain_name(&self) -> bool {
        let Some(public) = self.subject.public else { return true };
        // Without a prefix there is nothing that could be taken for another server's part.
        if public.as_str() == self.tool {
            return true;
        }
        let rest =
            public.as_str().strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix(self.server.as_str()));
        rest.and_then(|rest| rest.strip_prefix(BETWEEN)) == Some(self.tool.as_str())
    }
}

/// The servers that are configured, by which the server part of a rule is understood.
#[derive(Clone, Debug, Default)]
pub struct KnownServers {
    by_normal: BTreeMap<String, Vec<ServerName>>,
}

impl KnownServers {
    /// Takes all configured servers, also those that do not run.
    #[must_use]
    pub fn new(servers: impl IntoIterator<Item = ServerName>) -> Self {
        let mut by_normal: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for server in servers {
            let same = by_normal.entry(normalise_server(&server)).or_default();
            if !same.contains(&server) {
                same.push(server);
            }
        }
        Self { by_normal }
    }

    /// The servers with this normalised name.
    pub(super) fn called(&self, normal: &str) -> &[ServerName] {
        self.by_normal.get(normal).map_or(&[], Vec::as_slice)
    }

    /// Every server with its normalised name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &ServerName)> {
        self.by_normal
            .iter()
            .flat_map(|(normal, same)| same.iter().map(move |server| (normal.as_str(), server)))
    }
}
