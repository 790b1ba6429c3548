//! The list of tools that goes into a request, and what a model's answer means.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcparley_model::limits::TOOLS_PER_REQUEST;
use mcparley_model::name::PublicName;
use mcparley_model::tool::Loading;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Dialect;
use super::envelope::{Shown, written};
use super::rewrite::{Rewritten, Withholding};
use crate::call::Call;
use crate::catalog::{Entry, Provider};

/// What a model is told of the tools, in its API's form.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelTools {
    /// The value of `tools` in a request. The same tools give the same bytes in the same order.
    pub tools: Box<RawValue>,
    /// What the model has to search for. It may be called all the same.
    pub deferred: Vec<PublicName>,
    /// What it is not told of, and why. No other tool suffers from it (N8).
    pub withheld: Vec<(PublicName, Withholding)>,
    listed: HashMap<String, (PublicName, Arc<Rewritten>)>,
}

/// Why a model's wish is no call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelCallError {
    /// It was not told of such a tool.
    #[error("there is no tool `{name}`{}", like(similar))]
    Unknown {
        /// What it wrote.
        name: String,
        /// What it may have meant.
        similar: Vec<String>,
    },
    /// The arguments are a text that is not JSON.
    #[error("the arguments of `{name}` are not JSON")]
    NotJson {
        /// The tool.
        name: String,
    },
}

impl ModelTools {
    /// These tools for a model. With `search` it finds those that are not listed.
    pub(in crate::catalog) fn new(
        dialect: Dialect,
        listed: &[Arc<Entry>],
        deferred: &[Arc<Entry>],
        search: Option<&Arc<Entry>>,
    ) -> Self {
        let name = |entry: &Arc<Entry>| entry.name.clone();
        let (mut deferred, mut withheld): (Vec<PublicName>, _) =
            (deferred.iter().map(name).collect(), Vec::new());
        let taken = taken(dialect, listed, search);
        let places: HashSet<&PublicName> = taken.iter().map(|shown| &shown.entry.name).collect();
        for entry in listed.iter().filter(|entry| !places.contains(&entry.name)) {
            match entry.translations().of(dialect, &entry.tool) {
                Err(why) => withheld.push((entry.name.clone(), why)),
                // One more than the API takes waits to be searched for, if that is possible.
                Ok(_) if search.is_some() => deferred.push(entry.name.clone()),
                Ok(_) => withheld.push((entry.name.clone(), Withholding::TooMany)),
            }
        }
        let tools = written(dialect, &taken).unwrap_or_else(|_| RawValue::NULL.to_owned());
        let known = taken.into_iter().map(|shown| (shown.name, (shown.entry.name.clone(), shown.rewritten)));
        Self { tools, deferred, withheld, listed: known.collect() }
    }

    /// The call that a model wants: `name` and `arguments` as it wrote them. OpenAI's APIs give arguments as a text,
    /// and that will do.
    ///
    /// # Errors
    /// [`ModelCallError`]; its words are for the model.
    pub fn call(&self, name: &str, arguments: Value) -> Result<Call, ModelCallError> {
        let arguments = match arguments {
            Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
            Value::String(text) => {
                serde_json::from_str(&text).map_err(|_| ModelCallError::NotJson { name: name.to_owned() })?
            }
            arguments => arguments,
        };
        if let Some((public, rewritten)) = self.listed.get(name) {
            return Ok(Call::new(public.as_str(), rewritten.back.restore(arguments)));
        }
        // What is found by searching is shown as its server describes it.
        if self.deferred.iter().any(|public| public.as_str() == name) {
            return Ok(Call::new(name, arguments));
        }
        let similar = crate::sources::similar_names(name, self.listed.keys().map(String::as_str));
        Err(ModelCallError::Unknown { name: name.to_owned(), similar })
    }

    /// The listed tools of which the model is told something else than their servers say, by public name.
    pub fn rewritten(&self) -> impl Iterator<Item = &PublicName> {
        self.listed.values().filter(|(_, rewritten)| rewritten.is_changed()).map(|(public, _)| public)
    }
}

/// The tools that the API takes, in their order: if there are too many, the host's own and those that must be there,
/// then the others as they come.
fn taken<'e>(dialect: Dialect, listed: &'e [Arc<Entry>], search: Option<&'e Arc<Entry>>) -> Vec<Shown<'e>> {
    let shown = |entry: &'e Arc<Entry>| {
        let rewritten = entry.translations().of(dialect, &entry.tool).ok()?;
        Some(Shown { name: dialect.tool_name(entry.name.as_str()), entry, rewritten })
    };
    let mut all: Vec<Shown<'e>> = listed.iter().filter_map(shown).collect();
    let room = match dialect {
        Dialect::Anthropic => return all,
        Dialect::OpenAi | Dialect::OpenAiChat | Dialect::Gemini => TOOLS_PER_REQUEST,
    };
    if all.len() <= room {
        return all;
    }
    let is_listed = |entry: &&Arc<Entry>| all.iter().any(|shown| shown.entry.name == entry.name);
    all.extend(search.filter(|entry| !is_listed(entry)).and_then(shown));
    let must_be = all.iter().filter(|shown| comes_first(shown.entry)).count();
    let mut left = room.saturating_sub(must_be);
    all.retain(|shown| {
        let is_kept = comes_first(shown.entry) || left > 0;
        left -= usize::from(is_kept && !comes_first(shown.entry));
        is_kept
    });
    all.truncate(room);
    all
}

fn comes_first(entry: &Entry) -> bool {
    match entry.provider {
        Provider::Host(_) | Provider::SignIn { .. } => true,
        Provider::Server(_) => entry.tool.loading == Loading::Always,
    }
}

fn like(similar: &[String]) -> String {
    match similar {
        [] => String::new(),
        names => format!("; there is `{}`", names.join("`, `")),
    }
}
