//! The tool pattern of a permission rule: which tools the rule's text matches.
//!
//! `mcp__a__b__c` may mean tool `b__c` of server `a` or tool `c` of server `a__b`. The text is split in
//! every possible way once, and the existing servers decide which splits are valid. Where two are, the rule
//! denies both and allows neither: a server must not inherit permissions by choosing its name.

use std::collections::BTreeSet;

use serde::Serialize;

use super::index::RuleIndexKey;
use super::rule::RuleKind;
use super::subject::{KnownServers, NormalizedSubject};
use crate::glob::Glob;
use crate::limits::PUBLIC_NAME_LIMIT;
use crate::name::{
    BETWEEN, PREFIX, ServerName, ToolName, ToolNameHash, hash_digits, normalize_name, normalize_server_text,
};

/// One possible reading of a rule, given the known servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleReading {
    /// The server, or a pattern for servers.
    pub server: String,
    /// The tool, or a pattern for tools.
    pub tool: String,
    /// The unambiguous rule text for this reading, if the tool has exactly this name.
    pub instead: Option<String>,
}

/// The text of a rule with all its possible splits.
#[derive(Debug)]
pub(super) struct ToolPattern {
    text: Box<str>,
    splits: Vec<PatternSplit>,
    /// Whether the text ends like a public name with a hash.
    hashed: bool,
}

/// One split of a text into server and tool.
#[derive(Debug)]
struct PatternSplit {
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

/// A split that is valid for a known server.
enum RuleMeaning<'k> {
    /// Tools of one server.
    Of(&'k ServerName, &'k ToolPart),
    /// Tools of all servers that match a pattern.
    OfMatching(&'k Glob, &'k PatternSplit),
    /// A hashed name that may have been shortened from this server's longer name.
    Shortened(&'k ServerName),
}

impl ToolPattern {
    /// Splits the text after `mcp__`; `None` if it is empty.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX).filter(|rest| !rest.is_empty())?;
        let inner = rest.char_indices().map(|(at, _)| rest.split_at(at));
        let with_tool = inner.filter_map(|(server, tail)| Some((server, Some(tail.strip_prefix(BETWEEN)?))));
        // A pattern for servers ends before the first `__`: `mcp__slack__*` must not match `slack__evil`.
        let readable = |(server, _): &(&str, _)| !(server.contains('*') && server.contains(BETWEEN));
        let splits = with_tool.chain([(rest, None)]).filter(readable);
        Some(Self {
            text: Box::from(text),
            splits: splits.map(|(server, tool)| PatternSplit::new(server, tool)).collect(),
            hashed: hash_digits(text).is_some(),
        })
    }

    /// Whether the rule matches the subject.
    pub(super) fn matches_subject(
        &self,
        kind: RuleKind,
        subject: &NormalizedSubject<'_>,
        known: &KnownServers,
    ) -> bool {
        // A hash is bound to one pair of original names, regardless of other readings.
        if self.hashed && subject.is_hashed_as(&self.text) {
            return true;
        }
        match kind {
            RuleKind::Ask | RuleKind::Deny => self.has_matching_split(subject),
            // Checked first because it is cheaper than looking for other meanings.
            RuleKind::Allow => self.has_matching_split(subject) && self.is_unambiguous_for(subject, known),
        }
    }

    fn has_matching_split(&self, subject: &NormalizedSubject<'_>) -> bool {
        self.splits.iter().any(|split| split.matches_subject(subject))
    }

    /// Whether the text has exactly one meaning, and that meaning matches the subject.
    fn is_unambiguous_for(&self, subject: &NormalizedSubject<'_>, known: &KnownServers) -> bool {
        let mut meanings = self.meanings(known);
        match (meanings.next(), meanings.next()) {
            (Some(RuleMeaning::Of(server, tool)), None) => {
                server == subject.subject.server
                    && tool.matches_subject(subject)
                    && tool.names_exactly(subject)
            }
            (Some(RuleMeaning::OfMatching(_, split)), None) => {
                split.matches_subject(subject) && split.tool.names_exactly(subject)
            }
            (Some(RuleMeaning::Shortened(_)) | None, None) | (_, Some(_)) => false,
        }
    }

    /// The index keys of a rule with this text.
    pub(super) fn index_keys(&self) -> BTreeSet<RuleIndexKey> {
        let hash = hash_digits(&self.text).and_then(|digits| self.text.get(self.text.len() - digits..));
        let hash = hash.map(|digits| RuleIndexKey::Hash(digits.to_owned()));
        self.splits.iter().map(PatternSplit::index_key).chain(hash).collect()
    }

    /// The readings of the text among the known servers, for messages.
    pub(super) fn readings(&self, known: &KnownServers) -> Vec<RuleReading> {
        self.meanings(known).map(|meaning| meaning.to_reading(&self.text)).collect()
    }

    /// Whether the text may be bound by its hash, regardless of other meanings.
    pub(super) fn is_hashed(&self) -> bool {
        self.hashed
    }

    /// The server in the first split of the text.
    pub(super) fn first_server(&self) -> &str {
        match self.splits.first().map(|split| &split.server) {
            Some(ServerPart::Named { written, .. }) => written,
            Some(ServerPart::Matching(pattern)) => pattern.as_str(),
            None => "",
        }
    }

    fn meanings<'k>(&'k self, known: &'k KnownServers) -> impl Iterator<Item = RuleMeaning<'k>> {
        self.splits.iter().flat_map(|split| split.meanings(known)).chain(self.shortened_meanings(known))
    }

    /// The servers with a name that may have been shortened in the text; only names of full length are
    /// shortened.
    fn shortened_meanings<'k>(&'k self, known: &'k KnownServers) -> impl Iterator<Item = RuleMeaning<'k>> {
        let shortened = self.hashed && self.text.len() == PUBLIC_NAME_LIMIT;
        let is_cut = |name: &str, normal: &str| normal.len() > name.len() && normal.starts_with(name);
        let is_in_text = move |normal: &str| {
            self.splits.iter().any(|split| split.server_name().is_some_and(|name| is_cut(name, normal)))
        };
        let servers = shortened.then(|| known.iter()).into_iter().flatten();
        servers
            .filter(move |(normal, _)| is_in_text(normal))
            .map(|(_, server)| RuleMeaning::Shortened(server))
    }
}

impl PatternSplit {
    fn new(server: &str, tool: Option<&str>) -> Self {
        let server = if server.contains('*') {
            ServerPart::Matching(Glob::new(server))
        } else {
            ServerPart::Named { written: Box::from(server), normal: normalize_server_text(server).into() }
        };
        let tool = match tool {
            None => ToolPart::Every,
            Some(pattern) if pattern.contains('*') => ToolPart::Matching(Glob::new(pattern)),
            Some(name) => ToolPart::Named(Box::from(name)),
        };
        Self { server, tool }
    }

    fn matches_subject(&self, subject: &NormalizedSubject<'_>) -> bool {
        let server_fits = match &self.server {
            ServerPart::Named { normal, .. } => **normal == *subject.server,
            ServerPart::Matching(pattern) => {
                pattern.matches(&subject.server) || pattern.matches(subject.subject.server.as_str())
            }
        };
        server_fits && self.tool.matches_subject(subject)
    }

    /// The literal prefix of the names of every call that the split matches.
    fn index_key(&self) -> RuleIndexKey {
        let tool = normalize_name(self.tool.literal_prefix());
        match &self.server {
            ServerPart::Named { normal, .. } => RuleIndexKey::Pair([normal, BETWEEN, &tool].concat()),
            ServerPart::Matching(pattern) if tool.is_empty() => {
                RuleIndexKey::Server(pattern.literal_prefix().to_owned())
            }
            ServerPart::Matching(_) => RuleIndexKey::Tool(tool),
        }
    }

    fn server_name(&self) -> Option<&str> {
        match &self.server {
            ServerPart::Named { normal, .. } => Some(normal),
            ServerPart::Matching(_) => None,
        }
    }

    fn meanings<'k>(&'k self, known: &'k KnownServers) -> Vec<RuleMeaning<'k>> {
        match &self.server {
            ServerPart::Named { written, normal } => {
                let same = known.servers_named(normal);
                // A rule that spells out a name in need of normalization means exactly that server.
                let spelled = same.iter().filter(|server| written != normal && server.as_str() == &**written);
                let meant: Vec<_> = spelled.collect();
                let meant = if meant.is_empty() { same.iter().collect() } else { meant };
                meant.into_iter().map(|server| RuleMeaning::Of(server, &self.tool)).collect()
            }
            ServerPart::Matching(pattern) => {
                let fits = |(normal, server): (&str, &ServerName)| {
                    pattern.matches(normal) || pattern.matches(server.as_str())
                };
                let any = known.iter().any(fits);
                any.then_some(RuleMeaning::OfMatching(pattern, self)).into_iter().collect()
            }
        }
    }
}

impl ToolPart {
    fn matches_subject(&self, subject: &NormalizedSubject<'_>) -> bool {
        let original = subject.subject.tool.as_str();
        match self {
            Self::Every => true,
            Self::Named(name) => **name == *original || **name == *subject.tool,
            Self::Matching(pattern) => pattern.matches(original) || pattern.matches(&subject.tool),
        }
    }

    /// Whether a matching part means this tool, and not another one with the same normalized name.
    fn names_exactly(&self, subject: &NormalizedSubject<'_>) -> bool {
        match self {
            Self::Every | Self::Matching(_) => true,
            Self::Named(name) => **name == *subject.subject.tool.as_str() || subject.has_plain_name(),
        }
    }

    /// The literal prefix of the original or normalized name of every matching tool.
    fn literal_prefix(&self) -> &str {
        match self {
            Self::Every => "",
            Self::Named(name) => name,
            Self::Matching(pattern) => pattern.literal_prefix(),
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

impl RuleMeaning<'_> {
    fn to_reading(&self, text: &str) -> RuleReading {
        let (server, tool, instead) = match self {
            Self::Of(server, tool) => {
                let instead = match tool {
                    ToolPart::Named(name) => {
                        Some(ToolNameHash::new(server, &ToolName::new(name)).hashed_name(0))
                    }
                    ToolPart::Every | ToolPart::Matching(_) => None,
                };
                (server.as_str(), tool.as_str(), instead)
            }
            Self::OfMatching(pattern, split) => (pattern.as_str(), split.tool.as_str(), None),
            Self::Shortened(server) => (server.as_str(), text, None),
        };
        RuleReading { server: server.to_owned(), tool: tool.to_owned(), instead }
    }
}
