//! The lines of a log in memory, as small as can be: a server that is lost and found for days says the same again and again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::limits::LOG_LINES;
use mcparley_model::text::Untrusted;

use super::{LogLine, Speaker};

/// How many of the newest lines are looked at for the same words.
const LOOKED_AT: usize = 16;

/// The newest lines, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Kept(VecDeque<Line>);

#[derive(Clone, Debug)]
struct Line {
    at: SystemTime,
    from: From,
    /// Shared by the lines that say the same.
    text: Arc<str>,
}

#[derive(Clone, Debug)]
enum From {
    Host,
    Stderr,
    /// Rare, and large.
    Server(Box<(String, Option<String>)>),
}

impl Kept {
    /// Adds a line; the oldest goes when there is no room.
    pub(super) fn add(&mut self, line: LogLine) {
        if self.0.len() >= LOG_LINES {
            self.0.pop_front();
        }
        let LogLine { at, from, text } = line;
        let text = self.shared(text.raw());
        self.0.push_back(Line { at, from: from.into(), text });
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The lines without the first `skipped`.
    pub(super) fn from(&self, skipped: usize) -> impl Iterator<Item = LogLine> {
        self.0.iter().skip(skipped).map(|line| LogLine {
            at: line.at,
            from: line.from.clone().into(),
            text: Untrusted::new(&*line.text),
        })
    }

    fn shared(&self, text: &str) -> Arc<str> {
        let newest = self.0.iter().rev().take(LOOKED_AT);
        let same = newest.map(|line| &line.text).find(|known| ***known == *text);
        same.map_or_else(|| Arc::from(text), Arc::clone)
    }
}

impl std::convert::From<Speaker> for From {
    fn from(speaker: Speaker) -> Self {
        match speaker {
            Speaker::Host => Self::Host,
            Speaker::Stderr => Self::Stderr,
            Speaker::Server { level, logger } => Self::Server(Box::new((level, logger))),
        }
    }
}

impl std::convert::From<From> for Speaker {
    fn from(from: From) -> Self {
        match from {
            From::Host => Self::Host,
            From::Stderr => Self::Stderr,
            From::Server(said) => {
                let (level, logger) = *said;
                Self::Server { level, logger }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcparley_model::limits::LOG_LINES;

    use super::{Kept, LogLine, Speaker};

    fn host(text: &str) -> LogLine {
        LogLine::new(Speaker::Host, text)
    }

    // U2
    #[test]
    fn lines_come_back_as_they_were() {
        let level = Speaker::Server { level: "error".to_owned(), logger: Some("disk".to_owned()) };
        let lines = [host("connected"), LogLine::new(level, "full"), LogLine::new(Speaker::Stderr, "")];
        let mut kept = Kept::default();
        lines.iter().cloned().for_each(|line| kept.add(line));
        assert_eq!(kept.from(0).collect::<Vec<_>>(), lines);
        assert_eq!(kept.from(2).collect::<Vec<_>>(), lines[2..]);
    }

    #[test]
    fn the_oldest_goes_when_there_is_no_room() {
        let mut kept = Kept::default();
        (0..=LOG_LINES).for_each(|number| kept.add(host(&number.to_string())));
        assert_eq!(kept.len(), LOG_LINES);
        assert_eq!(kept.from(0).next().map(|line| line.text.raw().to_owned()).as_deref(), Some("1"));
    }

    #[test]
    fn what_is_said_again_is_kept_once() {
        let mut kept = Kept::default();
        ["refused", "connected", "refused"].into_iter().for_each(|text| kept.add(host(text)));
        assert!(Arc::ptr_eq(&kept.0[0].text, &kept.0[2].text));
        assert!(size_of::<super::Line>() <= 48, "a line is {} bytes", size_of::<super::Line>());
    }
}
