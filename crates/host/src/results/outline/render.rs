//! Writes an outline within a length: the fewer names of an object, the shorter.

use std::borrow::Cow;

use mcparley_model::text::{clean, cut};

use super::{List, Name, Object, Shape};

/// How many names of one object are written if there is room; then ever fewer.
const WIDTHS: [usize; 6] = [40, 24, 12, 6, 3, 1];

/// How many characters of one name are written.
const NAME_CHARS: usize = 40;

/// The outline with as many names as fit into `limit` characters.
pub(super) fn within(shape: &Shape, limit: usize) -> String {
    let written = WIDTHS.into_iter().map(|width| {
        let mut text = String::new();
        write(&mut text, shape, width);
        text
    });
    let fits = |text: &String| text.chars().count() <= limit;
    let nothing = || if shape.object.is_some() { "{…}" } else { "[…]" }.to_owned();
    written.into_iter().find(fits).unwrap_or_else(nothing)
}

/// The kinds of one place, `|` between them.
fn write(out: &mut String, shape: &Shape, width: usize) {
    let Shape { plain, list, object } = shape;
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

fn write_list(out: &mut String, list: &List, width: usize) {
    out.push('[');
    match list {
        List::Closed => out.push('…'),
        List::Of(all) => {
            if let Some(all) = all.as_ref() {
                write(out, all, width);
            }
        }
    }
    out.push(']');
}

fn write_object(out: &mut String, object: &Object, width: usize) {
    let Object::Open { names, seen, more } = object else { return out.push_str("{…}") };
    out.push('{');
    for (at, Name { name, shape, seen: times }) in names.iter().take(width).enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        out.push_str(&written(name));
        out.push_str(if times < seen { "?: " } else { ": " });
        write(out, shape, width);
    }
    if *more || names.len() > width {
        out.push_str(if names.is_empty() { "…" } else { ", …" });
    }
    out.push('}');
}

/// A name as it can stand in a line: clean, short, and in quotes unless it is a plain word (B43).
fn written(name: &str) -> Cow<'_, str> {
    let is_plain = |text: &str| {
        !text.is_empty()
            && text.chars().all(|character| character.is_alphanumeric() || "_-$.".contains(character))
    };
    let short = cut(name, NAME_CHARS);
    let clean = clean(&short);
    if is_plain(&clean) {
        return Cow::Owned(clean.into_owned());
    }
    Cow::Owned(serde_json::to_string(&clean).unwrap_or_default())
}
