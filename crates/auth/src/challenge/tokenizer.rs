//! Tokenizer for `WWW-Authenticate`: splits it into schemes and parameters (RFC 9110, 11.6.1).
//!
//! A scheme stands at the start or after a comma, and so may a parameter; the next character distinguishes
//! them. Malformed text is skipped up to the next comma, so that it does not hide the next challenge.

/// A part of a challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChallengePart<'w> {
    /// The scheme that begins a challenge.
    Scheme(&'w str),
    /// A parameter of the current challenge.
    Parameter {
        /// Its name, in lower case.
        name: String,
        /// Its value, without quotes and escapes.
        value: String,
    },
}

/// An iterator over the parts of a header.
#[derive(Clone, Debug)]
pub(super) struct ChallengeParser<'w> {
    rest: &'w str,
    /// Whether a scheme is allowed here.
    may_begin: bool,
}

impl<'w> ChallengeParser<'w> {
    pub(super) fn new(words: &'w str) -> Self {
        Self { rest: words, may_begin: true }
    }

    /// Skips white space and commas.
    fn skip_separators(&mut self) {
        let behind = self.rest.trim_start_matches([' ', '\t', ',']);
        let passed = self.rest.len() - behind.len();
        self.may_begin |= self.rest.get(..passed).is_some_and(|passed| passed.contains(','));
        self.rest = behind;
    }

    /// Parses a parameter at the current position, if there is one.
    fn parse_parameter(&mut self) -> Option<ChallengePart<'w>> {
        let (name, behind) = split_token(self.rest);
        let behind = behind.trim_start_matches([' ', '\t']).strip_prefix('=')?;
        let behind = behind.trim_start_matches([' ', '\t']);
        // The padding of a token68, as `Basic` and `Negotiate` have it.
        if name.is_empty() || behind.starts_with('=') {
            return None;
        }
        let (value, behind) = match behind.strip_prefix('"') {
            Some(quoted) => parse_quoted(quoted)?,
            None => {
                let end = behind.find([' ', '\t', ',']).unwrap_or(behind.len());
                let (value, behind) = behind.split_at(end);
                (value.to_owned(), behind)
            }
        };
        self.rest = behind;
        Some(ChallengePart::Parameter { name: name.to_ascii_lowercase(), value })
    }

    /// Parses a scheme at the current position, if there is one.
    fn parse_scheme(&mut self) -> Option<ChallengePart<'w>> {
        let (name, behind) = split_token(self.rest);
        let ends = behind.is_empty() || behind.starts_with([' ', '\t', ',']);
        if !self.may_begin || name.is_empty() || !ends {
            return None;
        }
        self.rest = behind;
        Some(ChallengePart::Scheme(name))
    }
}

impl<'w> Iterator for ChallengeParser<'w> {
    type Item = ChallengePart<'w>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.skip_separators();
            if self.rest.is_empty() {
                return None;
            }
            if let Some(part) = self.parse_parameter().or_else(|| self.parse_scheme()) {
                self.may_begin = false;
                return Some(part);
            }
            self.rest = self.rest.find(',').and_then(|comma| self.rest.get(comma..)).unwrap_or_default();
        }
    }
}

/// Splits off the token at the start (RFC 9110, 5.6.2), which may be empty.
fn split_token(text: &str) -> (&str, &str) {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let end = text.bytes().position(|byte| !is_token(byte)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Parses a quoted string up to the closing quote and resolves its escapes. `None` without a closing quote.
fn parse_quoted(quoted: &str) -> Option<(String, &str)> {
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
