//! Reads the `[mcp_servers.NAME]` tables of a TOML text, with the place of every name.

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ImportError;
use super::declaration::Declaration;
use crate::document::{Kind, SyntaxError};
use crate::scope::{Origin, Place, Source};

/// The servers declared in `text`, in the order they are written.
pub(super) fn servers(source: &Source, text: &str) -> Result<Vec<Declaration>, ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines::of(text);
    let root = DeTable::parse(text).map_err(|error| {
        ImportError::Syntax(SyntaxError {
            place: lines.place(error.span().map_or(0, |span| span.start)),
            reason: error.message().replace('\n', ", "),
            source_text: source.clone(),
        })
    })?;
    let Some((key, servers)) = root.get_ref().iter().find(|(key, _)| key.get_ref() == "mcp_servers") else {
        return Ok(Vec::new());
    };
    let origin = |offset| Origin { source: source.clone(), place: Some(lines.place(offset)) };
    let DeValue::Table(servers) = servers.get_ref() else {
        return Err(ImportError::Shape {
            field: "`mcp_servers`".to_owned(),
            found: kind(servers.get_ref()),
            origin: origin(key.span().start),
        });
    };
    Ok(in_order(servers)
        .into_iter()
        .map(|(key, value)| Declaration {
            name: key.get_ref().to_string(),
            origin: origin(key.span().start),
            value: to_json(value.get_ref()),
        })
        .collect())
}

type Member<'t, 'i> = (&'t Spanned<std::borrow::Cow<'i, str>>, &'t Spanned<DeValue<'i>>);

/// The members as they are written; the parser sorts them by name.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Member<'t, 'i>> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    members
}

fn to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::String(number.to_string()), Value::from),
        // What JSON cannot hold (`inf`, `nan`) stays text, and the field that wants a number says so.
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

fn kind(value: &DeValue<'_>) -> Kind {
    match value {
        DeValue::String(_) | DeValue::Datetime(_) => Kind::String,
        DeValue::Integer(_) | DeValue::Float(_) => Kind::Number,
        DeValue::Boolean(_) => Kind::Boolean,
        DeValue::Array(_) => Kind::Array,
        DeValue::Table(_) => Kind::Object,
    }
}

/// Where each line of a text begins.
struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count()) + 1;
        Place {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}
