//! One `{…}` expression of a template: its operator, its variables, and its expansion (RFC 6570, section
//! 3.2).

use std::fmt::Write as _;

/// An expression between braces.
pub(super) struct Expression<'t> {
    operator: Operator,
    variables: Vec<TemplateVariable<'t>>,
}

/// A variable of an expression.
struct TemplateVariable<'t> {
    name: &'t str,
    /// The maximum number of characters of the value.
    prefix: Option<usize>,
}

/// The operator of an expression: the separators of its values.
struct Operator {
    first: &'static str,
    between: &'static str,
    /// Whether names precede the values, and the text after the name of an empty one.
    named: Option<&'static str>,
    /// Whether reserved characters are kept.
    reserved: bool,
}

impl Operator {
    fn parse(inside: &str) -> (Self, &str) {
        let operator = |first, between, named, reserved| Self { first, between, named, reserved };
        let found = match inside.chars().next() {
            Some('+') => operator("", ",", None, true),
            Some('#') => operator("#", ",", None, true),
            Some('.') => operator(".", ".", None, false),
            Some('/') => operator("/", "/", None, false),
            Some(';') => operator(";", ";", Some(""), false),
            Some('?') => operator("?", "&", Some("="), false),
            Some('&') => operator("&", "&", Some("="), false),
            Some(_) | None => return (operator("", ",", None, false), inside),
        };
        (found, inside.get(1..).unwrap_or_default())
    }
}

impl<'t> Expression<'t> {
    pub(super) fn parse(inside: &'t str) -> Result<Self, &'static str> {
        let (operator, list) = Operator::parse(inside);
        let variables = list.split(',').map(TemplateVariable::parse).collect::<Result<_, _>>()?;
        Ok(Self { operator, variables })
    }

    pub(super) fn variable_names(&self) -> impl Iterator<Item = &'t str> {
        self.variables.iter().map(|variable| variable.name)
    }

    /// Appends the expansion; empty, if none of its variables has a value.
    pub(super) fn append_expansion(&self, values: &[(&str, &str)], uri: &mut String) {
        let Operator { first, between, named, reserved } = self.operator;
        let mut lead = first;
        for TemplateVariable { name, prefix } in &self.variables {
            let Some((_, value)) = values.iter().find(|(known, _)| known == name) else { continue };
            uri.push_str(lead);
            lead = between;
            if let Some(empty) = named {
                append_literal(name, uri);
                uri.push_str(if value.is_empty() { empty } else { "=" });
            }
            let end = prefix.and_then(|prefix| value.char_indices().nth(prefix)).map(|(end, _)| end);
            let value = end.and_then(|end| value.get(..end)).unwrap_or(value);
            if reserved {
                append_literal(value, uri)
            } else {
                value.chars().for_each(|character| append_encoded(character, is_unreserved, uri))
            }
        }
    }
}

impl<'t> TemplateVariable<'t> {
    fn parse(text: &'t str) -> Result<Self, &'static str> {
        let text = text.strip_suffix('*').unwrap_or(text);
        let (name, prefix) = match text.split_once(':') {
            None => (text, None),
            Some((name, length)) => {
                let length = length.parse().ok().filter(|length| (1..10_000).contains(length));
                (name, Some(length.ok_or("a prefix that is no number below 10000")?))
            }
        };
        let is_name = |character: char| character.is_ascii_alphanumeric() || "_.%".contains(character);
        // Not in the standard, but in use.
        let is_name = |character: char| is_name(character) || character == '-';
        if !name.is_empty() && name.chars().all(is_name) {
            Ok(Self { name, prefix })
        } else {
            Err("a variable without a name")
        }
    }
}

/// Appends text in which reserved characters, and percent-encoded ones, stay as they are.
pub(super) fn append_literal(text: &str, uri: &mut String) {
    for (at, character) in text.char_indices() {
        let digits = text.as_bytes().get(at + 1..at + 3);
        if character == '%' && !digits.is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)) {
            uri.push_str("%25");
        } else {
            append_encoded(character, |it| it == '%' || is_unreserved(it) || is_reserved(it), uri);
        }
    }
}

fn append_encoded(character: char, keeps: impl Fn(char) -> bool, uri: &mut String) {
    if keeps(character) {
        return uri.push(character);
    }
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        // Writing to a `String` cannot fail.
        write!(uri, "%{byte:02X}").unwrap_or_default();
    }
}

fn is_unreserved(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-._~".contains(character)
}

fn is_reserved(character: char) -> bool {
    ":/?#[]@!$&'()*+,;=".contains(character)
}
