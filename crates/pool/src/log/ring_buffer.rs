//! Ring buffer of log lines in memory. Equal texts are shared: a server that reconnects for days logs the
//! same lines.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::limits::LOG_LINES;
use mcparley_model::text::Untrusted;

use super::{LogLine, LogSource};

/// The number of newest lines that are searched for an equal text.
const LOOKED_AT: usize = 16;

/// Ring buffer of the newest lines, oldest first.
#[derive(Debug, Default)]
pub(super) struct LogRing(VecDeque<RingLine>);

/// A log line in the buffer.
#[derive(Clone, Debug)]
struct RingLine {
    at: SystemTime,
    from: RingSource,
    /// The text, shared by equal lines.
    text: Arc<str>,
}

/// The source of a line, in a compact form.
#[derive(Clone, Debug)]
enum RingSource {
    Host,
    Stderr,
    /// Level and logger; boxed, because this is rare and large.
    Server(Box<(String, Option<String>)>),
}

impl LogRing {
    /// Adds a line and evicts the oldest one if the buffer is full.
    pub(super) fn push(&mut self, line: LogLine) {
        if self.0.len() >= LOG_LINES {
            self.0.pop_front();
        }
        let LogLine { at, from, text } = line;
        let text = self.share_text(text.raw());
        self.0.push_back(RingLine { at, from: from.into(), text });
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The lines without the first `skipped`.
    pub(super) fn lines_from(&self, skipped: usize) -> impl Iterator<Item = LogLine> {
        self.0.iter().skip(skipped).map(|line| LogLine {
            at: line.at,
            from: line.from.clone().into(),
            text: Untrusted::new(&*line.text),
        })
    }

    fn share_text(&self, text: &str) -> Arc<str> {
        let newest = self.0.iter().rev().take(LOOKED_AT);
        let same = newest.map(|line| &line.text).find(|known| ***known == *text);
        same.map_or_else(|| Arc::from(text), Arc::clone)
    }
}

impl std::convert::From<LogSource> for RingSource {
    fn from(speaker: LogSource) -> Self {
        match speaker {
            LogSource::Host => Self::Host,
            LogSource::Stderr => Self::Stderr,
            LogSource::Server { level, logger } => Self::Server(Box::new((level, logger))),
        }
    }
}

impl std::convert::From<RingSource> for LogSource {
    fn from(from: RingSource) -> Self {
        match from {
            RingSource::Host => Self::Host,
            RingSource::Stderr => Self::Stderr,
            RingSource::Server(message) => {
                let (level, logger) = *message;
                Self::Server { level, logger }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcparley_model::limits::LOG_LINES;

    use super::{LogLine, LogRing, LogSource};

    fn host(text: &str) -> LogLine {
        LogLine::new(LogSource::Host, text)
    }

    // U2
    #[test]
    fn log_lines_round_trip_through_the_ring_buffer() {
        let level = LogSource::Server { level: "error".to_owned(), logger: Some("disk".to_owned()) };
        let lines = [host("connected"), LogLine::new(level, "full"), LogLine::new(LogSource::Stderr, "")];
        let mut kept = LogRing::default();
        lines.iter().cloned().for_each(|line| kept.push(line));
        assert_eq!(kept.lines_from(0).collect::<Vec<_>>(), lines);
        assert_eq!(kept.lines_from(2).collect::<Vec<_>>(), lines[2..]);
    }

    #[test]
    fn oldest_line_is_evicted_when_the_buffer_is_full() {
        let mut kept = LogRing::default();
        (0..=LOG_LINES).for_each(|number| kept.push(host(&number.to_string())));
        assert_eq!(kept.len(), LOG_LINES);
        assert_eq!(kept.lines_from(0).next().map(|line| line.text.raw().to_owned()).as_deref(), Some("1"));
    }

    #[test]
    fn equal_texts_are_stored_once() {
        let mut kept = LogRing::default();
        ["refused", "connected", "refused"].into_iter().for_each(|text| kept.push(host(text)));
        assert!(Arc::ptr_eq(&kept.0[0].text, &kept.0[2].text));
        assert!(size_of::<super::RingLine>() <= 48, "a line is {} bytes", size_of::<super::RingLine>());
    }
}
