//! Completes the arguments of a prompt: their names here, their values by a question to the server.

use std::collections::BTreeMap;

use super::{Candidate, LineCompletion, QuestionSubject, TypedLine, ValueQuestion};
use crate::repl::known_names::KnownPrompt;

/// Completes a word after a prompt's command.
pub(super) fn complete_argument(prompt: &KnownPrompt, words: &[String], typed: &TypedLine) -> LineCompletion {
    let filled = assign_words(prompt, words);
    let names = || prompt.arguments.iter().map(|(name, _)| name.as_str());
    let named = typed.current.split_once('=').filter(|(name, _)| names().any(|it| it == *name));
    if let Some((name, value)) = named {
        let question = ask_value(prompt, name, value, filled, &format!("{name}="));
        return LineCompletion { question: Some(question), ..typed.offer([]) };
    }
    let missing = || prompt.arguments.iter().filter(|(name, _)| !filled.contains_key(name));
    let Some((next, _)) = missing().next() else { return typed.offer([]) };
    let candidates = missing().filter_map(|(name, about)| Candidate::part(&format!("{name}="), about));
    let offered = typed.offer(candidates);
    let question = ask_value(prompt, next, &typed.current, filled.clone(), "");
    LineCompletion { question: Some(question), ..offered }
}

/// The values of the words before the cursor, by argument: `name=value`, or the next argument without one.
fn assign_words(prompt: &KnownPrompt, words: &[String]) -> BTreeMap<String, String> {
    let mut filled = BTreeMap::new();
    for word in words {
        let is_argument = |name: &str| prompt.arguments.iter().any(|(it, _)| it == name);
        let named = word.split_once('=').filter(|(name, _)| is_argument(name));
        let next = || prompt.arguments.iter().map(|(name, _)| name).find(|name| !filled.contains_key(*name));
        let (name, value) = match (named, next()) {
            (Some((name, value)), _) => (name.to_owned(), value),
            (None, Some(next)) => (next.clone(), word.as_str()),
            (None, None) => break,
        };
        filled.insert(name, value.to_owned());
    }
    filled
}

fn ask_value(
    prompt: &KnownPrompt,
    argument: &str,
    value: &str,
    known: BTreeMap<String, String>,
    before: &str,
) -> ValueQuestion {
    ValueQuestion {
        subject: QuestionSubject::Prompt(prompt.name.clone()),
        server: prompt.server.clone(),
        argument: argument.to_owned(),
        value: value.to_owned(),
        known,
        before: before.to_owned(),
    }
}
