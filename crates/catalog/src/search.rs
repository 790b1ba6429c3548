//! Tool search: parses a query, and finds tools by words or by name.
//!
//! Finding a tool grants no permission: its calls are checked like any other. Tools that a rule denies
//! entirely are not found.

use std::sync::Arc;

use mcparley_model::limits::{SEARCH_RESULTS, SEARCH_RESULTS_MOST, SEARCH_WORDS};
use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::similar::similar_names;
use mcparley_model::text::clean_text;

use crate::built_in::BuiltIn;
use crate::catalog::Catalog;
use crate::entry::{CatalogEntry, ToolProvider};
use crate::index::{QueryWord, SearchIndex, index_tools, words};

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
    Words(Vec<QueryWord>),
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

impl SearchQuery {
    /// Parses the text of a query. Words beyond the first 32 are ignored.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = clean_text(text);
        let form = match text.trim().strip_prefix("select:") {
            Some(names) => {
                let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
                QueryForm::Select(names.map(str::to_owned).collect())
            }
            None => QueryForm::Words(parse_words(&text)),
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

/// Parses the words of a query without stop words; all of them if there are only stop words.
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
    all.truncate(SEARCH_WORDS);
    all.into_iter()
        .map(|(mut stem, is_required)| {
            words::stem_word(&mut stem);
            QueryWord { stem, is_required }
        })
        .collect()
}

impl Catalog {
    /// Searches the catalog, the best match first; equal matches are in the order of the catalog.
    #[must_use]
    pub fn search_tools(&self, query: &SearchQuery) -> SearchResults {
        match &query.form {
            QueryForm::Select(names) => self.select_by_name(names, query),
            QueryForm::Words(words) => self.rank_tools(words, query),
        }
    }

    fn rank_tools(&self, words: &[QueryWord], query: &SearchQuery) -> SearchResults {
        let mut scores = self.index().score_documents(words);
        scores
            .retain(|(place, _)| self.entry_at(*place).is_some_and(|entry| self.can_be_found(entry, query)));
        let order =
            |one: &(u32, f32), other: &(u32, f32)| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0));
        let more = scores.len().saturating_sub(query.limit);
        if more > 0 {
            scores.select_nth_unstable_by(query.limit, order);
            scores.truncate(query.limit);
        }
        scores.sort_unstable_by(order);
        let tools = scores.iter().filter_map(|(place, _)| self.entry_at(*place).cloned()).collect();
        SearchResults { tools, more, unfound: Vec::new() }
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

    /// The search index, built on the first search.
    fn index(&self) -> &SearchIndex {
        self.index.get_or_init(|| index_tools(&self.entries))
    }

    fn entry_at(&self, place: u32) -> Option<&Arc<CatalogEntry>> {
        self.entries.get(place as usize)
    }
}

#[cfg(test)]
mod tests;
