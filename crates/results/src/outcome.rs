//! The outcome of a call, as content blocks and as one text. `shape` parses it from the server's answer.

use mcparley_json::RawJson;
use serde::Serialize;
use serde::ser::{SerializeMap as _, SerializeStruct as _, Serializer};

use crate::repeated_text::is_repeated;
use crate::stored::StoredResult;

/// The outcome of a call. All text in it is cleaned of control, bidi and zero-width characters, except in
/// [`raw`](Self::raw).
#[derive(Clone, Debug, PartialEq)]
pub struct CallOutcome {
    /// The content blocks, in the server's order.
    pub content: Vec<ContentBlock>,
    /// The structured content (`structuredContent`).
    pub structured: Option<RawJson>,
    /// Whether the tool returned an error (`isError`).
    pub is_error: bool,
    /// The unmodified answer: for forwarding, never for display.
    pub raw: RawJson,
    /// Whether a part was stored, cut or scaled down to fit into a model's context window. Then
    /// [`raw`](Self::raw) has more than [`content`](Self::content) and [`structured`](Self::structured).
    pub is_fitted: bool,
    /// The stored parts; notes in the content refer to them.
    pub stored: Vec<StoredResult>,
}

/// One content block of a result, prompt or resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentBlock {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// The MIME type.
        mime: String,
        /// The bytes in base64, as the server sent them.
        data: String,
    },
    /// Audio.
    Audio {
        /// The MIME type.
        mime: String,
        /// The bytes in base64, as the server sent them.
        data: String,
    },
    /// An embedded resource with its contents.
    Resource {
        /// The URI.
        uri: String,
        /// The MIME type.
        mime: Option<String>,
        /// The contents.
        body: ResourceBody,
    },
    /// A link to a resource that can be read.
    Link {
        /// The URI.
        uri: String,
        /// The name; the URI if the server gave none.
        name: String,
        /// The display name.
        title: Option<String>,
        /// The description.
        description: Option<String>,
        /// The MIME type.
        mime: Option<String>,
    },
    /// A note of ours in place of an unusable block.
    Note(String),
}

/// The contents of an embedded resource: text or bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes in base64, as the server sent them.
    Blob(String),
}

impl CallOutcome {
    /// An empty outcome for an answer that has not been parsed yet.
    #[must_use]
    pub fn from_raw(raw: RawJson) -> Self {
        let (content, stored) = (Vec::new(), Vec::new());
        Self { content, structured: None, is_error: false, raw, is_fitted: false, stored }
    }

    /// Renders the outcome as one text, for a model or a terminal; each binary block becomes one line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.content.iter().map(ContentBlock::estimated_length).sum());
        let mut is_first = true;
        let mut add = |parts: &[&str]| {
            if !std::mem::take(&mut is_first) {
                text.push('\n');
            }
            parts.iter().for_each(|part| text.push_str(part));
        };
        self.content.iter().for_each(|block| block.write_text(&mut add));
        if let Some(structured) = self.unrepeated_structured() {
            add(&[structured.as_str()]);
        }
        if text.is_empty() { "(no content)".into() } else { text }
    }

    /// Renders the outcome as one text, without a copy if it is a single text block.
    #[must_use]
    pub fn into_text(mut self) -> String {
        let is_said = self.unrepeated_structured().is_none();
        match self.content.as_mut_slice() {
            [ContentBlock::Text(text)] if is_said => std::mem::take(text),
            _ => self.to_text(),
        }
    }

    /// The structured content, unless the text blocks repeat it: the value itself, or the value of its only
    /// member. Otherwise a model would read the same data twice.
    #[must_use]
    pub fn unrepeated_structured(&self) -> Option<&RawJson> {
        self.structured.as_ref().filter(|structured| !self.is_repeated_in_text(structured))
    }

    /// Whether the text blocks repeat this value.
    fn is_repeated_in_text(&self, structured: &RawJson) -> bool {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        is_repeated(structured.as_str(), &texts)
    }
}

impl ContentBlock {
    /// Renders the block as text; a binary block becomes one line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.estimated_length());
        self.write_text(&mut |parts| parts.iter().for_each(|part| text.push_str(part)));
        text
    }

    /// Passes the pieces of the block's text to `add`, in one call.
    fn write_text(&self, add: &mut impl FnMut(&[&str])) {
        match self {
            Self::Text(text) => add(&[text]),
            Self::Image { mime, data } => add(&["[image ", mime, ", ", &format_size(data), "]"]),
            Self::Audio { mime, data } => add(&["[audio ", mime, ", ", &format_size(data), "]"]),
            Self::Resource { uri, body: ResourceBody::Text(text), .. } => {
                add(&["[resource ", uri, "]\n", text]);
            }
            Self::Resource { uri, mime, body: ResourceBody::Blob(data) } => {
                let mime = mime.as_deref().unwrap_or("application/octet-stream");
                add(&["[resource ", uri, " ", mime, ", ", &format_size(data), "]"]);
            }
            Self::Link { uri, name, title, description, mime: _ } => {
                let name = title.as_deref().unwrap_or(name);
                let said = description.as_deref().map(join_lines).unwrap_or_default();
                add(&["[link ", name, " ", uri, if said.is_empty() { "" } else { ": " }, &said, "]"]);
            }
            Self::Note(note) => add(&["[", note, "]"]),
        }
    }

    /// The approximate length of the block as text, to reserve memory.
    fn estimated_length(&self) -> usize {
        match self {
            Self::Text(text) | Self::Note(text) | Self::Resource { body: ResourceBody::Text(text), .. } => {
                text.len() + 80
            }
            Self::Image { .. } | Self::Audio { .. } | Self::Resource { .. } | Self::Link { .. } => 80,
        }
    }
}

fn join_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The decoded size of base64 data in human-readable form.
fn format_size(base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() / 4 * 3 + base64.trim_end_matches('=').len() % 4 * 3 / 4;
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

impl Serialize for CallOutcome {
    /// Uses the field names of the protocol and leaves out the raw answer.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let structured = self.structured.as_ref().and_then(RawJson::as_raw_value);
        let more = usize::from(structured.is_some()) + usize::from(!self.stored.is_empty());
        let mut out = serializer.serialize_struct("Outcome", 2 + more)?;
        out.serialize_field("isError", &self.is_error)?;
        out.serialize_field("content", &self.content)?;
        match structured {
            Some(structured) => out.serialize_field("structuredContent", structured)?,
            None => out.skip_field("structuredContent")?,
        }
        if self.stored.is_empty() {
            out.skip_field("stored")?;
        } else {
            out.serialize_field("stored", &self.stored)?;
        }
        out.end()
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        match self {
            Self::Text(text) => serialize_fields(&mut out, "text", &[("text", Some(text))])?,
            Self::Note(text) => serialize_fields(&mut out, "note", &[("text", Some(text))])?,
            Self::Image { mime, data } => {
                serialize_fields(&mut out, "image", &[("mimeType", Some(mime)), ("data", Some(data))])?;
            }
            Self::Audio { mime, data } => {
                serialize_fields(&mut out, "audio", &[("mimeType", Some(mime)), ("data", Some(data))])?;
            }
            Self::Resource { uri, mime, body } => {
                serialize_fields(&mut out, "resource", &[])?;
                out.serialize_entry(
                    "resource",
                    &SerializedResource { uri, mime_type: mime.as_deref(), body },
                )?;
            }
            Self::Link { uri, name, title, description, mime } => {
                let about = [
                    ("uri", Some(uri)),
                    ("name", Some(name)),
                    ("title", title.as_ref()),
                    ("description", description.as_ref()),
                    ("mimeType", mime.as_ref()),
                ];
                serialize_fields(&mut out, "resource_link", &about)?;
            }
        }
        out.end()
    }
}

/// Serializes the block type and the fields that are set.
fn serialize_fields<M: serde::ser::SerializeMap>(
    out: &mut M,
    kind: &str,
    fields: &[(&'static str, Option<&String>)],
) -> Result<(), M::Error> {
    out.serialize_entry("type", kind)?;
    fields.iter().try_for_each(|(name, value)| match value {
        Some(value) => out.serialize_entry(name, value),
        None => Ok(()),
    })
}

/// The contents of an embedded resource in the JSON form of the protocol.
struct SerializedResource<'b> {
    uri: &'b str,
    mime_type: Option<&'b str>,
    body: &'b ResourceBody,
}

impl Serialize for SerializedResource<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("uri", self.uri)?;
        if let Some(mime) = self.mime_type {
            out.serialize_entry("mimeType", mime)?;
        }
        match self.body {
            ResourceBody::Text(text) => out.serialize_entry("text", text)?,
            ResourceBody::Blob(data) => out.serialize_entry("blob", data)?,
        }
        out.end()
    }
}
