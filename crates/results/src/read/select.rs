//! Selects one value of a JSON text by a JSON pointer (RFC 6901), without parsing the others.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::ReadResultError;
use crate::outline::{outline_json, visit_elements, visit_members};

/// A value selected by a JSON pointer.
#[derive(Debug)]
pub(super) struct SelectedValue<'j> {
    raw: &'j RawValue,
    pointer: &'j str,
}

/// Resolves a JSON pointer; the empty pointer selects the whole text.
pub(super) fn select_value<'j>(
    json: &'j str,
    pointer: &'j str,
) -> Result<SelectedValue<'j>, ReadResultError> {
    let mut raw: &RawValue = serde_json::from_str(json).map_err(|_| ReadResultError::NotJson)?;
    let nowhere = |because: String| ReadResultError::PointerNotFound { pointer: pointer.to_owned(), because };
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err(nowhere("a pointer begins with `/`".to_owned()));
    }
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        raw = find_part(raw, &name).map_err(nowhere)?;
    }
    Ok(SelectedValue { raw, pointer })
}

/// The member of that name, or the list element of that index.
fn find_part<'j>(raw: &'j RawValue, name: &str) -> Result<&'j RawValue, String> {
    let mut found = None;
    let mut count = 0_usize;
    match raw.get().as_bytes().first() {
        Some(b'{') => {
            visit_members(raw, &mut |member, value| {
                // Among duplicate names the last one wins, as everywhere in this program.
                if member == name {
                    found = Some(value);
                }
            });
            found.ok_or_else(|| format!("there is no member `{name}`"))
        }
        Some(b'[') => {
            let wanted: usize = name.parse().map_err(|_| format!("`{name}` is not a list index"))?;
            visit_elements(raw, usize::MAX, &mut |element| {
                if count == wanted {
                    found = Some(element);
                }
                count += 1;
            });
            found.ok_or_else(|| format!("the list has {count} elements, starting at 0"))
        }
        Some(_) | None => Err(format!("`{name}` not found: the value is not an object or a list")),
    }
}

impl SelectedValue<'_> {
    /// The text of a string, or the JSON of any other value.
    pub(super) fn text(&self) -> Cow<'_, str> {
        let json = self.raw.get();
        match serde_json::from_str::<String>(json) {
            Ok(string) if json.starts_with('"') => Cow::Owned(string),
            Ok(_) | Err(_) => Cow::Borrowed(json),
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text().into_owned()
    }

    /// The answer for a value that is too long: its outline, and the ways to read parts of it.
    pub(super) fn oversize_note(&self) -> String {
        let (text, pointer) = (self.text(), self.pointer);
        let (outline, part) = match outline_json(&text) {
            Some(outline) => (outline + "\n", "select a part of it, or "),
            None => (String::new(), ""),
        };
        let bytes = text.len();
        format!(
            "{outline}[the value at `{pointer}` has {bytes} bytes, too many to be given at once: {part}give `offset` and \
             `limit`, or `grep`, with this pointer]"
        )
    }
}
