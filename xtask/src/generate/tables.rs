//! The pages that are one table of the code each: fields, variables, exit codes, and the schema.

use std::path::Path;

use mcparley_cli::exit;
use mcparley_model::config::Kind;
use mcparley_model::config::field::{FIELDS, Field, OAUTH, Shape};
use mcparley_model::config::schema;
use mcparley_model::limits::VARIABLES;
use serde_json::{Map, Value};

use super::markdown::{code, table};
use super::{MARK, Page, REFERENCE};

/// The JSON Schema. JSON has no comments, but the schema language has a word for them.
pub(super) fn schema() -> Page {
    let mut marked = Map::from_iter([("$comment".to_owned(), Value::from(MARK))]);
    if let Value::Object(schema) = schema::schema() {
        marked.extend(schema);
    }
    let path = Path::new(REFERENCE).join("configuration.schema.json");
    Page { path, text: format!("{:#}\n", Value::Object(marked)) }
}

/// The fields of an entry.
pub(super) fn configuration() -> Page {
    let intro = "\
# Configuration

A server is an entry of `mcpServers`, under its name. Every string may hold `${VAR}` or `${VAR:-default}`.
Editors can check a file against [the schema](configuration.schema.json).

## Fields of a server
";
    let oauth = "\
## Fields of `oauth`
";
    let body = format!("{intro}\n{}\n{oauth}\n{}", fields(FIELDS), fields(OAUTH));
    Page::markdown("configuration.md", &body)
}

/// The environment variables.
pub(super) fn environment() -> Page {
    let rows = VARIABLES
        .iter()
        .map(|variable| [code(variable.name), variable.default.to_owned(), variable.meaning.to_owned()]);
    let table = table(["variable", "unless set", "meaning"], rows);
    Page::markdown("environment.md", &format!("# Environment variables\n\n{table}"))
}

/// The exit codes.
pub(super) fn exit_codes() -> Page {
    let rows = exit::ALL.map(|code| [code.number.to_string(), code.name.to_owned(), code.meaning.to_owned()]);
    let table = table(["code", "name", "meaning"], rows);
    Page::markdown("exit-codes.md", &format!("# Exit codes\n\n{table}"))
}

fn fields(fields: &[Field]) -> String {
    let rows = fields
        .iter()
        .map(|field| [code(field.name), shape(field.shape), kinds(field.kinds), field.meaning.to_owned()]);
    table(["field", "value", "servers", "meaning"], rows)
}

fn shape(shape: Shape) -> String {
    match shape {
        Shape::Text => "string".to_owned(),
        Shape::TextList => "list of strings".to_owned(),
        Shape::TextMap => "object of strings".to_owned(),
        Shape::Milliseconds => "milliseconds".to_owned(),
        Shape::Flag => "`true` or `false`".to_owned(),
        Shape::Globs => "list of globs".to_owned(),
        Shape::Choice(words) => words.iter().map(|word| code(word)).collect::<Vec<_>>().join(", "),
        Shape::Oauth => "[object](#fields-of-oauth)".to_owned(),
        Shape::Port => "port".to_owned(),
        Shape::Words => "list of words, or one string with spaces between them".to_owned(),
        Shape::Roots => "`false`, or a list of folders".to_owned(),
    }
}

fn kinds(kinds: &[Kind]) -> String {
    if kinds.len() == Kind::ALL.len() {
        return "all".to_owned();
    }
    kinds.iter().map(|kind| code(kind.as_str())).collect::<Vec<_>>().join(", ")
}
