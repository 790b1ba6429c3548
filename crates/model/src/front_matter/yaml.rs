//! Turns YAML into JSON, event by event, without building anything in between.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};
use serde_json::{Number, Value};

use super::Translation;
use crate::document::SyntaxError;
use crate::limits::FRONT_MATTER_DEPTH;
use crate::scope::{Place, Source};

/// The line of the file that the first line of the YAML stands on, less one.
const LINES_BEFORE: usize = 1;

/// Translates the YAML that stands behind the first line of `source`.
pub(super) fn translate(source: &Source, yaml: &str) -> Result<Translation, SyntaxError> {
    let mut writer = Writer { source, open: Vec::new(), made: Translation::default() };
    for event in Parser::new_from_str(yaml) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => return Err(writer.wrong(*error.marker(), &format!("not YAML: {}", error.info()))),
        };
        writer.take(event, span)?;
    }
    Ok(writer.made)
}

/// Writes JSON.
struct Writer<'s> {
    source: &'s Source,
    /// The lists and maps that are not closed yet.
    open: Vec<Open>,
    made: Translation,
}

/// A list or map that is not closed yet.
#[derive(Clone, Copy)]
enum Open {
    List {
        is_empty: bool,
    },
    /// The next value is a name.
    Names {
        is_empty: bool,
    },
    /// The next value belongs to a name.
    Values,
}

impl Writer<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), SyntaxError> {
        let at = span.start;
        match event {
            Event::DocumentStart(_) if !self.made.json.is_empty() => {
                Err(self.wrong(at, "there is more than one document"))
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
            Event::Alias(_) => Err(self.wrong(at, "aliases are not read; write the value again")),
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => Err(self.wrong(at, "tags are not read")),
            Event::Scalar(text, style, _, None) => self.scalar(&text, style, at),
            Event::SequenceStart(_, None) => self.begin(Open::List { is_empty: true }, '[', at),
            Event::MappingStart(_, None) => self.begin(Open::Names { is_empty: true }, '{', at),
            Event::SequenceEnd => self.end(']'),
            Event::MappingEnd => self.end('}'),
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, at: Marker) -> Result<(), SyntaxError> {
        let is_name = matches!(self.open.last(), Some(Open::Names { .. }));
        self.separate(at);
        let value = match style {
            ScalarStyle::Plain if !is_name => plain(text),
            ScalarStyle::Plain
            | ScalarStyle::SingleQuoted
            | ScalarStyle::DoubleQuoted
            | ScalarStyle::Literal
            | ScalarStyle::Folded => Value::from(text),
        };
        self.made.json.push_str(&value.to_string());
        Ok(())
    }

    fn begin(&mut self, open: Open, bracket: char, at: Marker) -> Result<(), SyntaxError> {
        if matches!(self.open.last(), Some(Open::Names { .. })) {
            return Err(self.wrong(at, "a name must be a text"));
        }
        if self.open.len() == FRONT_MATTER_DEPTH {
            return Err(self.wrong(at, &format!("nested deeper than {FRONT_MATTER_DEPTH} levels")));
        }
        self.separate(at);
        self.made.json.push(bracket);
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self, bracket: char) -> Result<(), SyntaxError> {
        self.open.pop();
        self.made.json.push(bracket);
        Ok(())
    }

    /// Writes what stands before a value, and notes where the value stands.
    fn separate(&mut self, at: Marker) {
        let json = &mut self.made.json;
        match self.open.last_mut() {
            None => {}
            Some(open @ Open::List { .. }) => {
                if !matches!(open, Open::List { is_empty: true }) {
                    json.push(',');
                }
                *open = Open::List { is_empty: false };
            }
            Some(open @ Open::Names { .. }) => {
                if !matches!(open, Open::Names { is_empty: true }) {
                    json.push(',');
                }
                *open = Open::Values;
            }
            Some(open @ Open::Values) => {
                json.push(':');
                *open = Open::Names { is_empty: false };
            }
        }
        self.made.places.push((json.len(), place(at)));
    }

    fn wrong(&self, at: Marker, reason: &str) -> SyntaxError {
        SyntaxError { place: place(at), reason: reason.to_owned(), source_text: self.source.clone() }
    }
}

fn place(at: Marker) -> Place {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Place { line: number(at.line() + LINES_BEFORE), column: number(at.col() + 1) }
}

/// What a text without quotes means, by YAML's core schema. What JSON has no word for stays a text.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::from(text), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Number::from);
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let is_number = text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let whole =
        || text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from)).ok();
    let broken = || text.parse::<f64>().ok().and_then(Number::from_f64);
    if is_number { whole().or_else(broken) } else { None }
}
