//! Parses JSON with comments and keeps the position of every value.
//!
//! The parser is lenient about comments, trailing commas and a byte order mark, and strict where a guess
//! could hide a server (missing commas, unquoted names). `mcparley_config::json_editor` changes a document without
//! touching the rest of it.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions};

use crate::explain::Explain;
use crate::scope::{ConfigOrigin, Source, TextPosition};

/// JSON that was translated from another text.
#[derive(Debug, Default)]
pub struct TranslatedJson {
    /// The JSON.
    pub json: String,
    /// The original positions of values and names, by their offset in the JSON; ascending.
    pub places: Vec<(usize, TextPosition)>,
}

/// A parsed JSON text: its source, and the tree with a position for every value.
#[derive(Debug)]
pub struct JsonDocument<'t> {
    source: Source,
    text: &'t str,
    /// The byte offset of each line, so that ten thousand entries do not count the lines ten thousand
    /// times.
    lines: Vec<usize>,
    /// The number of characters before each chunk of [`STRETCH`] bytes, so that a column far along a line
    /// is found quickly.
    stretches: Vec<usize>,
    /// The positions of the values in the original text, by their offset in this JSON; empty unless it was
    /// translated.
    places: &'t [(usize, TextPosition)],
    root: Option<ast::Value<'t>>,
}

impl<'t> JsonDocument<'t> {
    /// Parses `text`. An empty text is a document without a root, as editors leave behind.
    ///
    /// # Errors
    /// A [`SyntaxError`] with the position where the text stops being JSON.
    pub fn parse(source: Source, text: &'t str) -> Result<Self, SyntaxError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
        match jsonc_parser::parse_to_ast(text, &collect, &parse_options()) {
            Ok(result) => {
                let (lines, stretches) = (line_starts(text), count_chunk_characters(text));
                Ok(Self { source, text, lines, stretches, places: &[], root: result.value })
            }
            Err(error) => Err(SyntaxError {
                place: TextPosition {
                    line: u32::try_from(error.line_display()).unwrap_or(u32::MAX),
                    column: u32::try_from(error.column_display()).unwrap_or(u32::MAX),
                },
                reason: syntax_reason(error.kind()),
                source_text: source,
            }),
        }
    }

    /// Parses JSON that was translated from another text; its values have the positions of the original
    /// text.
    ///
    /// # Errors
    /// A [`SyntaxError`] when it is not JSON.
    pub fn parse_translation(source: Source, translation: &'t TranslatedJson) -> Result<Self, SyntaxError> {
        let document = Self::parse(source, &translation.json)?;
        Ok(Self { places: &translation.places, ..document })
    }

    /// The source of the text.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The outermost value, unless the text is empty.
    #[must_use]
    pub fn root(&self) -> Option<Node<'_>> {
        self.root.as_ref().map(|value| Node { document: self, value })
    }

    fn origin_at(&self, offset: usize) -> ConfigOrigin {
        let following = self.places.partition_point(|(at, _)| *at <= offset);
        if let Some((_, place)) = following.checked_sub(1).and_then(|index| self.places.get(index)) {
            return ConfigOrigin { source: self.source.clone(), place: Some(*place) };
        }
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.lines.get(index)).copied().unwrap_or(0);
        let before = self.text.as_bytes().get(start..offset).unwrap_or_default();
        let column = 1 + if before.len() <= STRETCH {
            count_characters(before)
        } else {
            self.count_characters_before(offset).saturating_sub(self.count_characters_before(start))
        };
        let place = TextPosition {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        };
        ConfigOrigin { source: self.source.clone(), place: Some(place) }
    }

    fn count_characters_before(&self, offset: usize) -> usize {
        let stretch = offset / STRETCH;
        let known = self.stretches.get(stretch).copied().unwrap_or_default();
        let rest = self.text.as_bytes().get(stretch * STRETCH..offset).unwrap_or_default();
        known + count_characters(rest)
    }
}

/// The maximum number of bytes that are scanned to compute a column.
const STRETCH: usize = 128;

/// The extensions of JSON that configuration files may use.
///
/// Users write comments and trailing commas; any other leniency would make us read a file differently from
/// the next program.
#[must_use]
pub fn parse_options() -> ParseOptions {
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
    document: &'d JsonDocument<'d>,
    value: &'d ast::Value<'d>,
}

/// The kind of a [`Node`], worded for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
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

impl std::fmt::Display for JsonKind {
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
    pub fn kind(self) -> JsonKind {
        match self.value {
            ast::Value::NullKeyword(_) => JsonKind::Null,
            ast::Value::BooleanLit(_) => JsonKind::Boolean,
            ast::Value::NumberLit(_) => JsonKind::Number,
            ast::Value::StringLit(_) => JsonKind::String,
            ast::Value::Array(_) => JsonKind::Array,
            ast::Value::Object(_) => JsonKind::Object,
        }
    }

    /// The string, if the value is one.
    #[must_use]
    pub fn as_str(self) -> Option<&'d str> {
        self.value.as_string_lit().map(|literal| literal.value.as_ref())
    }

    /// The boolean, if the value is one.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        self.value.as_boolean_lit().map(|literal| literal.value)
    }

    /// The text of the number, if the value is one.
    #[must_use]
    pub fn as_number(self) -> Option<&'d str> {
        self.value.as_number_lit().map(|literal| literal.value)
    }

    /// The elements, if the value is an array.
    pub fn as_array(self) -> Option<impl ExactSizeIterator<Item = Node<'d>> + use<'d>> {
        let document = self.document;
        self.value.as_array().map(|array| array.elements.iter().map(move |value| Node { document, value }))
    }

    /// The members in the order they are written, duplicates included, if the value is an object.
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

    /// The member called `name`; of duplicates the last, as in every JSON parser.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Node<'d>> {
        self.as_object()?.filter(|member| member.name == name).last().map(|member| member.value)
    }

    /// The location of the value.
    #[must_use]
    pub fn origin(self) -> ConfigOrigin {
        self.document.origin_at(self.value.start())
    }

    /// The value converted to `serde_json`, for values that other code interprets.
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
    /// The member's name.
    pub name: &'d str,
    at: usize,
    /// The member's value.
    pub value: Node<'d>,
}

impl Member<'_> {
    /// The location of the member's name.
    #[must_use]
    pub fn origin(&self) -> ConfigOrigin {
        self.value.document.origin_at(self.at)
    }
}

/// The parser's reason in the style of our messages: lowercase, and naming JSON.
fn syntax_reason(kind: &impl ToString) -> String {
    let words = kind.to_string();
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    format!("not JSON: {}", first.into_iter().chain(characters).collect::<String>())
}

fn line_starts(text: &str) -> Vec<usize> {
    // The parser counts CR, LF and both together as one line end, and so do editors.
    let next_bytes = text.bytes().skip(1).map(Some).chain([None]);
    let is_end = |byte: u8, next: Option<u8>| byte == b'\n' || (byte == b'\r' && next != Some(b'\n'));
    let ends = text.bytes().zip(next_bytes).enumerate().filter(|(_, (byte, next))| is_end(*byte, *next));
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}

/// The number of characters before each chunk of [`STRETCH`] bytes.
fn count_chunk_characters(text: &str) -> Vec<usize> {
    let mut before = 0;
    let stretches = text.as_bytes().chunks(STRETCH).map(|stretch| {
        let here = before;
        before += count_characters(stretch);
        here
    });
    let mut stretches: Vec<usize> = stretches.collect();
    stretches.push(before);
    stretches
}

/// The number of characters that begin in `bytes`.
fn count_characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

/// The error for a text that is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{source_text}:{}:{}: {reason}", place.line, place.column)]
pub struct SyntaxError {
    /// The position where the text stops being JSON.
    pub place: TextPosition,
    /// The reason given by the parser.
    pub reason: String,
    /// The source of the text; not called `source`, which `thiserror` would take for the error's cause.
    pub source_text: Source,
}

impl Explain for SyntaxError {
    fn hint(&self) -> Option<String> {
        Some(format!(
            "fix line {} of {}; the file was not read and will not be changed until then",
            self.place.line, self.source_text
        ))
    }
}

#[cfg(test)]
mod tests;
