//! Tool search: parses a query, and finds tools by words, by meaning if there are word vectors, or by name.
//!
//! Finding a tool grants no permission: its calls are checked like any other. Tools that a rule denies
//! entirely are not found.

mod fusion;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcparley_model::limits::{SEARCH_RESULTS, SEARCH_RESULTS_MOST, SEARCH_WORDS};
use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::similar::similar_names;
use mcparley_model::text::clean_text;

use crate::built_in::BuiltIn;
use crate::catalog::Catalog;
use crate::entry::{CatalogEntry, ToolProvider};
use crate::index::{NameMatch, QueryWord, SearchIndex, index_tools};
use crate::word_vectors::{WordVectors, WordVectorsSource};
use crate::words;
use fusion::{LEAST_COSINE, fuse_scores};

/// A search query.
///
/// Words are ranked. `+word` must be part of the tool's or the server's name. `select:a,b` names tools: by
/// their public names, or by their servers' own names if those are unambiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    form: QueryForm,
    limit: usize,
    server: Option<ServerName>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum QueryForm {
    Select(Vec<String>),
    Words { text: String, words: Vec<QueryWord> },
}

/// The results of a search.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SearchResults {
    /// The tools, the best match first.
    pub tools: Vec<Arc<CatalogEntry>>,
    /// The number of further matches beyond the limit.
    pub more: usize,
    /// The names after `select:` that match no tool.
    pub unfound: Vec<UnresolvedName>,
}

/// A name that could not be resolved to a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnresolvedName {
    /// No tool has this name.
    Unknown {
        /// The name.
        name: String,
        /// Similar names, the nearest first.
        similar: Vec<String>,
    },
    /// Several servers have a tool of this name.
    Ambiguous {
        /// The name.
        name: String,
        /// The public names of those tools.
        candidates: Vec<PublicName>,
    },
}

/// A tool that matches the words of a query.
struct RankedTool {
    /// How the query names the tool, if it does.
    name: Option<NameMatch>,
    score: f32,
    place: u32,
}

impl RankedTool {
    /// Named tools first, then by score, then in the order of the catalog.
    fn order(&self, other: &Self) -> Ordering {
        let by_name = other.name.cmp(&self.name);
        by_name.then(other.score.total_cmp(&self.score)).then(self.place.cmp(&other.place))
    }
}

impl SearchQuery {
    /// Parses the text of a query. Words beyond the first 64 different ones are ignored.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = clean_text(text);
        let form = match text.trim().strip_prefix("select:") {
            Some(names) => {
                let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
                QueryForm::Select(names.map(str::to_owned).collect())
            }
            None => QueryForm::Words { text: text.trim().to_owned(), words: parse_words(&text) },
        };
        Self { form, limit: SEARCH_RESULTS, server: None }
    }

    /// Limits the number of results; the maximum is 50. For `select:`, only that maximum applies.
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {
        Self { limit: limit.clamp(1, SEARCH_RESULTS_MOST), ..self }
    }

    /// Restricts the search to tools of this server.
    #[must_use]
    pub fn for_server(self, server: ServerName) -> Self {
        Self { server: Some(server), ..self }
    }

    /// The server that the search is restricted to.
    #[must_use]
    pub fn server(&self) -> Option<&ServerName> {
        self.server.as_ref()
    }

    /// Whether the query names tools (`select:`) instead of searching.
    #[must_use]
    pub fn is_selection(&self) -> bool {
        matches!(self.form, QueryForm::Select(_))
    }
}

/// Parses the words of a query without stop words; all of them if there are only stop words. A repeated word
/// counts once: in a long request, repetition says little about its subject.
fn parse_words(text: &str) -> Vec<QueryWord> {
    let mut all: Vec<(String, bool)> = Vec::new();
    for part in text.split_whitespace() {
        let required = part.strip_prefix('+');
        words::for_each_word(required.unwrap_or(part), |word| {
            all.push((word.to_owned(), required.is_some()))
        });
    }
    let says_something = |(word, is_required): &(String, bool)| *is_required || !words::is_stop_word(word);
    if all.iter().any(says_something) {
        all.retain(says_something);
    }
    let mut seen = HashSet::new();
    all.retain(|word| seen.insert(word.clone()));
    all.truncate(SEARCH_WORDS);
    all.into_iter().map(|(word, is_required)| QueryWord::new(word, is_required)).collect()
}

impl Catalog {
    /// Searches the catalog, the best match first. With word vectors, tools that mean the same in other words are
    /// found too. Equal matches are in the order of the catalog.
    #[must_use]
    pub fn search_tools(&self, query: &SearchQuery) -> SearchResults {
        match &query.form {
            QueryForm::Select(names) => self.select_by_name(names, query),
            QueryForm::Words { text, words } => self.rank_tools(text, words, query),
        }
    }

    fn rank_tools(&self, text: &str, words: &[QueryWord], query: &SearchQuery) -> SearchResults {
        let named = self.named_tools(text);
        let mut scores = self.index().score_documents(words);
        scores.retain(|(place, _)| self.is_candidate(*place, query));
        if let Some(vectors) = self.word_vectors() {
            scores = fuse_scores(&scores, &self.compare_meanings(vectors, (text, words), &scores, query));
        }
        let to_ranked = |(place, score)| RankedTool { name: named.get(&place).copied(), score, place };
        let mut ranked: Vec<RankedTool> = scores.into_iter().map(to_ranked).collect();
        let more = ranked.len().saturating_sub(query.limit);
        if more > 0 {
            ranked.select_nth_unstable_by(query.limit, RankedTool::order);
            ranked.truncate(query.limit);
        }
        ranked.sort_unstable_by(RankedTool::order);
        let tools = ranked.iter().filter_map(|tool| self.entry_at(tool.place).cloned()).collect();
        SearchResults { tools, more, unfound: Vec::new() }
    }

    /// The cosines of the tools that words have found, which are in the order of places, and of further tools
    /// that mean the same; these only if no word is required.
    fn compare_meanings(
        &self,
        vectors: &WordVectors,
        (text, words): (&str, &[QueryWord]),
        found: &[(u32, f32)],
        query: &SearchQuery,
    ) -> Vec<(u32, f32)> {
        let Some(meaning) = vectors.embed_text(text) else { return Vec::new() };
        let cosines = self.index().compare_meanings(&meaning);
        let of_found = |(place, _): &(u32, f32)| Some((*place, *cosines.get(*place as usize)?));
        let mut compared: Vec<(u32, f32)> = found.iter().filter_map(of_found).collect();
        if !words.iter().any(|word| word.is_required) {
            let is_found = |place: u32| found.binary_search_by_key(&place, |(place, _)| *place).is_ok();
            let further = (0_u32..).zip(cosines.iter().copied()).filter(|(place, cosine)| {
                *cosine >= LEAST_COSINE && !is_found(*place) && self.is_candidate(*place, query)
            });
            compared.extend(further);
        }
        compared
    }

    fn is_candidate(&self, place: u32, query: &SearchQuery) -> bool {
        self.entry_at(place).is_some_and(|entry| self.can_be_ranked(entry, query))
    }

    /// The tools that the query names, by their places.
    fn named_tools(&self, text: &str) -> HashMap<u32, NameMatch> {
        let mut named = HashMap::new();
        for (place, kind) in self.index().find_exact(text) {
            let is_literal = self
                .entry_at(place)
                .is_some_and(|entry| entry.tool.name.as_str() == text || entry.name.as_str() == text);
            let kind = if is_literal { NameMatch::Literal } else { kind };
            let known = named.entry(place).or_insert(kind);
            *known = kind.max(*known);
        }
        named
    }

    fn select_by_name(&self, names: &[String], query: &SearchQuery) -> SearchResults {
        let mut found = SearchResults::default();
        for name in names {
            match self.resolve_name(name, query) {
                Ok(entry) if found.tools.iter().any(|known| known.name == entry.name) => {}
                Ok(_) if found.tools.len() >= SEARCH_RESULTS_MOST => found.more += 1,
                Ok(entry) => found.tools.push(entry),
                Err(unfound) => found.unfound.push(unfound),
            }
        }
        found
    }

    fn resolve_name(&self, name: &str, query: &SearchQuery) -> Result<Arc<CatalogEntry>, UnresolvedName> {
        if let Some(entry) = self.get(name).filter(|entry| self.can_be_found(entry, query)) {
            return Ok(Arc::clone(entry));
        }
        let of_server =
            |entry: &&Arc<CatalogEntry>| entry.server().is_some() && entry.tool.name.as_str() == name;
        let so_called = self.iter().filter(of_server).filter(|entry| self.can_be_found(entry, query));
        match so_called.collect::<Vec<_>>().as_slice() {
            [entry] => Ok(Arc::clone(entry)),
            [] => Err(UnresolvedName::Unknown {
                name: name.to_owned(),
                similar: self.similar_findable(name, query),
            }),
            several => {
                let candidates = several.iter().map(|entry| entry.name.clone()).collect();
                Err(UnresolvedName::Ambiguous { name: name.to_owned(), candidates })
            }
        }
    }

    fn similar_findable(&self, name: &str, query: &SearchQuery) -> Vec<String> {
        let findable = self.iter().filter(|entry| self.can_be_found(entry, query));
        similar_names(name, findable.map(|entry| entry.name.as_str()))
    }

    /// Whether words may find the tool. Built-in tools are always listed, so that they would only displace
    /// others.
    fn can_be_ranked(&self, entry: &CatalogEntry, query: &SearchQuery) -> bool {
        !matches!(entry.provider, ToolProvider::Host(_)) && self.can_be_found(entry, query)
    }

    /// Whether the query may find the tool. `ToolSearch` itself is left out, because the client already has
    /// it.
    fn can_be_found(&self, entry: &CatalogEntry, query: &SearchQuery) -> bool {
        let is_of_server = match (&query.server, &entry.provider) {
            (None, _) => true,
            (Some(wanted), ToolProvider::Server(server) | ToolProvider::SignIn { server, .. }) => {
                wanted == server
            }
            (Some(_), ToolProvider::Host(_)) => false,
        };
        let is_search = entry.provider == ToolProvider::Host(BuiltIn::ToolSearch);
        is_of_server && !is_search && entry.tool.audience.includes_model() && !self.is_denied(entry)
    }

    /// Builds the search index, unless it is built already. For thousands of tools that takes a tenth of a
    /// second, which the first search takes otherwise.
    pub fn prepare_search(&self) {
        self.index();
    }

    /// Whether the search index is built.
    #[must_use]
    pub fn is_search_prepared(&self) -> bool {
        self.index.get().is_some()
    }

    /// The search index, built on the first search at the latest.
    fn index(&self) -> &SearchIndex {
        self.index.get_or_init(|| index_tools(&self.entries, self.word_vectors()))
    }

    /// The word vectors, if there are any; read now if they were not before.
    fn word_vectors(&self) -> Option<&WordVectors> {
        self.vectors.as_deref().and_then(WordVectorsSource::vectors)
    }

    fn entry_at(&self, place: u32) -> Option<&Arc<CatalogEntry>> {
        self.entries.get(place as usize)
    }
}

#[cfg(test)]
mod meaning_tests;
#[cfg(test)]
mod tests;
