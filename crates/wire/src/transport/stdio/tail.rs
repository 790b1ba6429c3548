//! The bounded tail of a text stream.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use mcparley_model::limits::STDERR_BYTES;
use tokio::sync::{Notify, watch};

/// Limit of remembered read times; older bytes count as read at the oldest of them.
const MARKS: usize = 512;

/// The last bytes of a stream, and their total number.
#[derive(Debug, Default)]
pub(super) struct StderrBuffer {
    state: Mutex<StderrBufferState>,
    /// Notified when bytes arrive.
    arrived: Notify,
    /// The total number of bytes, for followers.
    total: watch::Sender<u64>,
    /// Whether another process writes the lines to the log file.
    logged_elsewhere: AtomicBool,
}

/// The lines of a stream after a position.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StderrLines {
    /// The whole lines, each with the time at which its first byte was read.
    pub lines: Vec<(SystemTime, String)>,
    /// The last line, if it has no line end yet.
    pub unfinished: Option<(SystemTime, String)>,
    /// The position after the last whole line.
    pub end: u64,
}

#[derive(Debug, Default)]
struct StderrBufferState {
    bytes: VecDeque<u8>,
    total: u64,
    /// Read times by stream position, the oldest first.
    marks: VecDeque<(u64, SystemTime)>,
}

impl StderrBuffer {
    pub(super) fn push_bytes(&self, bytes: &[u8]) {
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let start = kept.total;
        kept.marks.push_back((start, SystemTime::now()));
        if kept.marks.len() > MARKS {
            kept.marks.pop_front();
        }
        kept.total += bytes.len() as u64;
        let fresh = bytes.get(bytes.len().saturating_sub(STDERR_BYTES)..).unwrap_or_default();
        let surplus = (kept.bytes.len() + fresh.len()).saturating_sub(STDERR_BYTES);
        kept.bytes.drain(..surplus);
        kept.bytes.extend(fresh);
        let total = kept.total;
        drop(kept);
        self.arrived.notify_one();
        self.total.send_replace(total);
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.total.subscribe()
    }

    pub(super) fn leave_logging_to_others(&self) {
        self.logged_elsewhere.store(true, Ordering::Relaxed);
    }

    pub(super) fn take_over_logging(&self) {
        self.logged_elsewhere.store(false, Ordering::Relaxed);
    }

    pub(super) fn is_logged_elsewhere(&self) -> bool {
        self.logged_elsewhere.load(Ordering::Relaxed)
    }

    /// The kept text after a position of the stream, and the position of its end.
    pub(super) fn text_after(&self, position: u64) -> (String, u64) {
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (total, dropped) = (kept.total, kept.total - kept.bytes.len() as u64);
        let skipped = usize::try_from(position.max(dropped) - dropped).unwrap_or(usize::MAX);
        let bytes = kept.bytes.make_contiguous().get(skipped..).unwrap_or_default();
        (String::from_utf8_lossy(bytes).into_owned(), total)
    }

    /// Waits until bytes have arrived since the last wait; only one caller may wait.
    pub(super) async fn wait_for_bytes(&self) {
        self.arrived.notified().await;
    }

    /// The kept lines after a position of the stream; invalid UTF-8 is replaced.
    pub(super) fn lines_after(&self, position: u64) -> StderrLines {
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = kept.total - kept.bytes.len() as u64;
        let mut found = StderrLines { end: position.max(dropped), ..StderrLines::default() };
        let skipped = usize::try_from(found.end - dropped).unwrap_or(usize::MAX);
        let bytes = kept.bytes.make_contiguous().get(skipped..).unwrap_or_default().to_vec();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let at = kept.read_time(found.end).unwrap_or_else(SystemTime::now);
            match line.strip_suffix(b"\n") {
                Some(whole) => {
                    found.lines.push((at, String::from_utf8_lossy(whole).into_owned()));
                    found.end += line.len() as u64;
                }
                None => found.unfinished = Some((at, String::from_utf8_lossy(line).into_owned())),
            }
        }
        if let Some(lost) = dropped.checked_sub(position).filter(|lost| *lost > 0) {
            let at = found
                .lines
                .first()
                .or(found.unfinished.as_ref())
                .map_or_else(SystemTime::now, |first| first.0);
            found.lines.insert(0, (at, format!("[{lost} bytes before this were dropped]")));
        }
        found
    }

    /// The kept text; invalid UTF-8 is replaced.
    pub(super) fn text(&self) -> String {
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = kept.total - kept.bytes.len() as u64;
        let text = String::from_utf8_lossy(kept.bytes.make_contiguous()).into_owned();
        if dropped == 0 { text } else { format!("[{dropped} bytes before this were dropped]\n{text}") }
    }

    /// The time at which the first byte of each line of the kept text was read.
    pub(super) fn line_times(&self) -> Vec<SystemTime> {
        let kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = kept.total - kept.bytes.len() as u64;
        let ends = kept.bytes.iter().zip(dropped..).filter(|(byte, _)| **byte == b'\n').map(|(_, at)| at + 1);
        // The line that reports the dropped bytes is as old as the first kept one.
        let starts = (dropped > 0).then_some(dropped).into_iter().chain([dropped]).chain(ends);
        let starts = starts.filter(|start| *start < kept.total);
        starts.filter_map(|start| kept.read_time(start)).collect()
    }
}

impl StderrBufferState {
    fn read_time(&self, place: u64) -> Option<SystemTime> {
        let later = self.marks.partition_point(|(start, _)| *start <= place);
        self.marks.get(later.saturating_sub(1)).map(|(_, time)| *time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // U2
    #[test]
    fn each_line_has_the_time_its_first_byte_was_read() {
        let tail = StderrBuffer::default();
        tail.push_bytes(b"one\ntw");
        let between = SystemTime::now();
        tail.push_bytes(b"o\nthree\n");
        let times = tail.line_times();
        assert_eq!(tail.text().lines().count(), 3);
        assert_eq!(times.len(), 3);
        assert!(times[0] <= between && times[1] <= between && times[2] >= between, "{times:?}");
    }

    // U2
    #[test]
    fn lines_after_a_position_are_those_not_read_yet() {
        let texts =
            |lines: &StderrLines| lines.lines.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>();
        let tail = StderrBuffer::default();
        tail.push_bytes(b"one\ntw");
        let first = tail.lines_after(0);
        assert_eq!((texts(&first), first.end), (vec!["one".to_owned()], 4));
        assert_eq!(first.unfinished.unwrap().1, "tw");
        tail.push_bytes(b"o\nthree\n");
        let second = tail.lines_after(first.end);
        assert_eq!(texts(&second), ["two", "three"]);
        assert_eq!(tail.lines_after(second.end), StderrLines { end: second.end, ..StderrLines::default() });
        tail.push_bytes(&b"x".repeat(STDERR_BYTES));
        let late = tail.lines_after(4);
        assert_eq!(texts(&late), ["[10 bytes before this were dropped]"]);
    }

    // U2
    #[test]
    fn every_line_has_a_time_when_the_beginning_was_dropped() {
        let tail = StderrBuffer::default();
        for _ in 0..(2 * STDERR_BYTES / 64) {
            tail.push_bytes(&[b"x".repeat(63).as_slice(), b"\n"].concat());
        }
        assert_eq!(tail.line_times().len(), tail.text().lines().count());
    }
}
