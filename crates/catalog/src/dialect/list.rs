//! List of tools for a request, and the conversion of a model's call.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcparley_model::limits::TOOLS_PER_REQUEST;
use mcparley_model::name::PublicName;
use mcparley_model::similar::similar_names;
use mcparley_model::tool::ToolLoading;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Dialect;
use super::envelope::{RequestTool, write_tools};
use super::rewrite::{RewrittenTool, WithheldReason};
use crate::budget::Budget;
use crate::catalog::Catalog;
use crate::entry::{CatalogEntry, ToolProvider};
use crate::model_offer::ModelOffer;

/// The tools for a model, in the format of its API.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelTools {
    /// The value of `tools` in a request. The same tools give the same bytes in the same order.
    pub tools: Box<RawValue>,
    /// The tools that the model has to search for. They may be called without a search, too.
    pub deferred: Vec<PublicName>,
    /// The tools that are left out, each with the reason. The other tools are not affected.
    pub withheld: Vec<(PublicName, WithheldReason)>,
    listed: HashMap<String, (PublicName, Arc<RewrittenTool>)>,
}

/// A call that a model requests, with the catalog's name and the tool's own arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    /// The tool's public name.
    pub name: PublicName,
    /// The arguments, restored for the tool's own schema.
    pub arguments: Value,
}

/// The error of a call that a model requests.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelCallError {
    /// The model was not shown a tool of this name.
    #[error("there is no tool `{name}`{}", similar_hint(similar))]
    Unknown {
        /// The name as the model wrote it.
        name: String,
        /// Similar names.
        similar: Vec<String>,
    },
    /// The arguments are a text that is not JSON.
    #[error("the arguments of `{name}` are not JSON")]
    NotJson {
        /// The tool.
        name: String,
    },
}

impl Catalog {
    /// The tools for a model within a budget, in the format of its API.
    #[must_use]
    pub fn for_model(&self, dialect: Dialect, budget: &Budget) -> ModelTools {
        self.model_offer(budget).for_model(dialect)
    }
}

impl ModelOffer {
    /// The tools of this offer in the format of a model's API.
    #[must_use]
    pub fn for_model(&self, dialect: Dialect) -> ModelTools {
        ModelTools::new(dialect, &self.listed, &self.deferred, self.search_tool())
    }
}

impl ModelTools {
    /// The list of these tools. With `search` the model can find tools that are not listed.
    pub(crate) fn new(
        dialect: Dialect,
        listed: &[Arc<CatalogEntry>],
        deferred: &[Arc<CatalogEntry>],
        search: Option<&Arc<CatalogEntry>>,
    ) -> Self {
        let name = |entry: &Arc<CatalogEntry>| entry.name.clone();
        let (mut deferred, mut withheld): (Vec<PublicName>, _) =
            (deferred.iter().map(name).collect(), Vec::new());
        let taken = select_tools(dialect, listed, search);
        let places: HashSet<&PublicName> = taken.iter().map(|shown| &shown.entry.name).collect();
        for entry in listed.iter().filter(|entry| !places.contains(&entry.name)) {
            match entry.translations().for_dialect(dialect, &entry.tool) {
                Err(why) => withheld.push((entry.name.clone(), why)),
                // A tool beyond the API's limit is deferred, if the model can search.
                Ok(_) if search.is_some() => deferred.push(entry.name.clone()),
                Ok(_) => withheld.push((entry.name.clone(), WithheldReason::TooMany)),
            }
        }
        let tools = write_tools(dialect, &taken).unwrap_or_else(|_| RawValue::NULL.to_owned());
        let known = taken.into_iter().map(|shown| (shown.name, (shown.entry.name.clone(), shown.rewritten)));
        Self { tools, deferred, withheld, listed: known.collect() }
    }

    /// Converts a model's call: `name` and `arguments` as it wrote them.
    ///
    /// OpenAI's APIs pass arguments as JSON text, which is accepted too.
    ///
    /// # Errors
    /// [`ModelCallError`]; its message is meant for the model.
    pub fn call(&self, name: &str, arguments: Value) -> Result<ModelCall, ModelCallError> {
        let arguments = match arguments {
            Value::Null => Value::Object(Map::new()),
            Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
            Value::String(text) => {
                serde_json::from_str(&text).map_err(|_| ModelCallError::NotJson { name: name.to_owned() })?
            }
            arguments => arguments,
        };
        if let Some((public, rewritten)) = self.listed.get(name) {
            return Ok(ModelCall {
                name: public.clone(),
                arguments: rewritten.restorer.restore_value(arguments),
            });
        }
        // A tool that was found by a search is shown with its own schema, so its arguments need no
        // conversion.
        if let Some(public) = self.deferred.iter().find(|public| public.as_str() == name) {
            return Ok(ModelCall { name: public.clone(), arguments });
        }
        let similar = similar_names(name, self.listed.keys().map(String::as_str));
        Err(ModelCallError::Unknown { name: name.to_owned(), similar })
    }

    /// The public names of listed tools whose definition was rewritten for the model.
    pub fn rewritten_names(&self) -> impl Iterator<Item = &PublicName> {
        self.listed.values().filter(|(_, rewritten)| rewritten.is_changed()).map(|(public, _)| public)
    }
}

/// Selects the tools that the API accepts, in order.
///
/// If there are too many, built-in tools and tools that must always be loaded come first, then the others.
fn select_tools<'e>(
    dialect: Dialect,
    listed: &'e [Arc<CatalogEntry>],
    search: Option<&'e Arc<CatalogEntry>>,
) -> Vec<RequestTool<'e>> {
    let shown = |entry: &'e Arc<CatalogEntry>| {
        let rewritten = entry.translations().for_dialect(dialect, &entry.tool).ok()?;
        Some(RequestTool { name: dialect.tool_name(entry.name.as_str()), entry, rewritten })
    };
    let mut all: Vec<RequestTool<'e>> = listed.iter().filter_map(shown).collect();
    let room = match dialect {
        Dialect::Anthropic => return all,
        Dialect::OpenAi | Dialect::OpenAiChat | Dialect::Gemini => TOOLS_PER_REQUEST,
    };
    if all.len() <= room {
        return all;
    }
    let is_listed = |entry: &&Arc<CatalogEntry>| all.iter().any(|shown| shown.entry.name == entry.name);
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

fn comes_first(entry: &CatalogEntry) -> bool {
    match entry.provider {
        ToolProvider::Host(_) | ToolProvider::SignIn { .. } => true,
        ToolProvider::Server(_) => entry.tool.loading == ToolLoading::Always,
    }
}

fn similar_hint(similar: &[String]) -> String {
    match similar {
        [] => String::new(),
        names => format!("; there is `{}`", names.join("`, `")),
    }
}
