//! Decides which tool gets which public name.
//!
//! A total function of the *set* of tools: the order of arrival must not decide who keeps a name, or a
//! slow start would hand one tool's permissions to another. How names look is decided by [`super::form`]; those that
//! were given are kept by [`super::given`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::form::{Identity, bare, plain};
use super::given::{Given, Row};
use super::{PublicName, ServerName, ToolName};

/// The public names of a catalogue's tools, and the way back. A clone shares them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    given: Arc<Given>,
    /// Servers whose tools are called by their own names, without a prefix (N3).
    bare: HashSet<ServerName>,
    /// The names of tools the host itself offers for a server. None of the server's own can have one of them (B38).
    ours: HashMap<ServerName, HashMap<&'static str, PublicName>>,
}

impl Names {
    /// Names every pair; a pair given twice is one pair.
    ///
    /// The name is `mcp__<server>__<tool>`. Where that is too long, or several pairs would have it, every
    /// pair concerned gets a name with a hash instead.
    #[must_use]
    pub fn assign(pairs: impl IntoIterator<Item = (ServerName, ToolName)>) -> Self {
        Self::default().extend(pairs)
    }

    /// From now on the tools of these servers get their own names, without a prefix, where these are free (N3).
    #[must_use]
    pub fn with_bare(mut self, servers: impl IntoIterator<Item = ServerName>) -> Self {
        self.bare.extend(servers);
        self
    }

    /// Keeps names for tools that the host itself offers for a server, before the server's own can have them.
    pub fn keep_for_host(&mut self, server: &ServerName, tools: &[&'static str]) {
        if self.ours.contains_key(server) {
            return;
        }
        let mut kept = HashMap::new();
        for tool in tools {
            // A contest of one against the names that were given before.
            let mut contest = Contest::new(self, 1);
            contest.enter(Candidate::new(server.clone(), ToolName::new(tool), false));
            kept.extend(contest.candidates.into_iter().map(|winner| (*tool, PublicName(winner.name))));
        }
        self.ours.insert(server.clone(), kept);
    }

    /// The name that was kept for a tool of the host.
    #[must_use]
    pub fn of_host(&self, server: &ServerName, tool: &str) -> Option<&PublicName> {
        self.ours.get(server)?.get(tool)
    }

    /// Forgets the names that `keep` refuses.
    pub fn retain(&mut self, keep: impl Fn(&ServerName, &ToolName) -> bool) {
        self.given = Arc::new(self.given.retained(|row| keep(&row.server, &row.tool)));
    }

    /// Names the pairs that have no name yet; names already given stay as they are (N11).
    #[must_use]
    pub fn extend(&self, pairs: impl IntoIterator<Item = (ServerName, ToolName)>) -> Self {
        let newcomers: HashSet<_> =
            pairs.into_iter().filter(|(server, tool)| self.public(server, tool).is_none()).collect();
        if newcomers.is_empty() {
            return self.clone();
        }
        let mut contest = Contest::new(self, newcomers.len());
        for (server, tool) in newcomers {
            let is_bare = self.bare.contains(&server);
            contest.enter(Candidate::new(server, tool, is_bare));
        }
        let named = |Candidate { server, tool, name, .. }| Row { public: PublicName(name), server, tool };
        let given = Arc::new(self.given.with(contest.candidates.into_iter().map(named)));
        Self { given, ..self.clone() }
    }

    /// The public name of a tool.
    #[must_use]
    pub fn public(&self, server: &ServerName, tool: &ToolName) -> Option<&PublicName> {
        self.given.public(server, tool)
    }

    /// The tool behind a public name.
    #[must_use]
    pub fn original(&self, public: &str) -> Option<(&ServerName, &ToolName)> {
        self.given.original(public).map(|row| (&row.server, &row.tool))
    }

    /// Every public name and the tool behind it, in the order of the public names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&PublicName, &ServerName, &ToolName)> {
        self.given.rows().iter().map(|row| (&row.public, &row.server, &row.tool))
    }
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Entry<'a> {
            public: &'a PublicName,
            server: &'a ServerName,
            tool: &'a ToolName,
        }
        serializer.collect_seq(self.iter().map(|(public, server, tool)| Entry { public, server, tool }))
    }
}

/// A pair on its way to a name: it begins with the plain one and climbs to longer hashes while it must.
struct Candidate {
    server: ServerName,
    tool: ToolName,
    /// The name it stands on.
    name: Arc<str>,
    /// How many hashed names it has tried.
    hashes: usize,
    identity: Option<Identity>,
}

impl Candidate {
    fn new(server: ServerName, tool: ToolName, is_bare: bool) -> Self {
        let first = if is_bare { bare(&tool) } else { plain(&server, &tool) };
        if let Some(name) = first {
            return Self { name: Arc::from(name), server, tool, hashes: 0, identity: None };
        }
        let mut candidate = Self { name: Arc::from(""), server, tool, hashes: 0, identity: None };
        candidate.climb();
        candidate
    }

    /// Goes on to its next hashed name.
    fn climb(&mut self) {
        let identity = self.identity.get_or_insert_with(|| Identity::new(&self.server, &self.tool));
        self.name = Arc::from(identity.hashed(self.hashes));
        self.hashes += 1;
    }
}

/// Who stood on a name first.
enum Holder {
    /// A tool that was named earlier and does not move.
    Settled,
    /// A candidate, by its index, that has had the name for itself so far.
    Alone(usize),
    /// Several candidates, who all went on.
    Nobody,
}

/// Lets candidates climb until no two have ever stood on the name either ends on.
///
/// A name once contested stays free for good. That makes the outcome the least fixed point of one rule
/// ("whoever stands where another stood goes on"), and so independent of the order of entry; and the work is
/// one lookup for each name anyone stood on, however cleverly the tools are named.
struct Contest {
    holders: HashMap<Arc<str>, Holder>,
    candidates: Vec<Candidate>,
}

impl Contest {
    /// Begins with the names that `earlier` tools have, and those they would have had were it not for others.
    fn new(earlier: &Names, newcomers: usize) -> Self {
        let ours = earlier.ours.values().flat_map(HashMap::values);
        let given = earlier
            .given
            .rows()
            .iter()
            .map(|row| &row.public)
            .chain(ours)
            .map(|public| Arc::clone(&public.0));
        let contested = earlier.given.rows().iter().filter_map(|Row { server, tool, .. }| {
            let is_bare = earlier.bare.contains(server);
            if is_bare { bare(tool) } else { plain(server, tool) }.map(Arc::from)
        });
        // Twice as many names as tools, should each stand on two: growing a large map costs more than its room.
        let mut holders = HashMap::with_capacity(2 * (earlier.given.rows().len() + newcomers));
        holders.extend(given.chain(contested).map(|name| (name, Holder::Settled)));
        Self { holders, candidates: Vec::with_capacity(newcomers) }
    }

    fn enter(&mut self, candidate: Candidate) {
        let mut moving = vec![self.candidates.len()];
        self.candidates.push(candidate);
        while let Some(index) = moving.pop() {
            self.step(index, &mut moving);
        }
    }

    /// Puts one candidate on its name; whoever must go on, climbs and is put among the `moving`.
    fn step(&mut self, index: usize, moving: &mut Vec<usize>) {
        let Some(candidate) = self.candidates.get(index) else { return };
        let earlier = match self.holders.get(&candidate.name) {
            None => {
                self.holders.insert(Arc::clone(&candidate.name), Holder::Alone(index));
                return;
            }
            Some(Holder::Alone(earlier)) => Some(*earlier),
            Some(Holder::Settled | Holder::Nobody) => None,
        };
        if earlier.is_some() {
            self.holders.insert(Arc::clone(&candidate.name), Holder::Nobody);
        }
        for climbing in earlier.into_iter().chain([index]) {
            if let Some(candidate) = self.candidates.get_mut(climbing) {
                candidate.climb();
                moving.push(climbing);
            }
        }
    }
}
