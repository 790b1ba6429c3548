//! Translates YAML to JSON event by event, without building a tree.

use mcparley_model::document::{SyntaxError, TranslatedJson};
use mcparley_model::limits::FRONT_MATTER_DEPTH;
use mcparley_model::scope::{Source, TextPosition};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};
use serde_json::{Number, Value};

/// The number of lines in the file before the YAML.
const LINES_BEFORE: usize = 1;

/// Translates the YAML that follows the first line of `source`.
pub(super) fn translate_yaml(source: &Source, yaml: &str) -> Result<TranslatedJson, SyntaxError> {
    let mut writer = YamlTranslator { source, open: Vec::new(), output: TranslatedJson::default() };
    for event in Parser::new_from_str(yaml) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => {
                return Err(writer.syntax_error(*error.marker(), &format!("not YAML: {}", error.info())));
            }
        };
        writer.handle_event(event, span)?;
    }
    Ok(writer.output)
}

/// Writes JSON from YAML events.
struct YamlTranslator<'s> {
    source: &'s Source,
    /// The lists and maps that are not closed yet.
    open: Vec<OpenCollection>,
    output: TranslatedJson,
}

/// A list or map that is not closed yet.
#[derive(Clone, Copy)]
enum OpenCollection {
    List {
        is_empty: bool,
    },
    /// The next value is a key.
    Names {
        is_empty: bool,
    },
    /// The next value belongs to a key.
    Values,
}

impl YamlTranslator<'_> {
    fn handle_event(&mut self, event: Event<'_>, span: Span) -> Result<(), SyntaxError> {
        let at = span.start;
        match event {
            Event::DocumentStart(_) if !self.output.json.is_empty() => {
                Err(self.syntax_error(at, "there is more than one document"))
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
            Event::Alias(_) => Err(self.syntax_error(at, "aliases are not supported; repeat the value")),
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => Err(self.syntax_error(at, "tags are not supported")),
            Event::Scalar(text, style, _, None) => self.write_scalar(&text, style, at),
            Event::SequenceStart(_, None) => {
                self.open_collection(OpenCollection::List { is_empty: true }, '[', at)
            }
            Event::MappingStart(_, None) => {
                self.open_collection(OpenCollection::Names { is_empty: true }, '{', at)
            }
            Event::SequenceEnd => self.close_collection(']'),
            Event::MappingEnd => self.close_collection('}'),
        }
    }

    fn write_scalar(&mut self, text: &str, style: ScalarStyle, at: Marker) -> Result<(), SyntaxError> {
        let is_name = matches!(self.open.last(), Some(OpenCollection::Names { .. }));
        self.write_separator(at);
        let value = match style {
            ScalarStyle::Plain if !is_name => parse_plain_scalar(text),
            ScalarStyle::Plain
            | ScalarStyle::SingleQuoted
            | ScalarStyle::DoubleQuoted
            | ScalarStyle::Literal
            | ScalarStyle::Folded => Value::from(text),
        };
        self.output.json.push_str(&value.to_string());
        Ok(())
    }

    fn open_collection(
        &mut self,
        open: OpenCollection,
        bracket: char,
        at: Marker,
    ) -> Result<(), SyntaxError> {
        if matches!(self.open.last(), Some(OpenCollection::Names { .. })) {
            return Err(self.syntax_error(at, "a key must be a string"));
        }
        if self.open.len() == FRONT_MATTER_DEPTH {
            return Err(self.syntax_error(at, &format!("nested deeper than {FRONT_MATTER_DEPTH} levels")));
        }
        self.write_separator(at);
        self.output.json.push(bracket);
        self.open.push(open);
        Ok(())
    }

    fn close_collection(&mut self, bracket: char) -> Result<(), SyntaxError> {
        self.open.pop();
        self.output.json.push(bracket);
        Ok(())
    }

    /// Writes the separator before a value, and records the value's position.
    fn write_separator(&mut self, at: Marker) {
        let json = &mut self.output.json;
        match self.open.last_mut() {
            None => {}
            Some(open @ OpenCollection::List { .. }) => {
                if !matches!(open, OpenCollection::List { is_empty: true }) {
                    json.push(',');
                }
                *open = OpenCollection::List { is_empty: false };
            }
            Some(open @ OpenCollection::Names { .. }) => {
                if !matches!(open, OpenCollection::Names { is_empty: true }) {
                    json.push(',');
                }
                *open = OpenCollection::Values;
            }
            Some(open @ OpenCollection::Values) => {
                json.push(':');
                *open = OpenCollection::Names { is_empty: false };
            }
        }
        self.output.places.push((json.len(), text_position(at)));
    }

    fn syntax_error(&self, at: Marker, reason: &str) -> SyntaxError {
        SyntaxError { place: text_position(at), reason: reason.to_owned(), source_text: self.source.clone() }
    }
}

fn text_position(at: Marker) -> TextPosition {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    TextPosition { line: number(at.line() + LINES_BEFORE), column: number(at.col() + 1) }
}

/// The value of an unquoted scalar by YAML's core schema. A value without a JSON equivalent stays a string.
fn parse_plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => parse_number(text).map_or_else(|| Value::from(text), Value::Number),
    }
}

fn parse_number(text: &str) -> Option<Number> {
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
