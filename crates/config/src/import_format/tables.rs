//! Parses the `[mcp_servers.NAME]` tables of a TOML file, with the place of every name.

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ImportError;
use super::declaration::ForeignDeclaration;
use mcparley_model::document::{JsonKind, SyntaxError};
use mcparley_model::scope::{ConfigOrigin, Source, TextPosition};

/// The servers declared in `text`, in the order of the file.
pub(super) fn parse_toml_servers(
    source: &Source,
    text: &str,
) -> Result<Vec<ForeignDeclaration>, ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = TomlLines::new(text);
    let root = DeTable::parse(text).map_err(|error| {
        ImportError::Syntax(SyntaxError {
            place: lines.place_at(error.span().map_or(0, |span| span.start)),
            reason: error.message().replace('\n', ", "),
            source_text: source.clone(),
        })
    })?;
    let Some((key, servers)) = root.get_ref().iter().find(|(key, _)| key.get_ref() == "mcp_servers") else {
        return Ok(Vec::new());
    };
    let origin = |offset| ConfigOrigin { source: source.clone(), place: Some(lines.place_at(offset)) };
    let DeValue::Table(servers) = servers.get_ref() else {
        return Err(ImportError::Shape {
            field: "`mcp_servers`".to_owned(),
            found: toml_kind(servers.get_ref()),
            origin: origin(key.span().start),
        });
    };
    Ok(in_order(servers)
        .into_iter()
        .map(|(key, value)| ForeignDeclaration {
            name: key.get_ref().to_string(),
            origin: origin(key.span().start),
            value: to_json(value.get_ref()),
        })
        .collect())
}

type TomlMember<'t, 'i> = (&'t Spanned<std::borrow::Cow<'i, str>>, &'t Spanned<DeValue<'i>>);

/// The members of a table in the order of the file; the parser sorts them by name.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<TomlMember<'t, 'i>> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    members
}

fn to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::String(number.to_string()), Value::from),
        // A number that JSON cannot express (`inf`, `nan`) stays text, and the field that expects a number
        // reports it.
        DeValue::Float(number) => number
            .as_str()
            .parse::<f64>()
            .ok()
            .and_then(serde_json::Number::from_f64)
            .map_or_else(|| Value::String(number.to_string()), Value::Number),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(time) => Value::String(time.to_string()),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| to_json(item.get_ref())).collect()),
        DeValue::Table(table) => Value::Object(
            in_order(table)
                .into_iter()
                .map(|(key, value)| (key.get_ref().to_string(), to_json(value.get_ref())))
                .collect::<Map<_, _>>(),
        ),
    }
}

fn toml_kind(value: &DeValue<'_>) -> JsonKind {
    match value {
        DeValue::String(_) | DeValue::Datetime(_) => JsonKind::String,
        DeValue::Integer(_) | DeValue::Float(_) => JsonKind::Number,
        DeValue::Boolean(_) => JsonKind::Boolean,
        DeValue::Array(_) => JsonKind::Array,
        DeValue::Table(_) => JsonKind::Object,
    }
}

/// The start offset of each line of a text, to convert offsets into line and column.
struct TomlLines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> TomlLines<'t> {
    fn new(text: &'t str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    fn place_at(&self, offset: usize) -> TextPosition {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count()) + 1;
        TextPosition {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}
