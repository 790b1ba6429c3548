//! Reads resources and templates as servers list them: clean, and one bad entry costs only itself (N7, B43).

use std::collections::HashSet;

use mcparley_model::limits::{DESCRIPTION_CHARS, URI_BYTES};
use mcparley_model::name::ServerName;
use mcparley_model::text::{clean, cut};
use mcparley_wire::RawJson;
use serde_json::Value;

use super::template::ResourceTemplate;
use super::{Annotations, Resource};
use crate::sample::Role;

/// The resources that can be read; of several with one address the first.
pub(super) fn resources(server: &ServerName, raw: &[RawJson]) -> Vec<Resource> {
    let mut seen = HashSet::new();
    let found = raw.iter().filter_map(|raw| resource(server, &raw.decode().ok()?));
    found.filter(|resource| seen.insert(resource.raw.clone())).collect()
}

/// The templates that can be filled in.
pub(super) fn templates(server: &ServerName, raw: &[RawJson]) -> Vec<ResourceTemplate> {
    raw.iter().filter_map(|raw| template(server, &raw.decode().ok()?)).collect()
}

/// What can be used of it: without an address there is nothing to ask for, and what is of another type is not there.
fn resource(server: &ServerName, fields: &Value) -> Option<Resource> {
    let raw = address(fields, "uri")?;
    let uri = one_line(raw);
    Some(Resource {
        server: server.clone(),
        name: line(fields, "name").unwrap_or_else(|| uri.clone()),
        uri,
        title: line(fields, "title"),
        description: text(fields, "description"),
        mime: line(fields, "mimeType"),
        size: fields.get("size").and_then(Value::as_u64),
        annotations: annotations(fields),
        raw: raw.to_owned(),
    })
}

fn template(server: &ServerName, fields: &Value) -> Option<ResourceTemplate> {
    let raw = address(fields, "uriTemplate")?;
    let uri_template = one_line(raw);
    Some(ResourceTemplate {
        server: server.clone(),
        name: line(fields, "name").unwrap_or_else(|| uri_template.clone()),
        uri_template,
        title: line(fields, "title"),
        description: text(fields, "description"),
        mime: line(fields, "mimeType"),
        annotations: annotations(fields),
        raw: raw.to_owned(),
    })
}

fn annotations(fields: &Value) -> Annotations {
    let Some(said) = fields.get("annotations") else { return Annotations::default() };
    let role = |word: &Value| match word.as_str()? {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    };
    let audience = said.get("audience").and_then(Value::as_array).into_iter().flatten();
    Annotations {
        audience: audience.filter_map(role).take(2).collect(),
        priority: said.get("priority").and_then(Value::as_f64).filter(|it| (0.0..=1.0).contains(it)),
        last_modified: line(said, "lastModified"),
    }
}

/// An address that is there and of a length that means something.
fn address<'v>(fields: &'v Value, name: &str) -> Option<&'v str> {
    fields.get(name)?.as_str().filter(|uri| !uri.is_empty() && uri.len() <= URI_BYTES)
}

/// A text of the server for people and models.
fn text(fields: &Value, name: &str) -> Option<String> {
    let text = fields.get(name)?.as_str()?;
    Some(cut(&clean(text), DESCRIPTION_CHARS).into_owned()).filter(|text| !text.is_empty())
}

/// The same on one line.
fn line(fields: &Value, name: &str) -> Option<String> {
    text(fields, name).map(|text| one_line(&text)).filter(|line| !line.is_empty())
}

fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
