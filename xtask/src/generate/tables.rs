//! The pages with one table each: fields, variables and exit codes, and the JSON Schema.

use std::path::Path;

use mcparley_cli::exit;
use mcparley_model::config::TransportKind;
use mcparley_model::config::field::{EntryField, EntryFieldShape, FIELDS, OAUTH};
use mcparley_model::config::schema;
use mcparley_model::limits::VARIABLES;
use serde_json::{Map, Value};

use super::markdown::{render_code, render_table};
use super::{GeneratedPage, MARK, REFERENCE};

/// The JSON Schema. JSON has no comments, but JSON Schema has the keyword `$comment`.
pub(super) fn schema_page() -> GeneratedPage {
    let mut marked = Map::from_iter([("$comment".to_owned(), Value::from(MARK))]);
    if let Value::Object(schema) = schema::server_file_schema() {
        marked.extend(schema);
    }
    let path = Path::new(REFERENCE).join("configuration.schema.json");
    GeneratedPage { path, text: format!("{:#}\n", Value::Object(marked)) }
}

/// The page of configuration fields.
pub(super) fn configuration_page() -> GeneratedPage {
    let intro = "\
# Configuration

A server is an entry of `mcpServers`, under its name. Every string may hold `${VAR}` or `${VAR:-default}`.
Editors can check a file against [the schema](configuration.schema.json).

## Fields of a server
";
    let oauth = "\
## Fields of `oauth`
";
    let body = format!("{intro}\n{}\n{oauth}\n{}", render_fields(FIELDS), render_fields(OAUTH));
    GeneratedPage::markdown("configuration.md", &body)
}

/// The page of environment variables.
pub(super) fn environment_page() -> GeneratedPage {
    let rows = VARIABLES.iter().map(|variable| {
        [render_code(variable.name), variable.default.to_owned(), variable.meaning.to_owned()]
    });
    let table = render_table(["variable", "unless set", "meaning"], rows);
    GeneratedPage::markdown("environment.md", &format!("# Environment variables\n\n{table}"))
}

/// The page of exit codes.
pub(super) fn exit_codes_page() -> GeneratedPage {
    let rows = exit::ALL.map(|code| [code.number.to_string(), code.name.to_owned(), code.meaning.to_owned()]);
    let table = render_table(["code", "name", "meaning"], rows);
    GeneratedPage::markdown("exit-codes.md", &format!("# Exit codes\n\n{table}"))
}

fn render_fields(fields: &[EntryField]) -> String {
    let rows = fields.iter().map(|field| {
        [
            render_code(field.name),
            describe_shape(field.shape),
            describe_kinds(field.kinds),
            field.meaning.to_owned(),
        ]
    });
    render_table(["field", "value", "servers", "meaning"], rows)
}

fn describe_shape(shape: EntryFieldShape) -> String {
    match shape {
        EntryFieldShape::Text => "string".to_owned(),
        EntryFieldShape::TextList => "list of strings".to_owned(),
        EntryFieldShape::TextMap => "object of strings".to_owned(),
        EntryFieldShape::Milliseconds => "milliseconds".to_owned(),
        EntryFieldShape::Flag => "`true` or `false`".to_owned(),
        EntryFieldShape::Globs => "list of globs".to_owned(),
        EntryFieldShape::Choice(words) => {
            words.iter().map(|word| render_code(word)).collect::<Vec<_>>().join(", ")
        }
        EntryFieldShape::Oauth => "[object](#fields-of-oauth)".to_owned(),
        EntryFieldShape::Port => "port".to_owned(),
        EntryFieldShape::Words => "list of words, or one string with spaces between them".to_owned(),
        EntryFieldShape::Roots => "`false`, or a list of folders".to_owned(),
    }
}

fn describe_kinds(kinds: &[TransportKind]) -> String {
    if kinds.len() == TransportKind::ALL.len() {
        return "all".to_owned();
    }
    kinds.iter().map(|kind| render_code(kind.as_str())).collect::<Vec<_>>().join(", ")
}
