//! Completes the arguments of a tool call: names, and the values that the schema lists.

use serde_json::Value;

use super::Candidate;
use crate::arguments::{ArgumentHint, argument_hints};

/// The candidates for a word of a call: `key=`, `--key`, or `key=value` once the key is typed.
pub(super) fn argument_candidates(schema: &Value, given: &[String], current: &str) -> Vec<Candidate> {
    let hints = argument_hints(schema);
    if let Some((key, _)) = current.split_once('=') {
        let name = key.trim_start_matches("--");
        let hint = hints.iter().find(|hint| hint.name == name);
        return hint.map(|hint| value_candidates(hint, &format!("{key}="))).unwrap_or_default();
    }
    if let Some(hint) = previous_option(given).and_then(|name| hints.iter().find(|hint| hint.name == name))
        && !hint.values.is_empty()
        && !current.starts_with('-')
    {
        return value_candidates(hint, "");
    }
    let is_given = |name: &str| given.iter().any(|word| argument_name(word) == name);
    let missing = hints.iter().filter(|hint| hint.is_list || !is_given(&hint.name));
    match current.starts_with('-') {
        true => missing
            .filter_map(|hint| Candidate::whole(&format!("--{}", hint.name), &describe_argument(hint)))
            .collect(),
        false => missing
            .filter_map(|hint| Candidate::part(&format!("{}=", hint.name), &describe_argument(hint)))
            .collect(),
    }
}

fn value_candidates(hint: &ArgumentHint, before: &str) -> Vec<Candidate> {
    hint.values.iter().filter_map(|value| Candidate::whole(&format!("{before}{value}"), "")).collect()
}

fn describe_argument(hint: &ArgumentHint) -> String {
    let required = if hint.is_required { "required; " } else { "" };
    format!("{required}{}", hint.description)
}

/// The argument that a word sets: `key` of `key=value`, `key:=json` and `--key=value`.
fn argument_name(word: &str) -> &str {
    word.trim_start_matches("--").split(['=', ':']).next().unwrap_or_default()
}

/// The option that waits for its value in the next word: `--key` at the end of the given words.
fn previous_option(given: &[String]) -> Option<&str> {
    given.last()?.strip_prefix("--").filter(|name| !name.contains('='))
}
