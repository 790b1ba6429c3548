//! Completes `@server:uri`: servers with resources, their URIs, and variables of their templates.

use std::collections::BTreeMap;

use super::{Candidate, LineCompletion, QuestionSubject, TypedLine, ValueQuestion};
use crate::repl::known_names::{KnownNames, KnownResource};

/// Completes a mention.
pub(super) fn complete_mention(typed: &TypedLine, known: &KnownNames) -> LineCompletion {
    let mention = typed.current.trim_start_matches('@');
    let listed = known.resources.iter().chain(&known.templates);
    let Some((server, uri)) = split_mention(mention, known) else {
        let servers = listed.map(|resource| resource.server.as_str());
        return typed.offer(
            servers.filter_map(|server| Candidate::part(&format!("@{server}:"), "resources of this server")),
        );
    };
    let own = |resource: &&KnownResource| resource.server == server;
    let resources = known.resources.iter().filter(own);
    let resources = resources.filter_map(|it| Candidate::whole(&format!("@{server}:{}", it.uri), &it.title));
    let templates = known.templates.iter().filter(own);
    // The text before the first variable, to be completed further.
    let beginnings = templates.clone().filter_map(|it| {
        let beginning = it.uri.split('{').next().filter(|beginning| beginning.len() > uri.len())?;
        Candidate::part(&format!("@{server}:{beginning}"), &it.title)
    });
    let question = templates.filter_map(|it| ask_variable(server, &it.uri, uri)).next();
    LineCompletion { question, ..typed.offer(resources.chain(beginnings)) }
}

/// Splits a mention after the name of a server with resources, which may have colons itself.
fn split_mention<'m>(mention: &'m str, known: &KnownNames) -> Option<(&'m str, &'m str)> {
    let colons = mention.match_indices(':').map(|(place, _)| place);
    let mut splits = colons.filter_map(|place| Some((mention.get(..place)?, mention.get(place + 1..)?)));
    splits.find(|(server, _)| known.has_server(server))
}

/// The question for the variable of a template at which a URI ends.
fn ask_variable(server: &str, template: &str, uri: &str) -> Option<ValueQuestion> {
    let TemplatePosition { variable, value, known } = find_position(template, uri)?;
    let before = uri.strip_suffix(value)?;
    Some(ValueQuestion {
        subject: QuestionSubject::Template(template.to_owned()),
        server: server.to_owned(),
        argument: variable,
        value: value.to_owned(),
        known,
        before: format!("@{server}:{before}"),
    })
}

/// The variable of a template in which a typed URI ends.
struct TemplatePosition<'u> {
    variable: String,
    value: &'u str,
    /// The values of earlier variables.
    known: BTreeMap<String, String>,
}

/// Walks a template of literals and simple variables (`{id}`, `{+path}`) along a typed URI.
fn find_position<'u>(template: &str, uri: &'u str) -> Option<TemplatePosition<'u>> {
    let mut known = BTreeMap::new();
    let (mut template, mut rest) = (template, uri);
    loop {
        let (literal, behind) = template.split_once('{')?;
        rest = rest.strip_prefix(literal)?;
        let (variable, behind) = behind.split_once('}')?;
        let variable = variable.trim_start_matches(['+', '#', '/']).to_owned();
        let next_literal = behind.split('{').next().unwrap_or_default();
        match rest.find(next_literal).filter(|_| !next_literal.is_empty()) {
            Some(end) => {
                known.insert(variable, rest.get(..end)?.to_owned());
                rest = rest.get(end..)?;
                template = behind;
            }
            None => return Some(TemplatePosition { variable, value: rest, known }),
        }
    }
}
