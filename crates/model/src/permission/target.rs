//! Decides which tools a rule's text means.
//!
//! `mcp__a__b__c` may mean tool `b__c` of server `a` or tool `c` of server `a__b`. The text is taken apart
//! in every possible way once, and the servers that exist decide which ways count. Where two do, the text
//! forbids both and permits neither: a server must not inherit permissions by choosing its name.

use std::collections::BTreeSet;

use serde::Serialize;

use super::index::Key;
use super::rule::RuleKind;
use super::subject::{KnownServers, Prepared};
use crate::glob::Glob;
use crate::limits::PUBLIC_NAME_LIMIT;
use crate::name::{
    BETWEEN, Identity, PREFIX, ServerName, ToolName, hash_digits, normalise, normalise_server_text,
};

/// One way to understand a rule, given the servers there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// The server, or a pattern for servers.
    pub server: String,
    /// The tool, or a pattern for tools.
    pub tool: String,
    /// What to write in a rule to mean just this, if the tool is called exactly so.
    pub instead: Option<String>,
}

/// A text with every way to take it apart.
#[derive(Debug)]
pub(super) struct Tools {
    text: Box<str>,
    splits: Vec<Split>,
    /// Whether the text ends like a public name with a hash.
    hashed: bool,
}

/// One way to take a text apart.
#[derive(Debug)]
struct Split {
    server: ServerPart,
    tool: ToolPart,
}

#[derive(Debug)]
enum ServerPart {
    Named { written: Box<str>, normal: Box<str> },
    Matching(Glob),
}

#[derive(Debug)]
enum ToolPart {
    Every,
    Named(Box<str>),
    Matching(Glob),
}

/// A split that some server gives a meaning to.
enum Meaning<'k> {
    /// Tools of one server.
    Of(&'k ServerName, &'k ToolPart),
    /// Tools of all servers that match a pattern.
    OfMatching(&'k Glob, &'k Split),
    /// A hashed name that may have been cut from this server's longer name.
    Cut(&'k ServerName),
}

impl Tools {
    /// Takes apart what follows `mcp__`; nothing if nothing follows.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX).filter(|rest| !rest.is_empty())?;
        let inner = rest.char_indices().map(|(at, _)| rest.split_at(at));
        let with_tool = inner.filter_map(|(server, tail)| Some((server, Some(tail.strip_prefix(BETWEEN)?))));
        // A pattern for servers ends before the first `__`: `mcp__slack__*` must not match `slack__evil`.
        let readable = |(server, _): &(&str, _)| !(server.contains('*') && server.contains(BETWEEN));
        let splits = with_tool.chain([(rest, None)]).filter(readable);
        Some(Self {
            text: Box::from(text),
            splits: splits.map(|(server, tool)| Split::new(server, tool)).collect(),
            hashed: hash_digits(text).is_some(),
        })
    }

    /// Whether the rule means the subject.
    pub(super) fn mean(&self, kind: RuleKind, subject: &Prepared<'_>, known: &KnownServers) -> bool {
        // A hash binds to one pair of original names, however else the text may be read.
        if self.hashed && subject.is_hashed_as(&self.text) {
            return true;
        }
        match kind {
            RuleKind::Ask | RuleKind::Deny => self.fit(subject),
            // Looking for other meanings costs more than seeing that this is none.
            RuleKind::Allow => self.fit(subject) && self.means_only(subject, known),
        }
    }

    fn fit(&self, subject: &Prepared<'_>) -> bool {
        self.splits.iter().any(|split| split.fits(subject))
    }

    /// Whether the text has one meaning, and the subject's server is part of it.
    fn means_only(&self, subject: &Prepared<'_>, known: &KnownServers) -> bool {
        let mut meanings = self.meanings(known);
        match (meanings.next(), meanings.next()) {
            (Some(Meaning::Of(server, tool)), None) => {
                server == subject.subject.server && tool.fits(subject) && tool.is_surely(subject)
            }
            (Some(Meaning::OfMatching(_, split)), None) => {
                split.fits(subject) && split.tool.is_surely(subject)
            }
            (Some(Meaning::Cut(_)) | None, None) | (_, Some(_)) => false,
        }
    }

    /// What a rule with this text is filed under.
    pub(super) fn keys(&self) -> BTreeSet<Key> {
        let hash = hash_digits(&self.text).and_then(|digits| self.text.get(self.text.len() - digits..));
        let hash = hash.map(|digits| Key::Hash(digits.to_owned()));
        self.splits.iter().map(Split::key).chain(hash).collect()
    }

    /// Every meaning the text has among the known servers, for people.
    pub(super) fn readings(&self, known: &KnownServers) -> Vec<Reading> {
        self.meanings(known).map(|meaning| meaning.reading(&self.text)).collect()
    }

    /// Whether the text may be bound by its hash, whatever else it could mean.
    pub(super) fn is_hashed(&self) -> bool {
        self.hashed
    }

    /// The server the text names at first sight.
    pub(super) fn first_server(&self) -> &str {
        match self.splits.first().map(|split| &split.server) {
            Some(ServerPart::Named { written, .. }) => written,
            Some(ServerPart::Matching(pattern)) => pattern.as_str(),
            None => "",
        }
    }

    fn meanings<'k>(&'k self, known: &'k KnownServers) -> impl Iterator<Item = Meaning<'k>> {
        self.splits.iter().flat_map(|split| split.meanings(known)).chain(self.cuts(known))
    }

    /// Servers whose name may have been shortened to one in the text; only a full-length name is shortened.
    fn cuts<'k>(&'k self, known: &'k KnownServers) -> impl Iterator<Item = Meaning<'k>> {
        let shortened = self.hashed && self.text.len() == PUBLIC_NAME_LIMIT;
        let is_cut = |name: &str, normal: &str| normal.len() > name.len() && normal.starts_with(name);
        let is_in_text = move |normal: &str| {
            self.splits.iter().any(|split| split.names_server().is_some_and(|name| is_cut(name, normal)))
        };
        let servers = shortened.then(|| known.iter()).into_iter().flatten();
        servers.filter(move |(normal, _)| is_in_text(normal)).map(|(_, server)| Meaning::Cut(server))
    }
}

impl Split {
    fn new(server: &str, tool: Option<&str>) -> Self {
        let server = if server.contains('*') {
            ServerPart::Matching(Glob::new(server))
        } else {
            ServerPart::Named { written: Box::from(server), normal: normalise_server_text(server).into() }
        };
        let tool = match tool {
            None => ToolPart::Every,
            Some(pattern) if pattern.contains('*') => ToolPart::Matching(Glob::new(pattern)),
            Some(name) => ToolPart::Named(Box::from(name)),
        };
        Self { server, tool }
    }

    fn fits(&self, subject: &Prepared<'_>) -> bool {
        let server_fits = match &self.server {
            ServerPart::Named { normal, .. } => **normal == *subject.server,
            ServerPart::Matching(pattern) => {
                pattern.matches(&subject.server) || pattern.matches(subject.subject.server.as_str())
            }
        };
        server_fits && self.tool.fits(subject)
    }

    /// What the names of every call it fits begin with.
    fn key(&self) -> Key {
        let tool = normalise(self.tool.head());
        match &self.server {
            ServerPart::Named { normal, .. } => Key::Pair([normal, BETWEEN, &tool].concat()),
            ServerPart::Matching(pattern) if tool.is_empty() => Key::Server(pattern.head().to_owned()),
            ServerPart::Matching(_) => Key::Tool(tool),
        }
    }

    fn names_server(&self) -> Option<&str> {
        match &self.server {
            ServerPart::Named { normal, .. } => Some(normal),
            ServerPart::Matching(_) => None,
        }
    }

    fn meanings<'k>(&'k self, known: &'k KnownServers) -> Vec<Meaning<'k>> {
        match &self.server {
            ServerPart::Named { written, normal } => {
                let same = known.called(normal);
                // Whoever spells a name that needs normalising means the server that is spelled so.
                let spelled = same.iter().filter(|server| written != normal && server.as_str() == &**written);
                let meant: Vec<_> = spelled.collect();
                let meant = if meant.is_empty() { same.iter().collect() } else { meant };
                meant.into_iter().map(|server| Meaning::Of(server, &self.tool)).collect()
            }
            ServerPart::Matching(pattern) => {
                let fits = |(normal, server): (&str, &ServerName)| {
                    pattern.matches(normal) || pattern.matches(server.as_str())
                };
                let any = known.iter().any(fits);
                any.then_some(Meaning::OfMatching(pattern, self)).into_iter().collect()
            }
        }
    }
}

impl ToolPart {
    fn fits(&self, subject: &Prepared<'_>) -> bool {
        let original = subject.subject.tool.as_str();
        match self {
            Self::Every => true,
            Self::Named(name) => **name == *original || **name == *subject.tool,
            Self::Matching(pattern) => pattern.matches(original) || pattern.matches(&subject.tool),
        }
    }

    /// Whether a part that fits means this tool and not another that is only normalised alike.
    fn is_surely(&self, subject: &Prepared<'_>) -> bool {
        match self {
            Self::Every | Self::Matching(_) => true,
            Self::Named(name) => **name == *subject.subject.tool.as_str() || subject.has_plain_name(),
        }
    }

    /// What the original or the normalised name of every tool it fits begins with.
    fn head(&self) -> &str {
        match self {
            Self::Every => "",
            Self::Named(name) => name,
            Self::Matching(pattern) => pattern.head(),
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Every => "*",
            Self::Named(name) => name,
            Self::Matching(pattern) => pattern.as_str(),
        }
    }
}

impl Meaning<'_> {
    fn reading(&self, text: &str) -> Reading {
        let (server, tool, instead) = match self {
            Self::Of(server, tool) => {
                let instead = match tool {
                    ToolPart::Named(name) => Some(Identity::new(server, &ToolName::new(name)).hashed(0)),
                    ToolPart::Every | ToolPart::Matching(_) => None,
                };
                (server.as_str(), tool.as_str(), instead)
            }
            Self::OfMatching(pattern, split) => (pattern.as_str(), split.tool.as_str(), None),
            Self::Cut(server) => (server.as_str(), text, None),
        };
        Reading { server: server.to_owned(), tool: tool.to_owned(), instead }
    }
}
