//! The outline of a JSON text: its member names and value types, in one line a model can read.
//!
//! `{name: string, items: [{id: number, …}]}`: two levels of names with the types of their values. A name
//! missing in some elements of a list is marked with `?`. The text is parsed in place, member by member,
//! without building a value.

mod render;
mod visit;

#[cfg(test)]
mod tests;

pub(super) use visit::{visit_elements, visit_members};

use mcparley_model::limits::{OUTLINE_CHARS, OUTLINE_ELEMENTS};
use serde_json::value::RawValue;

/// The number of nested object levels with names shown.
const DEPTH: usize = 2;

/// The number of names recorded per object; `…` stands for the others.
const NAMES: usize = 40;

/// The outline of a JSON text; `None` if it is not JSON, or only a single scalar.
pub(crate) fn outline_json(json: &str) -> Option<String> {
    let json = json.trim();
    if !json.starts_with(['{', '[']) {
        return None;
    }
    let raw: &RawValue = serde_json::from_str(json).ok()?;
    Some(render::render_within(&ValueShape::from_json(raw, DEPTH)?, OUTLINE_CHARS))
}

/// The merged shape of all values at one place. Independent of the order of the values, except for the order
/// of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ValueShape {
    plain: ScalarKinds,
    list: Option<ListShape>,
    object: Option<ObjectShape>,
}

/// The scalar types that occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ScalarKinds {
    string: bool,
    number: bool,
    boolean: bool,
    null: bool,
}

/// The merged shape of the lists at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ListShape {
    /// Lists too deep to look into.
    Closed,
    /// The merged shape of all elements; `None` if all lists are empty.
    Elements(Box<Option<ValueShape>>),
}

/// The merged shape of the objects at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ObjectShape {
    /// Objects too deep to look into.
    Closed,
    Open {
        /// The members, in order of first occurrence.
        names: Vec<MemberShape>,
        /// The number of objects.
        seen: usize,
        /// Whether there are names beyond the recorded ones.
        more: bool,
    },
}

/// One member name and the merged shape of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MemberShape {
    name: String,
    shape: ValueShape,
    /// The number of objects that have the member.
    seen: usize,
}

impl ValueShape {
    /// The shape of one JSON value.
    fn from_json(raw: &RawValue, depth: usize) -> Option<Self> {
        let mut shape = Self::default();
        match raw.get().as_bytes().first()? {
            b'"' => shape.plain.string = true,
            b't' | b'f' => shape.plain.boolean = true,
            b'n' => shape.plain.null = true,
            b'[' => shape.list = Some(ListShape::from_json(raw, depth)?),
            b'{' => shape.object = Some(ObjectShape::from_json(raw, depth)?),
            _ => shape.plain.number = true,
        }
        Some(shape)
    }

    /// Merges the shape of another value into this one.
    fn merge(&mut self, other: Self) {
        let Self { plain, list, object } = other;
        self.plain.string |= plain.string;
        self.plain.number |= plain.number;
        self.plain.boolean |= plain.boolean;
        self.plain.null |= plain.null;
        merge_options(&mut self.list, list, ListShape::merge);
        merge_options(&mut self.object, object, ObjectShape::merge);
    }
}

impl ListShape {
    fn from_json(raw: &RawValue, depth: usize) -> Option<Self> {
        if depth == 0 {
            return Some(Self::Closed);
        }
        let mut all = None;
        visit::visit_elements(raw, OUTLINE_ELEMENTS, &mut |element| {
            // The elements of a list are on the level of the list; only a list of lists uses up a level.
            let depth = if element.get().starts_with('[') { depth - 1 } else { depth };
            if let Some(shape) = ValueShape::from_json(element, depth) {
                merge_options(&mut all, Some(shape), ValueShape::merge);
            }
        })?;
        Some(Self::Elements(Box::new(all)))
    }

    fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Elements(all), Self::Elements(other)) => merge_options(all, *other, ValueShape::merge),
            (Self::Closed, Self::Elements(_) | Self::Closed) | (Self::Elements(_), Self::Closed) => {}
        }
    }
}

impl ObjectShape {
    fn from_json(raw: &RawValue, depth: usize) -> Option<Self> {
        if depth == 0 {
            return Some(Self::Closed);
        }
        let (mut names, mut more) = (Vec::<MemberShape>::new(), false);
        visit::visit_members(raw, &mut |name, value| {
            let Some(shape) = ValueShape::from_json(value, depth - 1) else { return };
            more |= !add_member(&mut names, MemberShape { name: name.to_owned(), shape, seen: 1 }, 0);
        })?;
        Some(Self::Open { names, seen: 1, more })
    }

    fn merge(&mut self, other: Self) {
        let (Self::Open { names, seen, more }, Self::Open { names: others, seen: times, more: has_more }) =
            (self, other)
        else {
            return;
        };
        *seen += times;
        *more |= has_more;
        for other in others {
            let times = other.seen;
            *more |= !add_member(names, other, times);
        }
    }
}

/// Adds a member, or merges it into the known one of that name and counts it `times` more. False if there is
/// no room.
fn add_member(names: &mut Vec<MemberShape>, name: MemberShape, times: usize) -> bool {
    if let Some(known) = names.iter_mut().find(|known| known.name == name.name) {
        known.seen += times;
        known.shape.merge(name.shape);
        return true;
    }
    let has_room = names.len() < NAMES;
    if has_room {
        names.push(name);
    }
    has_room
}

/// Merges two optional shapes with `and`, or takes the one that is there.
fn merge_options<T>(one: &mut Option<T>, other: Option<T>, and: impl FnOnce(&mut T, T)) {
    match (one, other) {
        (Some(one), Some(other)) => and(one, other),
        (one @ None, other) => *one = other,
        (Some(_), None) => {}
    }
}
