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
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }
}
