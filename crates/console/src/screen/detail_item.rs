//! Resources and prompts as rows: parsed once from the lists of a server.

use mcparley::model::text::clean_json;
use serde::Deserialize;
use serde_json::Value;

/// A resource, a resource template or a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DetailItem {
    /// The row: the address of a resource, or the prompt with its arguments.
    pub(super) title: String,
    /// The remark at the end of the row: the type of a resource, or `template`.
    pub(super) remark: String,
    /// The definition as JSON, for the popup.
    pub(super) json: String,
}

#[derive(Deserialize)]
struct RawResource {
    #[serde(default)]
    uri: String,
    #[serde(default, rename = "uriTemplate")]
    uri_template: String,
    #[serde(default)]
    name: String,
    #[serde(default, rename = "mimeType")]
    mime_type: String,
}

#[derive(Deserialize)]
struct RawPrompt {
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    arguments: Vec<RawPromptArgument>,
}

#[derive(Deserialize)]
struct RawPromptArgument {
    #[serde(default)]
    name: String,
    #[serde(default)]
    required: bool,
}

impl DetailItem {
    /// A resource or a template of resources, as its server lists it.
    pub(super) fn from_resource(raw: &str) -> Self {
        let json = pretty_json(raw);
        let Ok(resource) = serde_json::from_str::<RawResource>(raw) else { return Self::unreadable(json) };
        let (address, mark) = match resource.uri_template.is_empty() {
            true => (resource.uri, ""),
            false => (resource.uri_template, "template"),
        };
        let title = if resource.name.is_empty() { address } else { format!("{address}  {}", resource.name) };
        let remark = [mark, &resource.mime_type].into_iter().filter(|word| !word.is_empty());
        Self { title, remark: remark.collect::<Vec<_>>().join("  "), json }
    }

    /// A prompt with its arguments, as its server lists it. An optional argument has a question mark.
    pub(super) fn from_prompt(raw: &str) -> Self {
        let json = pretty_json(raw);
        let Ok(prompt) = serde_json::from_str::<RawPrompt>(raw) else { return Self::unreadable(json) };
        let arguments = prompt.arguments.iter().map(|argument| {
            let mark = if argument.required { "" } else { "?" };
            format!("{}{mark}", argument.name)
        });
        let arguments: Vec<String> = arguments.collect();
        Self { title: format!("{}({})", prompt.name, arguments.join(", ")), remark: prompt.description, json }
    }

    fn unreadable(json: String) -> Self {
        Self { title: "(cannot be read)".to_owned(), remark: String::new(), json }
    }
}

/// JSON with indentation and without hidden characters.
pub(super) fn pretty_json(raw: &str) -> String {
    let cleaned = clean_json(raw);
    let pretty = serde_json::from_str::<Value>(&cleaned)
        .ok()
        .and_then(|value| serde_json::to_string_pretty(&value).ok());
    pretty.unwrap_or_else(|| cleaned.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // U4
    #[test]
    fn prompt_is_listed_with_its_arguments() {
        let raw = r#"{"name":"review","description":"Review a change","arguments":[
            {"name":"base","required":true},{"name":"style"}]}"#;
        let item = DetailItem::from_prompt(raw);
        assert_eq!((item.title.as_str(), item.remark.as_str()), ("review(base, style?)", "Review a change"));
        assert!(item.json.contains("\"required\": true"), "{}", item.json);
    }

    // U4
    #[test]
    fn resource_is_listed_with_its_address_and_type() {
        let rows = [
            (r#"{"uri":"file:///a","name":"a","mimeType":"text/plain"}"#, "file:///a  a", "text/plain"),
            (r#"{"uriTemplate":"db://{table}","name":"rows"}"#, "db://{table}  rows", "template"),
            (r#"{"uri":"x:"}"#, "x:", ""),
            ("7", "(cannot be read)", ""),
        ];
        for (raw, title, remark) in rows {
            let item = DetailItem::from_resource(raw);
            assert_eq!((item.title.as_str(), item.remark.as_str()), (title, remark), "{raw}");
        }
    }
}
