//! JSON as a tree of its tokens: the order of members, the digits of numbers and the escapes of strings are kept.

use std::fmt;

use serde_json::Value;

/// A JSON value whose keys and scalars are the text of their tokens. White space between tokens is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenTree {
    Object(Vec<(String, TokenTree)>),
    Array(Vec<TokenTree>),
    Scalar(String),
}

impl TokenTree {
    /// Parses a JSON text; `None` if it is not valid.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str::<Value>(text).ok()?;
        let mut reader = TokenReader { text, at: 0 };
        reader.read_tree()
    }

    /// A value of ours.
    pub(crate) fn from_value(value: &Value) -> Self {
        Self::parse(&value.to_string()).unwrap_or(Self::Scalar("null".to_owned()))
    }

    /// The decoded value.
    pub(crate) fn to_value(&self) -> Value {
        serde_json::from_str(&self.to_string()).unwrap_or_default()
    }

    /// The member of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        let key = quote(name);
        members.iter().find(|(found, _)| *found == key).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Self> {
        let Self::Object(members) = self else { return None };
        let key = quote(name);
        members.iter_mut().find(|(found, _)| *found == key).map(|(_, value)| value)
    }

    /// Removes members of an object.
    pub(crate) fn remove(&mut self, names: &[&str]) {
        if let Self::Object(members) = self {
            members.retain(|(key, _)| !names.iter().any(|name| *key == quote(name)));
        }
    }

    /// The elements of an array; none if it is no array.
    pub(crate) fn elements(&self) -> &[Self] {
        if let Self::Array(elements) = self { elements } else { &[] }
    }

    /// The decoded text of a string.
    pub(crate) fn as_text(&self) -> Option<String> {
        let Self::Scalar(token) = self else { return None };
        serde_json::from_str(token).ok()
    }

    pub(crate) fn is_empty_object(&self) -> bool {
        matches!(self, Self::Object(members) if members.is_empty())
    }
}

impl fmt::Display for TokenTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(token) => f.write_str(token),
            Self::Array(elements) => {
                f.write_str("[")?;
                for (place, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if place > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (place, (key, value)) in members.iter().enumerate() {
                    write!(f, "{}{key}:{value}", if place > 0 { "," } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

fn quote(name: &str) -> String {
    Value::from(name).to_string()
}

/// Reads the tokens of a text that is known to be valid.
struct TokenReader<'t> {
    text: &'t str,
    at: usize,
}

impl TokenReader<'_> {
    fn read_tree(&mut self) -> Option<TokenTree> {
        match self.peek()? {
            b'{' => {
                let mut members = Vec::new();
                self.read_sequence(b'}', |reader| {
                    let key = reader.read_scalar()?;
                    reader.peek()?;
                    reader.at += 1;
                    members.push((key, reader.read_tree()?));
                    Some(())
                })?;
                Some(TokenTree::Object(members))
            }
            b'[' => {
                let mut elements = Vec::new();
                self.read_sequence(b']', |reader| {
                    elements.push(reader.read_tree()?);
                    Some(())
                })?;
                Some(TokenTree::Array(elements))
            }
            _ => self.read_scalar().map(TokenTree::Scalar),
        }
    }

    /// Reads parts up to a closing bracket.
    fn read_sequence(&mut self, close: u8, mut read: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek()? {
                b',' => self.at += 1,
                byte if byte == close => {
                    self.at += 1;
                    return Some(());
                }
                _ => read(self)?,
            }
        }
    }

    fn read_scalar(&mut self) -> Option<String> {
        let is_string = self.peek()? == b'"';
        let rest = self.text.get(self.at..)?;
        let end = match is_string {
            true => string_end(rest)?,
            false => rest.find([',', ']', '}', ' ', '\n', '\r', '\t']).unwrap_or(rest.len()),
        };
        self.at += end;
        rest.get(..end).map(str::to_owned)
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }
}

/// The length of the string that a text begins with, with its quotes.
fn string_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    //! Tokens that a decoder would lose.
    use super::*;

    // G7
    #[test]
    fn order_digits_and_escapes_are_kept() {
        let text = r#"{ "b" : 1.50, "a":["\u00e9\"", 1e3, true , null], "\u0063": {} }"#;
        let tree = TokenTree::parse(text).unwrap();
        assert_eq!(tree.to_string(), r#"{"b":1.50,"a":["\u00e9\"",1e3,true,null],"\u0063":{}}"#);
        assert_ne!(
            tree,
            TokenTree::parse(r#"{"a":["\u00e9\"",1e3,true,null],"b":1.50,"\u0063":{}}"#).unwrap()
        );
        assert_eq!(TokenTree::parse("{"), None);
    }
}
