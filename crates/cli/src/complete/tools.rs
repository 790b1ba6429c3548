//! Completes tools and their arguments from the cache, without starting a server.

use std::ffi::OsStr;
use std::sync::Arc;

use clap::ArgMatches;
use clap_complete::engine::CompletionCandidate;
use mcparley::Host;
use mcparley::catalog::{Catalog, CatalogEntry};
use mcparley::config::StartPolicy;
use mcparley::model::text::is_shell_word;
use serde_json::{Map, Value};

use crate::args::{self, GlobalOptions};
use crate::context::{self, Context};
use crate::runtime;

/// Completes a server; a tool as `server.tool` once the word has a dot, and by its full name once it begins with
/// `mcp__`.
pub(super) fn complete_call_target(current: &OsStr) -> Vec<CompletionCandidate> {
    let is_public = current.as_encoded_bytes().starts_with(b"mcp__");
    if !is_public && !current.as_encoded_bytes().contains(&b'.') {
        return filter_by_prefix(current, super::server_candidates(|_| true));
    }
    let Some(catalog) = load_known_tools() else { return Vec::new() };
    let names: Vec<String> = catalog
        .iter()
        .filter_map(|entry| match is_public {
            true => entry.server().map(|_| entry.name.as_str().to_owned()),
            false => tool_path(entry),
        })
        .collect();
    filter_by_prefix(current, to_candidates(names.iter().map(String::as_str)))
}

/// Completes the tools of the server in the preceding word.
pub(super) fn complete_tool(current: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(line), Some(catalog)) = (CompletionLine::read_words(), load_known_tools()) else {
        return Vec::new();
    };
    filter_by_prefix(current, line.tool_candidates(&catalog))
}

/// Completes the tools of the server in the preceding word; after a tool, its arguments.
pub(super) fn complete_call_words(current: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(line), Some(catalog)) = (CompletionLine::read_words(), load_known_tools()) else {
        return Vec::new();
    };
    let candidates = match line.find_tool(&catalog) {
        Some((entry, given)) => {
            argument_candidates(entry, given, current.as_encoded_bytes().starts_with(b"-"))
        }
        None => line.tool_candidates(&catalog),
    };
    filter_by_prefix(current, candidates)
}

/// The words before the one to complete.
struct CompletionLine {
    target: String,
    words: Vec<String>,
}

impl CompletionLine {
    fn read_words() -> Option<Self> {
        let command = args::root_command().ignore_errors(true);
        let matches = command.try_get_matches_from(context::words_before()).ok()?;
        let matches = innermost_matches(&matches);
        let text = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
        let words = matches.try_get_many::<String>("words").ok().flatten();
        Some(Self {
            target: text("target").or_else(|| text("server"))?,
            words: words.into_iter().flatten().cloned().collect(),
        })
    }

    /// The tool in the line, and the words after it.
    fn find_tool<'r>(&self, catalog: &'r Catalog) -> Option<(&'r CatalogEntry, &[String])> {
        if let Some(entry) = catalog.get(&self.target) {
            return Some((entry, &self.words));
        }
        if let Some(entry) = catalog.iter().find(|entry| tool_path(entry).as_ref() == Some(&self.target)) {
            return Some((entry, &self.words));
        }
        let (tool, given) = self.words.split_first()?;
        let mut entries = catalog.iter();
        let entry = entries.find(|entry| self.is_of_server(entry) && entry.tool.name.as_str() == tool)?;
        Some((entry, given))
    }

    fn tool_candidates(&self, catalog: &Catalog) -> Vec<CompletionCandidate> {
        if !self.words.is_empty() {
            return Vec::new();
        }
        let entries = catalog.iter().filter(|entry| self.is_of_server(entry));
        to_candidates(entries.map(|entry| entry.tool.name.as_str()))
    }

    fn is_of_server(&self, entry: &CatalogEntry) -> bool {
        entry.server().is_some_and(|server| server.as_str() == self.target)
    }
}

/// The tool as `server.tool`.
fn tool_path(entry: &CatalogEntry) -> Option<String> {
    entry.server().map(|server| format!("{}.{}", server.as_str(), entry.tool.name.as_str()))
}

fn innermost_matches(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| innermost_matches(inner))
}

/// Loads the cached catalog without starting a server; `None` on any error.
fn load_known_tools() -> Option<Arc<Catalog>> {
    let context = Context::new(&GlobalOptions::default()).ok()?;
    let loaded = context.load().ok()?;
    let host =
        context.host_for_model(loaded, None).without_built_in_server().start_with(StartPolicy::OnDemand);
    runtime::run_with_idle_host(host, Host::catalog).ok()
}

/// The arguments that are not given yet, as `key=`, or as `--key` if the word begins with a dash.
fn argument_candidates(entry: &CatalogEntry, given: &[String], as_option: bool) -> Vec<CompletionCandidate> {
    let schema: Value = serde_json::from_str(entry.tool.input_schema.get()).unwrap_or_default();
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let is_given = |name: &str| {
        given.iter().any(|word| {
            let key = word.trim_start_matches('-').split(['=', ':']).next();
            key == Some(name)
        })
    };
    let names = properties.keys().filter(|name| is_shell_word(name) && !is_given(name));
    let shown = names.map(|name| if as_option { format!("--{name}") } else { format!("{name}=") });
    shown.map(CompletionCandidate::new).collect()
}

/// The names as sorted candidates, without names that a shell would expand: it inserts them unquoted, and a
/// server may name its tool `$(…)`.
fn to_candidates<'n>(names: impl Iterator<Item = &'n str>) -> Vec<CompletionCandidate> {
    let mut names: Vec<&str> = names.filter(|name| is_shell_word(name)).collect();
    names.sort_unstable();
    names.into_iter().map(CompletionCandidate::new).collect()
}

fn filter_by_prefix(current: &OsStr, candidates: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let begins = |candidate: &CompletionCandidate| {
        candidate.get_value().as_encoded_bytes().starts_with(current.as_encoded_bytes())
    };
    candidates.into_iter().filter(begins).collect()
}
