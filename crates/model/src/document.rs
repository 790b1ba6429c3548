//! Reads JSON with comments and remembers where every value stands.
//!
//! Reading is lenient where people are (comments, trailing commas, a byte order mark) and strict where a
//! guess could hide a server (missing commas, loose names). Changing a document without touching the rest
//! of it is done by [`crate::edit`].

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions};

use crate::explain::Explain;
use crate::front_matter::Translation;
use crate::scope::{Origin, Place, Source};

/// A parsed text: its source, and the tree with a place for every value.
#[derive(Debug)]
pub struct Document<'t> {
    source: Source,
    text: &'t str,
    /// Where each line begins, so that ten thousand entries do not count the lines ten thousand times.
    lines: Vec<usize>,
    /// How many characters stand before each stretch, so that a value far along a line does not count them all.
    stretches: Vec<usize>,
    /// Where the values stand in the text this one was made from, by their place in this one. Empty when it was not.
    places: &'t [(usize, Place)],
    root: Option<ast::Value<'t>>,
}

impl<'t> Document<'t> {
    /// Parses `text`. An empty text is a document without a root, as editors leave behind.
    ///
    /// # Errors
    /// A [`SyntaxError`] with the place where the text stops being JSON.
    pub fn parse(source: Source, text: &'t str) -> Result<Self, SyntaxError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
        match jsonc_parser::parse_to_ast(text, &collect, &parse_options()) {
            Ok(result) => {
                let (lines, stretches) = (line_starts(text), stretches(text));
                Ok(Self { source, text, lines, stretches, places: &[], root: result.value })
            }
            Err(error) => Err(SyntaxError {
                place: Place {
                    line: u32::try_from(error.line_display()).unwrap_or(u32::MAX),
                    column: u32::try_from(error.column_display()).unwrap_or(u32::MAX),
                },
                reason: reason(error.kind()),
                source_text: source,
            }),
        }
    }

    /// Parses JSON that was made from another text; its values stand where they stand there.
    ///
    /// # Errors
    /// A [`SyntaxError`] when it is not JSON.
    pub fn translated(source: Source, translation: &'t Translation) -> Result<Self, SyntaxError> {
        let document = Self::parse(source, &translation.json)?;
        Ok(Self { places: &translation.places, ..document })
    }

    /// The text's source.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The outermost value, unless the text is empty.
    #[must_use]
    pub fn root(&self) -> Option<Node<'_>> {
        self.root.as_ref().map(|value| Node { document: self, value })
    }

    fn origin_at(&self, offset: usize) -> Origin {
        let following = self.places.partition_point(|(at, _)| *at <= offset);
        if let Some((_, place)) = following.checked_sub(1).and_then(|index| self.places.get(index)) {
            return Origin { source: self.source.clone(), place: Some(*place) };
        }
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.lines.get(index)).copied().unwrap_or(0);
        let before = self.text.as_bytes().get(start..offset).unwrap_or_default();
        let column = 1 + if before.len() <= STRETCH {
            characters(before)
        } else {
            self.characters_before(offset).saturating_sub(self.characters_before(start))
        };
        let place = Place {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        };
        Origin { source: self.source.clone(), place: Some(place) }
    }

    fn characters_before(&self, offset: usize) -> usize {
        let stretch = offset / STRETCH;
        let known = self.stretches.get(stretch).copied().unwrap_or_default();
        let rest = self.text.as_bytes().get(stretch * STRETCH..offset).unwrap_or_default();
        known + characters(rest)
    }
}

/// How many bytes are counted at most to tell a column.
const STRETCH: usize = 128;

/// What our configuration files may contain beyond JSON.
///
/// Comments and trailing commas are what people write; everything else the parser could forgive would make
/// us read a file differently from the next program.
pub(crate) fn parse_options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// One value of a document.
#[derive(Clone, Copy, Debug)]
pub struct Node<'d> {
    document: &'d Document<'d>,
    value: &'d ast::Value<'d>,
}

/// What kind of value a [`Node`] is, worded for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

impl<'d> Node<'d> {
    /// The kind of the value.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self.value {
            ast::Value::NullKeyword(_) => Kind::Null,
            ast::Value::BooleanLit(_) => Kind::Boolean,
            ast::Value::NumberLit(_) => Kind::Number,
            ast::Value::StringLit(_) => Kind::String,
            ast::Value::Array(_) => Kind::Array,
            ast::Value::Object(_) => Kind::Object,
        }
    }

    /// The string, if it is one.
    #[must_use]
    pub fn as_str(self) -> Option<&'d str> {
        self.value.as_string_lit().map(|literal| literal.value.as_ref())
    }

    /// The boolean, if it is one.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        self.value.as_boolean_lit().map(|literal| literal.value)
    }

    /// The text of the number, if it is one.
    #[must_use]
    pub fn as_number(self) -> Option<&'d str> {
        self.value.as_number_lit().map(|literal| literal.value)
    }

    /// The elements, if it is an array.
    pub fn as_array(self) -> Option<impl ExactSizeIterator<Item = Node<'d>> + use<'d>> {
        let document = self.document;
        self.value.as_array().map(|array| array.elements.iter().map(move |value| Node { document, value }))
    }

    /// The members in the order they are written, duplicates included, if it is an object.
    pub fn as_object(self) -> Option<impl ExactSizeIterator<Item = Member<'d>> + use<'d>> {
        let document = self.document;
        self.value.as_object().map(|object| {
            object.properties.iter().map(move |property| Member {
                name: property.name.as_str(),
                at: property.name.start(),
                value: Node { document, value: &property.value },
            })
        })
    }

    /// The member called `name`; of several the last, as every JSON reader does.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Node<'d>> {
        self.as_object()?.filter(|member| member.name == name).last().map(|member| member.value)
    }

    /// Where the value begins.
    #[must_use]
    pub fn origin(self) -> Origin {
        self.document.origin_at(self.value.start())
    }

    /// The value as `serde_json` has it, for handing on what we do not read ourselves.
    #[must_use]
    pub fn to_json(self) -> serde_json::Value {
        use serde_json::Value;
        match self.value {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
            ast::Value::NumberLit(literal) => {
                literal.value.parse().map_or_else(|_| Value::String(literal.value.to_owned()), Value::Number)
            }
            ast::Value::StringLit(literal) => Value::String(literal.value.to_string()),
            ast::Value::Array(_) => {
                Value::Array(self.as_array().into_iter().flatten().map(Node::to_json).collect())
            }
            ast::Value::Object(_) => Value::Object(
                self.as_object()
                    .into_iter()
                    .flatten()
                    .map(|member| (member.name.to_owned(), member.value.to_json()))
                    .collect(),
            ),
        }
    }
}

/// One member of an object.
#[derive(Clone, Copy, Debug)]
pub struct Member<'d> {
    /// Its name.
    pub name: &'d str,
    at: usize,
    /// Its value.
    pub value: Node<'d>,
}

impl Member<'_> {
    /// Where the member's name stands.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.value.document.origin_at(self.at)
    }
}

/// The parser's words in ours: lowercase, and saying that it is about JSON.
fn reason(kind: &impl ToString) -> String {
    let words = kind.to_string();
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    format!("not JSON: {}", first.into_iter().chain(characters).collect::<String>())
}

fn line_starts(text: &str) -> Vec<usize> {
    let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after_breaks).collect()
}

/// How many characters stand before each [`STRETCH`] bytes.
fn stretches(text: &str) -> Vec<usize> {
    let mut before = 0;
    let stretches = text.as_bytes().chunks(STRETCH).map(|stretch| {
        let here = before;
        before += characters(stretch);
        here
    });
    let mut stretches: Vec<usize> = stretches.collect();
    stretches.push(before);
    stretches
}

/// How many characters begin in `bytes`.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

/// A text that is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{source_text}:{}:{}: {reason}", place.line, place.column)]
pub struct SyntaxError {
    /// The place where it stops being JSON.
    pub place: Place,
    /// What is wrong there.
    pub reason: String,
    /// The text's source; not called `source`, which would make it the error's cause.
    pub source_text: Source,
}

impl Explain for SyntaxError {
    fn hint(&self) -> Option<String> {
        Some(format!(
            "mend line {} of {}; nothing was read from the file and it will not be rewritten until then",
            self.place.line, self.source_text
        ))
    }
}

#[cfg(test)]
mod tests;
