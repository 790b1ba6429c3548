//! Finds tools by words or by name (N10): what is asked for, and what is found.
//!
//! | what | where |
//! |---|---|
//! | words of texts and names | `words`, `synonyms` |
//! | what of a tool is searched | `document` |
//! | which tool fits best | `index` |
//!
//! Finding a tool permits nothing: a call of it is judged like any other. What a rule denies whole is not found.

mod document;
mod index;
mod synonyms;
mod words;

use std::sync::Arc;

use mcparley_model::limits::{SEARCH_RESULTS, SEARCH_RESULTS_MOST, SEARCH_WORDS};
use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::text::clean;

use super::{BuiltIn, Catalog, Entry, Provider};
pub(super) use index::Index;
use index::Wanted;

/// What is looked for.
///
/// Words are ranked. `+word` must be part of the tool's or the server's name. `select:a,b` names tools: by their public
/// names, or by those their servers gave them where only one has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    form: Form,
    limit: usize,
    server: Option<ServerName>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Select(Vec<String>),
    Words(Vec<Wanted>),
}

/// What was found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Found {
    /// The tools, the best first.
    pub tools: Vec<Arc<Entry>>,
    /// How many more there are than were asked for.
    pub more: usize,
    /// The names after `select:` that mean no tool.
    pub unfound: Vec<Unfound>,
}

/// A name that means no tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfound {
    /// Nothing is called so.
    Unknown {
        /// The name.
        name: String,
        /// Names that look like it, the nearest first.
        similar: Vec<String>,
    },
    /// Several servers have a tool of this name.
    Ambiguous {
        /// The name.
        name: String,
        /// What they are called.
        candidates: Vec<PublicName>,
    },
}

impl SearchQuery {
    /// Reads what was typed. Words beyond the first 32 are left alone.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = clean(text);
        let form = match text.trim().strip_prefix("select:") {
            Some(names) => {
                let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
                Form::Select(names.map(str::to_owned).collect())
            }
            None => Form::Words(wanted(&text)),
        };
        Self { form, limit: SEARCH_RESULTS, server: None }
    }

    /// At most so many tools; never more than 50. Tools that are named are all given, up to that.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit: limit.clamp(1, SEARCH_RESULTS_MOST), ..self }
    }

    /// Only tools of this server.
    #[must_use]
    pub fn of_server(self, server: ServerName) -> Self {
        Self { server: Some(server), ..self }
    }

    /// The server whose tools alone are looked for.
    pub(crate) fn server(&self) -> Option<&ServerName> {
        self.server.as_ref()
    }

    /// Whether tools are named and not looked for.
    pub(crate) fn is_selection(&self) -> bool {
        matches!(self.form, Form::Select(_))
    }
}

/// The words of a query that say something; all of them if none does.
fn wanted(text: &str) -> Vec<Wanted> {
    let mut all: Vec<(String, bool)> = Vec::new();
    for part in text.split_whitespace() {
        let required = part.strip_prefix('+');
        words::each(required.unwrap_or(part), |word| all.push((word.to_owned(), required.is_some())));
    }
    let says_something = |(word, is_required): &(String, bool)| *is_required || !words::is_empty(word);
    if all.iter().any(says_something) {
        all.retain(says_something);
    }
    all.truncate(SEARCH_WORDS);
    all.into_iter()
        .map(|(mut stem, is_required)| {
            words::stem(&mut stem);
            Wanted { stem, is_required }
        })
        .collect()
}

impl Catalog {
    /// The tools that fit a query, the best first; those that fit alike in the order of the catalogue.
    #[must_use]
    pub fn search(&self, query: &SearchQuery) -> Found {
        match &query.form {
            Form::Select(names) => self.select(names, query),
            Form::Words(words) => self.rank(words, query),
        }
    }

    fn rank(&self, words: &[Wanted], query: &SearchQuery) -> Found {
        let mut scores = self.index().scores(words);
        scores.retain(|(place, _)| self.at(*place).is_some_and(|entry| self.can_be_found(entry, query)));
        let order =
            |one: &(u32, f32), other: &(u32, f32)| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0));
        let more = scores.len().saturating_sub(query.limit);
        if more > 0 {
            scores.select_nth_unstable_by(query.limit, order);
            scores.truncate(query.limit);
        }
        scores.sort_unstable_by(order);
        let tools = scores.iter().filter_map(|(place, _)| self.at(*place).cloned()).collect();
        Found { tools, more, unfound: Vec::new() }
    }

    fn select(&self, names: &[String], query: &SearchQuery) -> Found {
        let mut found = Found::default();
        for name in names {
            match self.named(name, query) {
                Ok(entry) if found.tools.iter().any(|known| known.name == entry.name) => {}
                Ok(_) if found.tools.len() >= SEARCH_RESULTS_MOST => found.more += 1,
                Ok(entry) => found.tools.push(entry),
                Err(unfound) => found.unfound.push(unfound),
            }
        }
        found
    }

    fn named(&self, name: &str, query: &SearchQuery) -> Result<Arc<Entry>, Unfound> {
        if let Some(entry) = self.get(name).filter(|entry| self.can_be_found(entry, query)) {
            return Ok(Arc::clone(entry));
        }
        let of_server = |entry: &&Arc<Entry>| entry.server().is_some() && entry.tool.name.as_str() == name;
        let so_called = self.iter().filter(of_server).filter(|entry| self.can_be_found(entry, query));
        match so_called.collect::<Vec<_>>().as_slice() {
            [entry] => Ok(Arc::clone(entry)),
            [] => Err(Unfound::Unknown { name: name.to_owned(), similar: self.findable_like(name, query) }),
            several => {
                let candidates = several.iter().map(|entry| entry.name.clone()).collect();
                Err(Unfound::Ambiguous { name: name.to_owned(), candidates })
            }
        }
    }

    fn findable_like(&self, name: &str, query: &SearchQuery) -> Vec<String> {
        let findable = self.iter().filter(|entry| self.can_be_found(entry, query));
        crate::sources::similar_names(name, findable.map(|entry| entry.name.as_str()))
    }

    /// Whoever searches has the tool for it.
    fn can_be_found(&self, entry: &Entry, query: &SearchQuery) -> bool {
        let is_of_server = match (&query.server, &entry.provider) {
            (None, _) => true,
            (Some(wanted), Provider::Server(server) | Provider::SignIn { server, .. }) => wanted == server,
            (Some(_), Provider::Host(_)) => false,
        };
        let is_search = entry.provider == Provider::Host(BuiltIn::ToolSearch);
        is_of_server && !is_search && entry.tool.audience.includes_model() && !self.is_denied(entry)
    }

    /// The words of all tools, taken apart when somebody first searches.
    fn index(&self) -> &Index {
        self.index.get_or_init(|| document::index(&self.entries))
    }

    fn at(&self, place: u32) -> Option<&Arc<Entry>> {
        self.entries.get(place as usize)
    }
}

#[cfg(test)]
mod tests;
