//! Assigns public names to tools.
//!
//! The assignment is a total function of the *set* of tools: the order of arrival must not decide which
//! tool keeps a name, or a slow start would hand one tool's permissions to another. [`super::candidates`] builds
//! the possible names; [`super::assigned`] stores the assigned ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::assigned::{AssignedName, AssignedNames};
use super::candidates::{ToolNameHash, bare_name, plain_name};
use super::{PublicName, ServerName, ToolName};

/// The public names of a catalog's tools, and the lookup from a public name to its tool. A clone shares
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicNames {
    given: Arc<AssignedNames>,
    /// Servers with tools that keep their own names, without a prefix.
    bare: HashSet<ServerName>,
    /// The names of tools that the host offers for a server, reserved so that the server's own tools cannot
    /// take them.
    host_names: HashMap<ServerName, HashMap<&'static str, PublicName>>,
}

impl PublicNames {
    /// Assigns a name to every pair; duplicate pairs are one pair.
    ///
    /// The name is `mcp__<server>__<tool>`. Where that is too long, or several pairs would have it, each of
    /// those pairs gets a name with a hash instead.
    #[must_use]
    pub fn assign(pairs: impl IntoIterator<Item = (ServerName, ToolName)>) -> Self {
        Self::default().extend(pairs)
    }

    /// Lets the tools of these servers keep their own names, without a prefix, where these are free.
    #[must_use]
    pub fn with_bare_servers(mut self, servers: impl IntoIterator<Item = ServerName>) -> Self {
        self.bare.extend(servers);
        self
    }

    /// Reserves names for tools that the host offers for a server, before the server's own tools can take
    /// them.
    pub fn reserve_for_host(&mut self, server: &ServerName, tools: &[&'static str]) {
        if self.host_names.contains_key(server) {
            return;
        }
        let mut kept = HashMap::new();
        for tool in tools {
            // One candidate competes with the names assigned before.
            let mut contest = NameCollisions::new(self, 1);
            contest.add_candidate(NameCandidate::new(server.clone(), ToolName::new(tool), false));
            kept.extend(contest.candidates.into_iter().map(|winner| (*tool, PublicName(winner.name))));
        }
        self.host_names.insert(server.clone(), kept);
    }

    /// The name that was reserved for a tool of the host.
    #[must_use]
    pub fn host_tool_name(&self, server: &ServerName, tool: &str) -> Option<&PublicName> {
        self.host_names.get(server)?.get(tool)
    }

    /// Removes the names that `keep` rejects.
    pub fn retain(&mut self, keep: impl Fn(&ServerName, &ToolName) -> bool) {
        self.given = Arc::new(self.given.filter_rows(|row| keep(&row.server, &row.tool)));
    }

    /// Assigns names to the pairs that have none yet; names already assigned do not change.
    #[must_use]
    pub fn extend(&self, pairs: impl IntoIterator<Item = (ServerName, ToolName)>) -> Self {
        let newcomers: HashSet<_> =
            pairs.into_iter().filter(|(server, tool)| self.public_name(server, tool).is_none()).collect();
        if newcomers.is_empty() {
            return self.clone();
        }
        let mut contest = NameCollisions::new(self, newcomers.len());
        for (server, tool) in newcomers {
            let is_bare = self.bare.contains(&server);
            contest.add_candidate(NameCandidate::new(server, tool, is_bare));
        }
        let named = |NameCandidate { server, tool, name, .. }| AssignedName {
            public: PublicName(name),
            server,
            tool,
        };
        let given = Arc::new(self.given.with_rows(contest.candidates.into_iter().map(named)));
        Self { given, ..self.clone() }
    }

    /// The public name of a tool.
    #[must_use]
    pub fn public_name(&self, server: &ServerName, tool: &ToolName) -> Option<&PublicName> {
        self.given.public_name(server, tool)
    }

    /// The tool that has a public name.
    #[must_use]
    pub fn find_tool(&self, public: &str) -> Option<(&ServerName, &ToolName)> {
        self.given.find_row(public).map(|row| (&row.server, &row.tool))
    }

    /// All public names with their tools, ordered by public name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&PublicName, &ServerName, &ToolName)> {
        self.given.rows().iter().map(|row| (&row.public, &row.server, &row.tool))
    }
}

impl Serialize for PublicNames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct PublicNameEntry<'a> {
            public: &'a PublicName,
            server: &'a ServerName,
            tool: &'a ToolName,
        }
        serializer.collect_seq(self.iter().map(|(public, server, tool)| PublicNameEntry {
            public,
            server,
            tool,
        }))
    }
}

/// A pair that competes for a name: it starts with the plain name and advances to longer hashes on
/// collisions.
struct NameCandidate {
    server: ServerName,
    tool: ToolName,
    /// The name it currently tries to take.
    name: Arc<str>,
    /// The number of hashed names it has tried.
    hashes: usize,
    identity: Option<ToolNameHash>,
}

impl NameCandidate {
    fn new(server: ServerName, tool: ToolName, is_bare: bool) -> Self {
        let first = if is_bare { bare_name(&tool) } else { plain_name(&server, &tool) };
        if let Some(name) = first {
            return Self { name: Arc::from(name), server, tool, hashes: 0, identity: None };
        }
        let mut candidate = Self { name: Arc::from(""), server, tool, hashes: 0, identity: None };
        candidate.try_next_hash();
        candidate
    }

    /// Advances to the next hashed name.
    fn try_next_hash(&mut self) {
        let identity = self.identity.get_or_insert_with(|| ToolNameHash::new(&self.server, &self.tool));
        self.name = Arc::from(identity.hashed_name(self.hashes));
        self.hashes += 1;
    }
}

/// The holder of a name during the assignment.
enum NameHolder {
    /// A tool that was named earlier and keeps its name.
    Settled,
    /// A candidate, by its index, that is the only one so far to try the name.
    Alone(usize),
    /// Several candidates, which all had to advance.
    Contested,
}

/// Resolves name collisions: candidates advance until no two have ever tried the name that either ends
/// with.
///
/// A contested name is never assigned. That makes the result the least fixed point of one rule ("a
/// candidate on a name that another one tried advances"), and so independent of the order of candidates;
/// and the work is one lookup for each name that was tried, however cleverly the tools are named.
struct NameCollisions {
    holders: HashMap<Arc<str>, NameHolder>,
    candidates: Vec<NameCandidate>,
}

impl NameCollisions {
    /// Starts with the names of `earlier` tools, and with the names they would have had without collisions.
    fn new(earlier: &PublicNames, newcomers: usize) -> Self {
        let ours = earlier.host_names.values().flat_map(HashMap::values);
        let given = earlier
            .given
            .rows()
            .iter()
            .map(|row| &row.public)
            .chain(ours)
            .map(|public| Arc::clone(&public.0));
        let contested = earlier.given.rows().iter().filter_map(|AssignedName { server, tool, .. }| {
            let is_bare = earlier.bare.contains(server);
            if is_bare { bare_name(tool) } else { plain_name(server, tool) }.map(Arc::from)
        });
        // Capacity for two names per tool, in case each tries two: growing a large map costs more than the
        // spare room.
        let mut holders = HashMap::with_capacity(2 * (earlier.given.rows().len() + newcomers));
        holders.extend(given.chain(contested).map(|name| (name, NameHolder::Settled)));
        Self { holders, candidates: Vec::with_capacity(newcomers) }
    }

    fn add_candidate(&mut self, candidate: NameCandidate) {
        let mut moving = vec![self.candidates.len()];
        self.candidates.push(candidate);
        while let Some(index) = moving.pop() {
            self.place_candidate(index, &mut moving);
        }
    }

    /// Puts one candidate on its name; candidates that have to advance are added to `moving`.
    fn place_candidate(&mut self, index: usize, moving: &mut Vec<usize>) {
        let Some(candidate) = self.candidates.get(index) else { return };
        let earlier = match self.holders.get(&candidate.name) {
            None => {
                self.holders.insert(Arc::clone(&candidate.name), NameHolder::Alone(index));
                return;
            }
            Some(NameHolder::Alone(earlier)) => Some(*earlier),
            Some(NameHolder::Settled | NameHolder::Contested) => None,
        };
        if earlier.is_some() {
            self.holders.insert(Arc::clone(&candidate.name), NameHolder::Contested);
        }
        for climbing in earlier.into_iter().chain([index]) {
            if let Some(candidate) = self.candidates.get_mut(climbing) {
                candidate.try_next_hash();
                moving.push(climbing);
            }
        }
    }
}
