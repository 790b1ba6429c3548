//! Parses URLs that still contain `${VARIABLE}`: stand-ins replace the placeholders during the parse.

use url::{ParseError, Url};

/// A parsed URL with stand-ins for its placeholders.
pub(super) struct ParsedUrl {
    /// The URL as the parser read it.
    pub(super) url: Url,
    /// The stand-ins of its placeholders.
    pub(super) stand_ins: StandIns,
}

/// The placeholders of a text and their stand-ins.
pub(super) struct StandIns {
    /// Each placeholder with its stand-in.
    words: Vec<(String, String)>,
    /// The number that stands for the port, if the port is a placeholder.
    port: Option<(String, u16)>,
}

impl ParsedUrl {
    /// Parses a text; `None` if it is not a URL for any value of its placeholders.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let pieces = split_placeholders(text);
        match Self::parse_with_port(text, &pieces, None) {
            Ok(parsed) => parsed,
            // A port consists of digits, so a placeholder for the port gets a number.
            Err(ParseError::InvalidPort) => {
                let is_port = |at: &usize| {
                    matches!((at.checked_sub(1).and_then(|before| pieces.get(before)), pieces.get(*at)),
                        (Some(UrlPiece::Literal(before)), Some(UrlPiece::Placeholder(_))) if before.ends_with(':'))
                };
                (0..pieces.len())
                    .filter(is_port)
                    .find_map(|at| Self::parse_with_port(text, &pieces, Some(at)).ok().flatten())
            }
            Err(_) => None,
        }
    }

    fn parse_with_port(
        text: &str,
        pieces: &[UrlPiece<'_>],
        port: Option<usize>,
    ) -> Result<Option<Self>, ParseError> {
        let mut stand_ins = StandIns { words: Vec::new(), port: None };
        let mark = find_unused_mark(text);
        let mut candidate = String::new();
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                UrlPiece::Literal(literal) => candidate.push_str(literal),
                UrlPiece::Placeholder(placeholder) if port == Some(at) => {
                    let number = find_unused_port(text);
                    candidate.push_str(&number.to_string());
                    stand_ins.port = Some(((*placeholder).to_owned(), number));
                }
                UrlPiece::Placeholder(placeholder) => {
                    let word = format!("{mark}{at}x");
                    candidate.push_str(&word);
                    stand_ins.words.push(((*placeholder).to_owned(), word));
                }
            }
        }
        let url = Url::parse(&candidate)?;
        Ok(stand_ins.are_intact(&url).then_some(Self { url, stand_ins }))
    }
}

impl StandIns {
    /// Replaces the stand-ins in a part of the URL by their placeholders.
    pub(super) fn restore_placeholders(&self, part: &str) -> String {
        self.words.iter().fold(part.to_owned(), |text, (placeholder, word)| text.replace(word, placeholder))
    }

    /// Replaces the port by its placeholder if it is a stand-in.
    pub(super) fn restore_port(&self, port: u16) -> String {
        match &self.port {
            Some((placeholder, number)) if *number == port => placeholder.clone(),
            Some(_) | None => port.to_string(),
        }
    }

    /// Whether the parser kept every stand-in and did not create a second one, as from `%73`.
    fn are_intact(&self, url: &Url) -> bool {
        let is_port_kept = self.port.as_ref().is_none_or(|(_, number)| url.port() == Some(*number));
        is_port_kept && self.words.iter().all(|(_, word)| url.as_str().matches(word.as_str()).count() == 1)
    }
}

enum UrlPiece<'t> {
    Literal(&'t str),
    Placeholder(&'t str),
}

fn split_placeholders(text: &str) -> Vec<UrlPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((start, end)) = find_placeholder(rest) {
        let (before, after) = rest.split_at(start);
        let (placeholder, after) = after.split_at(end - start);
        if !before.is_empty() {
            pieces.push(UrlPiece::Literal(before));
        }
        pieces.push(UrlPiece::Placeholder(placeholder));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(UrlPiece::Literal(rest));
    }
    pieces
}

/// The literal parts of a text, without its placeholders.
pub(super) fn without_placeholders(text: &str) -> String {
    let literals = split_placeholders(text).into_iter().filter_map(|piece| match piece {
        UrlPiece::Literal(literal) => Some(literal),
        UrlPiece::Placeholder(_) => None,
    });
    literals.collect()
}

fn find_placeholder(text: &str) -> Option<(usize, usize)> {
    let start = text.find("${")?;
    let length = text.get(start..)?.find('}')? + 1;
    Some((start, start + length))
}

/// A word of lowercase letters that the text does not contain; every part of a URL except the port accepts
/// it unchanged.
fn find_unused_mark(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    let mut mark = "standin".to_owned();
    while text.contains(&mark) {
        mark.push('q');
    }
    mark
}

fn find_unused_port(text: &str) -> u16 {
    (50_000..u16::MAX).find(|port| !text.contains(&port.to_string())).unwrap_or(u16::MAX)
}
