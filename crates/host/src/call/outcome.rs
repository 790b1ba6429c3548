//! What a call gave, as values and as one text (R1). How it is read from an answer stands in [`super::shape`].

use mcparley_wire::{Failure, RawJson};
use serde::Serialize;
use serde::ser::{SerializeMap as _, SerializeStruct as _, Serializer};

use super::repeat::is_repeated;
use crate::results::Stored;

/// What a call gave. Every text in it is cleaned (N7), except for [`raw`](Self::raw).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// What there is to read, in the server's order.
    pub content: Vec<Block>,
    /// The result as data.
    pub structured: Option<RawJson>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// The answer as it came: for passing on, never for showing.
    pub raw: RawJson,
    /// Whether something was stored, cut or made smaller to fit into a model's window. Then [`raw`](Self::raw) says more
    /// than [`content`](Self::content) and [`structured`](Self::structured).
    pub is_fitted: bool,
    /// What was stored; the content tells of it.
    pub stored: Vec<Stored>,
}

/// One piece of what there is to read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(String),
    /// A picture.
    Image {
        /// Its type.
        mime: String,
        /// Its bytes in base64, as they came.
        data: String,
    },
    /// A sound.
    Audio {
        /// Its type.
        mime: String,
        /// Its bytes in base64, as they came.
        data: String,
    },
    /// A resource with its contents.
    Resource {
        /// Its address.
        uri: String,
        /// Its type.
        mime: Option<String>,
        /// Its contents.
        body: Body,
    },
    /// A resource that can be read.
    Link {
        /// Its address.
        uri: String,
        /// Its name; the address when the server gave none.
        name: String,
        /// A name for people.
        title: Option<String>,
        /// What it is.
        description: Option<String>,
        /// Its type.
        mime: Option<String>,
    },
    /// What we say in place of a block that cannot be used.
    Note(String),
}

/// The contents of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Text.
    Text(String),
    /// Bytes in base64, as they came.
    Blob(String),
}

impl TryFrom<RawJson> for Outcome {
    type Error = Failure;

    /// Reads the answer to a `tools/call`.
    ///
    /// # Errors
    /// [`Failure::Damaged`] when it is none. Damage within one block is noted in its place.
    fn try_from(answer: RawJson) -> Result<Self, Failure> {
        super::shape::shape(answer)
    }
}

impl Outcome {
    /// An answer in which nothing has been read yet.
    pub(crate) fn of(raw: RawJson) -> Self {
        let (content, stored) = (Vec::new(), Vec::new());
        Self { content, structured: None, is_error: false, raw, is_fitted: false, stored }
    }

    /// Everything as one text, for a model or whoever has no screen: what is no text is told in one line.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.content.iter().map(Block::length).sum());
        let mut is_first = true;
        let mut add = |parts: &[&str]| {
            if !std::mem::take(&mut is_first) {
                text.push('\n');
            }
            parts.iter().for_each(|part| text.push_str(part));
        };
        for block in &self.content {
            match block {
                Block::Text(text) => add(&[text]),
                Block::Image { mime, data } => add(&["[image ", mime, ", ", &size(data), "]"]),
                Block::Audio { mime, data } => add(&["[audio ", mime, ", ", &size(data), "]"]),
                Block::Resource { uri, body: Body::Text(text), .. } => add(&["[resource ", uri, "]\n", text]),
                Block::Resource { uri, mime, body: Body::Blob(data) } => {
                    let mime = mime.as_deref().unwrap_or("application/octet-stream");
                    add(&["[resource ", uri, " ", mime, ", ", &size(data), "]"]);
                }
                Block::Link { uri, name, title, description, mime: _ } => {
                    let name = title.as_deref().unwrap_or(name);
                    let said = description.as_deref().map(one_line).unwrap_or_default();
                    add(&["[link ", name, " ", uri, if said.is_empty() { "" } else { ": " }, &said, "]"]);
                }
                Block::Note(note) => add(&["[", note, "]"]),
            }
        }
        if let Some(structured) = self.unsaid() {
            add(&[structured.as_str()]);
        }
        if text.is_empty() { "(no content)".into() } else { text }
    }

    /// Everything as one text, in the memory it is in if it is one text already.
    pub(crate) fn into_text(mut self) -> String {
        let is_said = self.unsaid().is_none();
        match self.content.as_mut_slice() {
            [Block::Text(text)] if is_said => std::mem::take(text),
            _ => self.text(),
        }
    }

    /// The result as data, unless the texts say the same: the value itself, or what its only member holds (R7).
    #[must_use]
    pub fn unsaid(&self) -> Option<&RawJson> {
        self.structured.as_ref().filter(|structured| !self.says(structured))
    }

    /// Whether the texts say this value.
    fn says(&self, structured: &RawJson) -> bool {
        let texts = self.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        is_repeated(structured.as_str(), &texts)
    }
}

impl Block {
    /// About how long it is as text.
    fn length(&self) -> usize {
        match self {
            Self::Text(text) | Self::Note(text) | Self::Resource { body: Body::Text(text), .. } => {
                text.len() + 80
            }
            Self::Image { .. } | Self::Audio { .. } | Self::Resource { .. } | Self::Link { .. } => 80,
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How many bytes base64 stands for, for people.
fn size(base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() / 4 * 3 + base64.trim_end_matches('=').len() % 4 * 3 / 4;
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

impl Serialize for Outcome {
    /// The names of the protocol; the answer as it came is left out.
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

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        match self {
            Self::Text(text) => fields(&mut out, "text", &[("text", Some(text))])?,
            Self::Note(text) => fields(&mut out, "note", &[("text", Some(text))])?,
            Self::Image { mime, data } => {
                fields(&mut out, "image", &[("mimeType", Some(mime)), ("data", Some(data))])?;
            }
            Self::Audio { mime, data } => {
                fields(&mut out, "audio", &[("mimeType", Some(mime)), ("data", Some(data))])?;
            }
            Self::Resource { uri, mime, body } => {
                fields(&mut out, "resource", &[])?;
                out.serialize_entry("resource", &Contents { uri, mime_type: mime.as_deref(), body })?;
            }
            Self::Link { uri, name, title, description, mime } => {
                let about = [
                    ("uri", Some(uri)),
                    ("name", Some(name)),
                    ("title", title.as_ref()),
                    ("description", description.as_ref()),
                    ("mimeType", mime.as_ref()),
                ];
                fields(&mut out, "resource_link", &about)?;
            }
        }
        out.end()
    }
}

/// Writes the type and those fields that are there.
fn fields<M: serde::ser::SerializeMap>(
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

struct Contents<'b> {
    uri: &'b str,
    mime_type: Option<&'b str>,
    body: &'b Body,
}

impl Serialize for Contents<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("uri", self.uri)?;
        if let Some(mime) = self.mime_type {
            out.serialize_entry("mimeType", mime)?;
        }
        match self.body {
            Body::Text(text) => out.serialize_entry("text", text)?,
            Body::Blob(data) => out.serialize_entry("blob", data)?,
        }
        out.end()
    }
}
