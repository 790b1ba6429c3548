//! The raw fields of a content block, before its type has been checked.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The union of the fields of all block types.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct BlockFields<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    pub(super) data: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    pub(super) mime_type: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    pub(super) resource: Option<ResourceFields<'a>>,
    #[serde(borrow)]
    pub(super) uri: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    pub(super) name: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    pub(super) title: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    pub(super) description: Option<BorrowedText<'a>>,
}

/// The raw fields of an embedded resource.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ResourceFields<'a> {
    #[serde(borrow)]
    pub(super) uri: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    pub(super) mime_type: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    pub(super) blob: Option<BorrowedText<'a>>,
}

/// A string, borrowed if it has no escapes.
#[derive(Deserialize)]
pub(super) struct BorrowedText<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl<'a> BlockFields<'a> {
    /// Parses a damaged block leniently: a field of the wrong type counts as missing.
    pub(super) fn salvage(raw: &'a RawValue) -> Self {
        let fields = ObjectFields::from_json(raw);
        let resource = fields.0.get("resource").map(|raw| {
            let fields = ObjectFields::from_json(raw);
            ResourceFields {
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

/// The fields of a JSON object by name, the last one among duplicates; empty if the JSON is not an object.
struct ObjectFields<'a>(HashMap<Cow<'a, str>, &'a RawValue>);

impl<'a> ObjectFields<'a> {
    fn from_json(raw: &'a RawValue) -> Self {
        Self(serde_json::from_str(raw.get()).unwrap_or_default())
    }

    fn text(&self, name: &str) -> Option<BorrowedText<'a>> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }
}
