//! The outline of a JSON text: what it is made of, in a line a model can read (R4).
//!
//! `{name: string, items: [{id: number, …}]}`: two levels of names with the kinds of their values. A name that not every
//! element has is marked with `?`. The text is read in place, member by member; no value is built of it.

mod render;
mod visit;

#[cfg(test)]
mod tests;

pub(super) use visit::{elements, members};

use mcparley_model::limits::{OUTLINE_CHARS, OUTLINE_ELEMENTS};
use serde_json::value::RawValue;

/// How many objects may stand inside each other and still show their names.
const DEPTH: usize = 2;

/// How many names of one object are remembered; more are told by `…`.
const NAMES: usize = 40;

/// The outline of a JSON text; nothing if it is no JSON, or no more than one plain value.
pub(crate) fn outline(json: &str) -> Option<String> {
    let json = json.trim();
    if !json.starts_with(['{', '[']) {
        return None;
    }
    let raw: &RawValue = serde_json::from_str(json).ok()?;
    Some(render::within(&Shape::of(raw, DEPTH)?, OUTLINE_CHARS))
}

/// What is known of all values at one place. The order of the values does not matter, but for that of the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shape {
    plain: Plain,
    list: Option<List>,
    object: Option<Object>,
}

/// The kinds without parts that were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Plain {
    string: bool,
    number: bool,
    boolean: bool,
    null: bool,
}

/// The lists that were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
enum List {
    /// Lists too deep to look into.
    Closed,
    /// What all their elements are; nothing when there were none.
    Of(Box<Option<Shape>>),
}

/// The objects that were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Object {
    /// Objects too deep to look into.
    Closed,
    Open {
        /// In the order in which they were first seen.
        names: Vec<Name>,
        /// How many objects there were.
        seen: usize,
        /// Whether there were names beyond those that are remembered.
        more: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    name: String,
    shape: Shape,
    /// In how many of the objects.
    seen: usize,
}

impl Shape {
    /// What one value is.
    fn of(raw: &RawValue, depth: usize) -> Option<Self> {
        let mut shape = Self::default();
        match raw.get().as_bytes().first()? {
            b'"' => shape.plain.string = true,
            b't' | b'f' => shape.plain.boolean = true,
            b'n' => shape.plain.null = true,
            b'[' => shape.list = Some(List::of(raw, depth)?),
            b'{' => shape.object = Some(Object::of(raw, depth)?),
            _ => shape.plain.number = true,
        }
        Some(shape)
    }

    /// What both are.
    fn and(&mut self, other: Self) {
        let Self { plain, list, object } = other;
        self.plain.string |= plain.string;
        self.plain.number |= plain.number;
        self.plain.boolean |= plain.boolean;
        self.plain.null |= plain.null;
        join(&mut self.list, list, List::and);
        join(&mut self.object, object, Object::and);
    }
}

impl List {
    fn of(raw: &RawValue, depth: usize) -> Option<Self> {
        if depth == 0 {
            return Some(Self::Closed);
        }
        let mut all = None;
        visit::elements(raw, OUTLINE_ELEMENTS, &mut |element| {
            // A list shows what it is made of; only a list of lists goes one level deeper.
            let depth = if element.get().starts_with('[') { depth - 1 } else { depth };
            if let Some(shape) = Shape::of(element, depth) {
                join(&mut all, Some(shape), Shape::and);
            }
        })?;
        Some(Self::Of(Box::new(all)))
    }

    fn and(&mut self, other: Self) {
        match (self, other) {
            (Self::Of(all), Self::Of(other)) => join(all, *other, Shape::and),
            (Self::Closed, Self::Of(_) | Self::Closed) | (Self::Of(_), Self::Closed) => {}
        }
    }
}

impl Object {
    fn of(raw: &RawValue, depth: usize) -> Option<Self> {
        if depth == 0 {
            return Some(Self::Closed);
        }
        let (mut names, mut more) = (Vec::<Name>::new(), false);
        visit::members(raw, &mut |name, value| {
            let Some(shape) = Shape::of(value, depth - 1) else { return };
            more |= !add(&mut names, Name { name: name.to_owned(), shape, seen: 1 }, 0);
        })?;
        Some(Self::Open { names, seen: 1, more })
    }

    fn and(&mut self, other: Self) {
        let (Self::Open { names, seen, more }, Self::Open { names: others, seen: times, more: has_more }) =
            (self, other)
        else {
            return;
        };
        *seen += times;
        *more |= has_more;
        for other in others {
            let times = other.seen;
            *more |= !add(names, other, times);
        }
    }
}

/// Adds a name, or what was seen of it `times` more to the one that is there. False if there is no room for it.
fn add(names: &mut Vec<Name>, name: Name, times: usize) -> bool {
    if let Some(known) = names.iter_mut().find(|known| known.name == name.name) {
        known.seen += times;
        known.shape.and(name.shape);
        return true;
    }
    let has_room = names.len() < NAMES;
    if has_room {
        names.push(name);
    }
    has_room
}

fn join<T>(one: &mut Option<T>, other: Option<T>, and: impl FnOnce(&mut T, T)) {
    match (one, other) {
        (Some(one), Some(other)) => and(one, other),
        (one @ None, other) => *one = other,
        (Some(_), None) => {}
    }
}
