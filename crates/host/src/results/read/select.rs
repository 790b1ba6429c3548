//! Selects one value of a JSON text by a pointer (RFC 6901), without reading the others.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::super::outline::{elements, members, outline};
use super::ReadError;

/// A selected value.
#[derive(Debug)]
pub(super) struct Selected<'j> {
    raw: &'j RawValue,
    pointer: &'j str,
}

/// The value that the pointer leads to. `` is the whole.
pub(super) fn at<'j>(json: &'j str, pointer: &'j str) -> Result<Selected<'j>, ReadError> {
    let mut raw: &RawValue = serde_json::from_str(json).map_err(|_| ReadError::NoJson)?;
    let nowhere = |because: String| ReadError::Nowhere { pointer: pointer.to_owned(), because };
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err(nowhere("a pointer begins with `/`".to_owned()));
    }
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        raw = part(raw, &name).map_err(nowhere)?;
    }
    Ok(Selected { raw, pointer })
}

/// The member or element of that name.
fn part<'j>(raw: &'j RawValue, name: &str) -> Result<&'j RawValue, String> {
    let mut found = None;
    let mut count = 0_usize;
    match raw.get().as_bytes().first() {
        Some(b'{') => {
            members(raw, &mut |member, value| {
                // Of several the last, as everywhere.
                if member == name {
                    found = Some(value);
                }
            });
            found.ok_or_else(|| format!("there is no member `{name}`"))
        }
        Some(b'[') => {
            let wanted: usize = name.parse().map_err(|_| format!("`{name}` is no place in a list"))?;
            elements(raw, usize::MAX, &mut |element| {
                if count == wanted {
                    found = Some(element);
                }
                count += 1;
            });
            found.ok_or_else(|| format!("the list has {count} elements, and the first is 0"))
        }
        Some(_) | None => Err(format!("`{name}` is looked for in a value without parts")),
    }
}

impl Selected<'_> {
    /// A string as it reads, anything else as JSON.
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

    /// What is said of a value too long to be given.
    pub(super) fn outlined(&self) -> String {
        let (text, pointer) = (self.text(), self.pointer);
        let (outline, part) = match outline(&text) {
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
