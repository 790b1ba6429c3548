//! Takes a `WWW-Authenticate` apart into schemes and parameters (RFC 9110, 11.6.1).
//!
//! A scheme stands at the beginning or behind a comma, and so may a parameter; what follows tells them apart. What is
//! neither is left out up to the next comma, so that nothing in one challenge hides the next.

/// A part of a challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part<'w> {
    /// The name a challenge begins with.
    Scheme(&'w str),
    /// A parameter of the challenge that has begun.
    Parameter {
        /// Its name, in lower case.
        name: String,
        /// Its value, without quotes and escapes.
        value: String,
    },
}

/// The parts, one by one.
#[derive(Clone, Debug)]
pub(super) struct Words<'w> {
    rest: &'w str,
    /// Whether a scheme may stand here.
    may_begin: bool,
}

impl<'w> Words<'w> {
    pub(super) fn new(words: &'w str) -> Self {
        Self { rest: words, may_begin: true }
    }

    /// Goes on behind white space, and behind commas.
    fn advance(&mut self) {
        let behind = self.rest.trim_start_matches([' ', '\t', ',']);
        let passed = self.rest.len() - behind.len();
        self.may_begin |= self.rest.get(..passed).is_some_and(|passed| passed.contains(','));
        self.rest = behind;
    }

    /// A parameter, if one stands here; what stands behind it is left.
    fn parameter(&mut self) -> Option<Part<'w>> {
        let (name, behind) = token(self.rest);
        let behind = behind.trim_start_matches([' ', '\t']).strip_prefix('=')?;
        let behind = behind.trim_start_matches([' ', '\t']);
        // The end of a token68, as `Basic` and `Negotiate` have it.
        if name.is_empty() || behind.starts_with('=') {
            return None;
        }
        let (value, behind) = match behind.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let end = behind.find([' ', '\t', ',']).unwrap_or(behind.len());
                let (value, behind) = behind.split_at(end);
                (value.to_owned(), behind)
            }
        };
        self.rest = behind;
        Some(Part::Parameter { name: name.to_ascii_lowercase(), value })
    }

    /// A scheme, if one stands here.
    fn scheme(&mut self) -> Option<Part<'w>> {
        let (name, behind) = token(self.rest);
        let ends = behind.is_empty() || behind.starts_with([' ', '\t', ',']);
        if !self.may_begin || name.is_empty() || !ends {
            return None;
        }
        self.rest = behind;
        Some(Part::Scheme(name))
    }
}

impl<'w> Iterator for Words<'w> {
    type Item = Part<'w>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.advance();
            if self.rest.is_empty() {
                return None;
            }
            if let Some(part) = self.parameter().or_else(|| self.scheme()) {
                self.may_begin = false;
                return Some(part);
            }
            self.rest = self.rest.find(',').and_then(|comma| self.rest.get(comma..)).unwrap_or_default();
        }
    }
}

/// The token at the beginning (RFC 9110, 5.6.2), which may be empty.
fn token(text: &str) -> (&str, &str) {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let end = text.bytes().position(|byte| !is_token(byte)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// What stands up to the closing quote, without escapes. One that is never closed is no value.
fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, quoted.get(at + 1..)?)),
            '\\' => value.push(characters.next()?.1),
            other => value.push(other),
        }
    }
    None
}
