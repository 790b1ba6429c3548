//! A content block as it is written, before anyone knows which kind it is.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// All fields a block of any kind has.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Piece<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) data: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) mime_type: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) resource: Option<Contents<'a>>,
    #[serde(borrow)]
    pub(super) uri: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) title: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) description: Option<Text<'a>>,
}

/// The contents of a resource.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Contents<'a> {
    #[serde(borrow)]
    pub(super) uri: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) mime_type: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) blob: Option<Text<'a>>,
}

/// A string, borrowed where it has no escapes.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl<'a> Piece<'a> {
    /// Reads what can be read; a field of another type counts as missing.
    pub(super) fn salvage(raw: &'a RawValue) -> Self {
        let fields = Fields::of(raw);
        let resource = fields.0.get("resource").map(|raw| {
            let fields = Fields::of(raw);
            Contents {
                uri: fields.text("uri"),
                mime_type: fields.text("mimeType"),
                text: fields.text("text"),
                blob: fields.text("blob"),
            }
        });
        Self {
            kind: fields.text("type"),
            text: fields.text("text"),
            data: fields.text("data"),
            mime_type: fields.text("mimeType"),
            resource,
            uri: fields.text("uri"),
            name: fields.text("name"),
            title: fields.text("title"),
            description: fields.text("description"),
        }
    }
}

/// The fields of an object by name, of several the last; none when it is no object.
struct Fields<'a>(HashMap<Cow<'a, str>, &'a RawValue>);

impl<'a> Fields<'a> {
    fn of(raw: &'a RawValue) -> Self {
        Self(serde_json::from_str(raw.get()).unwrap_or_default())
    }

    fn text(&self, name: &str) -> Option<Text<'a>> {
        let raw = self.0.get(name)?.get();
        serde_json::from_str(raw).ok().or_else(|| {
            let mended: String = serde_json::from_str(&mended(raw)?).ok()?;
            Some(Text(Cow::Owned(mended)))
        })
    }
}

/// A string with the replacement character for every half of a surrogate pair that stands alone: programs that
/// cut a text in the middle of an emoji write such halves (B09). Nothing when it is no string.
fn mended(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw.strip_prefix('"').map(|_| raw)?;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => 0,
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        if length == 0 {
            out.push_str("\\ufffd");
        }
        out.push_str(escape.get(..length)?);
        rest = escape.get(if length == 0 { 6 } else { length }..)?;
    }
    out.push_str(rest);
    Some(out)
}

/// The UTF-16 unit that an escape at the beginning stands for.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}
