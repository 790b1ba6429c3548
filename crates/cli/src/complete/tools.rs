//! Completes tools and the names of their arguments, from what is remembered of the servers: none is started (U3).

use std::ffi::OsStr;

use clap::ArgMatches;
use clap_complete::engine::CompletionCandidate;
use mcparley::model::text::is_shell_word;
use mcparley::{Entry, Remembered, Start};
use serde_json::{Map, Value};

use crate::args::{self, Global};
use crate::context::{self, Context};

/// A server, or the whole name of a tool once it begins like one.
pub(crate) fn targets(current: &OsStr) -> Vec<CompletionCandidate> {
    if !current.as_encoded_bytes().starts_with(b"mcp__") {
        return matching(current, super::candidates(|_| true));
    }
    let Some(remembered) = remembered() else { return Vec::new() };
    let entries = remembered.catalog.iter().filter(|entry| entry.server().is_some());
    matching(current, named(entries.map(|entry| entry.name.as_str())))
}

/// The tools of the server that stands before.
pub(crate) fn tools(current: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(line), Some(remembered)) = (Line::read(), remembered()) else { return Vec::new() };
    matching(current, line.tools(&remembered))
}

/// The tools of the server that stands before; behind a tool, its arguments.
pub(crate) fn words(current: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(line), Some(remembered)) = (Line::read(), remembered()) else { return Vec::new() };
    let candidates = match line.tool(&remembered) {
        Some((entry, given)) => arguments(entry, given, current.as_encoded_bytes().starts_with(b"-")),
        None => line.tools(&remembered),
    };
    matching(current, candidates)
}

/// What stands before the word that is completed.
struct Line {
    target: String,
    words: Vec<String>,
}

impl Line {
    fn read() -> Option<Self> {
        let command = args::command().ignore_errors(true);
        let matches = command.try_get_matches_from(context::words_before()).ok()?;
        let matches = innermost(&matches);
        let text = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
        let words = matches.try_get_many::<String>("words").ok().flatten();
        Some(Self {
            target: text("target").or_else(|| text("server"))?,
            words: words.into_iter().flatten().cloned().collect(),
        })
    }

    /// The tool, and what stands behind it.
    fn tool<'r>(&self, remembered: &'r Remembered) -> Option<(&'r Entry, &[String])> {
        if let Some(entry) = remembered.catalog.get(&self.target) {
            return Some((entry, &self.words));
        }
        let (tool, given) = self.words.split_first()?;
        let mut entries = remembered.catalog.iter();
        let entry = entries.find(|entry| self.is_of_server(entry) && entry.tool.name.as_str() == tool)?;
        Some((entry, given))
    }

    fn tools(&self, remembered: &Remembered) -> Vec<CompletionCandidate> {
        if !self.words.is_empty() {
            return Vec::new();
        }
        let entries = remembered.catalog.iter().filter(|entry| self.is_of_server(entry));
        named(entries.map(|entry| entry.tool.name.as_str()))
    }

    fn is_of_server(&self, entry: &Entry) -> bool {
        entry.server().is_some_and(|server| server.as_str() == self.target)
    }
}

fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| innermost(inner))
}

/// What can be known without starting a server. Completion never fails.
fn remembered() -> Option<Remembered> {
    let context = Context::new(&Global::default()).ok()?;
    let loaded = context.load().ok()?;
    context.host(loaded).without_own_server().start_with(Start::OnDemand).remembered()
}

/// The arguments that are not given yet, as keys, or as options where one is begun.
fn arguments(entry: &Entry, given: &[String], as_option: bool) -> Vec<CompletionCandidate> {
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

/// A shell puts a candidate into the line as it is, and any server may have named its tool `$(…)`.
fn named<'n>(names: impl Iterator<Item = &'n str>) -> Vec<CompletionCandidate> {
    let mut names: Vec<&str> = names.filter(|name| is_shell_word(name)).collect();
    names.sort_unstable();
    names.into_iter().map(CompletionCandidate::new).collect()
}

fn matching(current: &OsStr, candidates: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let begins = |candidate: &CompletionCandidate| {
        candidate.get_value().as_encoded_bytes().starts_with(current.as_encoded_bytes())
    };
    candidates.into_iter().filter(begins).collect()
}
