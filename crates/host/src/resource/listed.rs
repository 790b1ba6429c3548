//! Parses resources and templates as servers list them: sanitized, and a bad entry is skipped alone.

use std::collections::HashSet;

use mcparley_model::limits::{DESCRIPTION_CHARS, URI_BYTES};
use mcparley_model::name::ServerName;
use mcparley_model::text::{clean_text, truncate_text};
use mcparley_wire::RawJson;
use serde_json::Value;

use super::template::ResourceTemplate;
use super::{ListedResource, ResourceAnnotations};
use mcparley_pool::sample::Role;

/// Parses the readable resources; of several with one URI the first.
pub(super) fn parse_resources(server: &ServerName, raw: &[RawJson]) -> Vec<ListedResource> {
    let mut seen = HashSet::new();
    let found = raw.iter().filter_map(|raw| parse_resource(server, &raw.decode().ok()?));
    found.filter(|resource| seen.insert(resource.raw.clone())).collect()
}

/// Parses the templates that can be expanded.
pub(super) fn parse_templates(server: &ServerName, raw: &[RawJson]) -> Vec<ResourceTemplate> {
    raw.iter().filter_map(|raw| parse_template(server, &raw.decode().ok()?)).collect()
}

/// Parses one resource. An entry without a URI is unusable; members of a wrong type count as absent.
fn parse_resource(server: &ServerName, fields: &Value) -> Option<ListedResource> {
    let raw = uri_field(fields, "uri")?;
    let uri = to_one_line(raw);
    Some(ListedResource {
        server: server.clone(),
        name: line_field(fields, "name").unwrap_or_else(|| uri.clone()),
        uri,
        title: line_field(fields, "title"),
        description: text_field(fields, "description"),
        mime: line_field(fields, "mimeType"),
        size: fields.get("size").and_then(Value::as_u64),
        annotations: parse_annotations(fields),
        raw: raw.to_owned(),
    })
}

fn parse_template(server: &ServerName, fields: &Value) -> Option<ResourceTemplate> {
    let raw = uri_field(fields, "uriTemplate")?;
    let uri_template = to_one_line(raw);
    Some(ResourceTemplate {
        server: server.clone(),
        name: line_field(fields, "name").unwrap_or_else(|| uri_template.clone()),
        uri_template,
        title: line_field(fields, "title"),
        description: text_field(fields, "description"),
        mime: line_field(fields, "mimeType"),
        annotations: parse_annotations(fields),
        raw: raw.to_owned(),
    })
}

fn parse_annotations(fields: &Value) -> ResourceAnnotations {
    let Some(said) = fields.get("annotations") else { return ResourceAnnotations::default() };
    let role = |word: &Value| match word.as_str()? {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    };
    let audience = said.get("audience").and_then(Value::as_array).into_iter().flatten();
    ResourceAnnotations {
        audience: audience.filter_map(role).take(2).collect(),
        priority: said.get("priority").and_then(Value::as_f64).filter(|it| (0.0..=1.0).contains(it)),
        last_modified: line_field(said, "lastModified"),
    }
}

/// A URI that is present and within the length limit.
fn uri_field<'v>(fields: &'v Value, name: &str) -> Option<&'v str> {
    fields.get(name)?.as_str().filter(|uri| !uri.is_empty() && uri.len() <= URI_BYTES)
}

/// A sanitized, shortened text of the server.
fn text_field(fields: &Value, name: &str) -> Option<String> {
    let text = fields.get(name)?.as_str()?;
    Some(truncate_text(&clean_text(text), DESCRIPTION_CHARS).into_owned()).filter(|text| !text.is_empty())
}

/// A sanitized text of the server on one line.
fn line_field(fields: &Value, name: &str) -> Option<String> {
    text_field(fields, name).map(|text| to_one_line(&text)).filter(|line| !line.is_empty())
}

fn to_one_line(text: &str) -> String {
    clean_text(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
