//! Finds the lines of a stored text that match a regular expression, in time linear in the text for every
//! pattern.

use std::collections::VecDeque;
use std::io::BufRead;

use mcparley_model::limits::{PATTERN_BYTES, READ_LINE_CHARS};
use regex::bytes::{Regex, RegexBuilder};

use super::arguments::ReadResultArgs;
use super::{ReadResultError, to_read_error};

/// Finds matching lines from the line `offset` on, each with its number: `12:` for a match, `12-` for a
/// context line.
pub(super) fn find_lines(
    wish: &ReadResultArgs,
    pattern: &str,
    mut text: impl BufRead,
) -> Result<String, ReadResultError> {
    let built =
        RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).dfa_size_limit(4 * PATTERN_BYTES).build();
    let pattern = built.map_err(|error| ReadResultError::Pattern(error.to_string()))?;
    let mut found = LineSearch {
        wish,
        pattern,
        out: String::new(),
        before: VecDeque::new(),
        after: 0,
        given: 0,
        last_line: 0,
        all: 0,
        next: None,
    };
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        if text.read_until(b'\n', &mut line).map_err(to_read_error)? == 0 {
            return Ok(found.finish());
        }
        number += 1;
        let bare = line.strip_suffix(b"\n").unwrap_or(&line);
        if number >= wish.offset {
            found.process_line(number, bare);
        }
    }
}

/// State of a line search: the output so far and the pending context lines.
struct LineSearch<'w> {
    wish: &'w ReadResultArgs,
    pattern: Regex,
    out: String,
    /// Context lines that are written if a match follows.
    before: VecDeque<(u64, String)>,
    /// The number of context lines still to write after the last match.
    after: usize,
    /// The number of matches written, and of all matches.
    given: usize,
    all: usize,
    /// The number of the last line written.
    last_line: u64,
    /// The line number of the first match that does not fit any more.
    next: Option<u64>,
}

impl LineSearch<'_> {
    /// Writes or remembers one line, depending on whether it matches or is near a match.
    fn process_line(&mut self, number: u64, line: &[u8]) {
        match self.pattern.find(line) {
            Some(place) => {
                self.all += 1;
                let is_full = self.given == self.wish.max_matches() || self.out.len() >= self.wish.most;
                if is_full || self.next.is_some() {
                    self.next.get_or_insert(number);
                    self.after = 0;
                    return;
                }
                self.given += 1;
                for (number, line) in std::mem::take(&mut self.before) {
                    self.write_line(number, '-', &line);
                }
                self.write_line(number, ':', &excerpt_around(line, place.start(), place.end()));
                self.after = self.wish.context;
            }
            None if self.after > 0 => {
                self.after -= 1;
                self.write_line(number, '-', &excerpt_around(line, 0, 0));
            }
            None if self.wish.context > 0 && self.next.is_none() => {
                if self.before.len() == self.wish.context {
                    self.before.pop_front();
                }
                self.before.push_back((number, excerpt_around(line, 0, 0)));
            }
            None => {}
        }
    }

    /// Writes one line, after a `--` separator if lines were skipped.
    fn write_line(&mut self, number: u64, mark: char, line: &str) {
        if self.wish.context > 0 && self.last_line > 0 && number > self.last_line + 1 {
            self.out.push_str("--\n");
        }
        self.last_line = number;
        self.out.push_str(&format!("{number}{mark}{line}\n"));
    }

    /// The output with the match counts and the offset of the next match.
    fn finish(self) -> String {
        let Self { mut out, given, all, next, .. } = self;
        out.push_str(&match next {
            None => format!("[{all} matching lines]"),
            Some(next) => format!("[{given} of {all} matching lines, next offset {next}]"),
        });
        out
    }
}

/// The whole line, or for a long line an excerpt around the match.
fn excerpt_around(line: &[u8], from: usize, to: usize) -> String {
    if line.len() <= READ_LINE_CHARS {
        return String::from_utf8_lossy(line).into_owned();
    }
    let is_start = |at: &usize| line.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let spare = READ_LINE_CHARS.saturating_sub(to - from) / 2;
    let start = (0..=from.saturating_sub(spare)).rev().find(is_start).unwrap_or(0);
    let end = (start + READ_LINE_CHARS).min(line.len());
    let end = (start..=end).rev().find(is_start).unwrap_or(end);
    let shown = String::from_utf8_lossy(line.get(start..end).unwrap_or_default());
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    format!("{before}{shown}{after} [from byte {start} of a line of {} bytes]", line.len())
}
