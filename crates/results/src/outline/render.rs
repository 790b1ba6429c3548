//! Renders an outline within a length limit, by showing fewer names per object until it fits.

use std::borrow::Cow;

use mcparley_model::text::{clean_text, truncate_text};

use super::{ListShape, MemberShape, ObjectShape, ValueShape};

/// The numbers of names per object to try, widest first.
const WIDTHS: [usize; 6] = [40, 24, 12, 6, 3, 1];

/// The number of characters shown of one name.
const NAME_CHARS: usize = 40;

/// Renders the outline with as many names as fit into `limit` characters.
pub(super) fn render_within(shape: &ValueShape, limit: usize) -> String {
    let written = WIDTHS.into_iter().map(|width| {
        let mut text = String::new();
        write_shape(&mut text, shape, width);
        text
    });
    let fits = |text: &String| text.chars().count() <= limit;
    let nothing = || if shape.object.is_some() { "{…}" } else { "[…]" }.to_owned();
    written.into_iter().find(fits).unwrap_or_else(nothing)
}

/// Writes the types of the values at one place, separated by `|`.
fn write_shape(out: &mut String, shape: &ValueShape, width: usize) {
    let ValueShape { plain, list, object } = shape;
    let mut is_first = true;
    let mut next = |out: &mut String| {
        if !std::mem::take(&mut is_first) {
            out.push('|');
        }
    };
    if let Some(object) = object {
        next(out);
        write_object(out, object, width);
    }
    if let Some(list) = list {
        next(out);
        write_list(out, list, width);
    }
    let kinds = [
        (plain.string, "string"),
        (plain.number, "number"),
        (plain.boolean, "boolean"),
        (plain.null, "null"),
    ];
    for (_, kind) in kinds.into_iter().filter(|(is_seen, _)| *is_seen) {
        next(out);
        out.push_str(kind);
    }
}

fn write_list(out: &mut String, list: &ListShape, width: usize) {
    out.push('[');
    match list {
        ListShape::Closed => out.push('…'),
        ListShape::Elements(all) => {
            if let Some(all) = all.as_ref() {
                write_shape(out, all, width);
            }
        }
    }
    out.push(']');
}

fn write_object(out: &mut String, object: &ObjectShape, width: usize) {
    let ObjectShape::Open { names, seen, more } = object else { return out.push_str("{…}") };
    out.push('{');
    for (at, MemberShape { name, shape, seen: times }) in names.iter().take(width).enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        out.push_str(&quote_name(name));
        out.push_str(if times < seen { "?: " } else { ": " });
        write_shape(out, shape, width);
    }
    if *more || names.len() > width {
        out.push_str(if names.is_empty() { "…" } else { ", …" });
    }
    out.push('}');
}

/// Quotes a member name for a one-line outline: cleaned, shortened, and in quotes unless it is a plain word.
/// Otherwise a name could pose as other text of the note.
fn quote_name(name: &str) -> Cow<'_, str> {
    let is_plain = |text: &str| {
        !text.is_empty()
            && text.chars().all(|character| character.is_alphanumeric() || "_-$.".contains(character))
    };
    let short = truncate_text(name, NAME_CHARS);
    let clean = clean_text(&short);
    if is_plain(&clean) {
        return Cow::Owned(clean.into_owned());
    }
    Cow::Owned(serde_json::to_string(&clean).unwrap_or_default())
}
