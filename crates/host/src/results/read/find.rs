//! Finds the lines of a text that match a pattern. Patterns take time in proportion to the text, whatever they are.

use std::collections::VecDeque;
use std::io::BufRead;

use mcparley_model::limits::{PATTERN_BYTES, READ_LINE_CHARS};
use regex::bytes::{Regex, RegexBuilder};

use super::wish::Wish;
use super::{ReadError, failed};

/// The lines that match, from the line `offset` on, each with its number: `12:` for a match, `12-` for a line around one.
pub(super) fn lines(wish: &Wish, pattern: &str, mut text: impl BufRead) -> Result<String, ReadError> {
    let built =
        RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).dfa_size_limit(4 * PATTERN_BYTES).build();
    let pattern = built.map_err(|error| ReadError::Pattern(error.to_string()))?;
    let mut found = Finding {
        wish,
        pattern,
        out: String::new(),
        before: VecDeque::new(),
        after: 0,
        given: 0,
        told: 0,
        all: 0,
        next: None,
    };
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        if text.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(found.finish());
        }
        number += 1;
        let bare = line.strip_suffix(b"\n").unwrap_or(&line);
        if number >= wish.offset {
            found.see(number, bare);
        }
    }
}

/// What has been found so far.
struct Finding<'w> {
    wish: &'w Wish,
    pattern: Regex,
    out: String,
    /// Lines that are shown if a match follows.
    before: VecDeque<(u64, String)>,
    /// How many lines are still shown after the last match.
    after: usize,
    /// How many matches are shown, and how many there are.
    given: usize,
    all: usize,
    /// The last line that is shown.
    told: u64,
    /// The first match that is not shown.
    next: Option<u64>,
}

impl Finding<'_> {
    fn see(&mut self, number: u64, line: &[u8]) {
        match self.pattern.find(line) {
            Some(place) => {
                self.all += 1;
                let is_full = self.given == self.wish.matches() || self.out.len() >= self.wish.most;
                if is_full || self.next.is_some() {
                    self.next.get_or_insert(number);
                    self.after = 0;
                    return;
                }
                self.given += 1;
                for (number, line) in std::mem::take(&mut self.before) {
                    self.tell(number, '-', &line);
                }
                self.tell(number, ':', &around(line, place.start(), place.end()));
                self.after = self.wish.context;
            }
            None if self.after > 0 => {
                self.after -= 1;
                self.tell(number, '-', &around(line, 0, 0));
            }
            None if self.wish.context > 0 && self.next.is_none() => {
                if self.before.len() == self.wish.context {
                    self.before.pop_front();
                }
                self.before.push_back((number, around(line, 0, 0)));
            }
            None => {}
        }
    }

    fn tell(&mut self, number: u64, mark: char, line: &str) {
        if self.wish.context > 0 && self.told > 0 && number > self.told + 1 {
            self.out.push_str("--\n");
        }
        self.told = number;
        self.out.push_str(&format!("{number}{mark}{line}\n"));
    }

    fn finish(self) -> String {
        let Self { mut out, given, all, next, .. } = self;
        out.push_str(&match next {
            None => format!("[{all} matching lines]"),
            Some(next) => format!("[{given} of {all} matching lines, next offset {next}]"),
        });
        out
    }
}

/// The line, or so much of it as stands around a place in it.
fn around(line: &[u8], from: usize, to: usize) -> String {
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
