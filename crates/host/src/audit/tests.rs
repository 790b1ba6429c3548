//! The audit queue: bounded, numbered, with a count of lost records.

use std::time::Duration;

use super::record::CalledTool;
use super::*;

fn record() -> AuditRecord {
    AuditRecord::new(CalledTool::UnknownName("none".to_owned()), None, Duration::ZERO)
}

fn numbers(records: &[AuditRecord]) -> Vec<(u64, u64)> {
    let keeper = AuditSource { session: "s".to_owned(), door: "test".to_owned() };
    let text = record::write_json_lines(records, &keeper);
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.map(|line| (line["number"].as_u64().unwrap(), line["lost"].as_u64().unwrap_or(0))).collect()
}

// B118 H36
#[test]
fn records_lost_to_a_full_queue_are_counted_in_the_next_record() {
    let mut queue = AuditQueue::default();
    let lengths: Vec<usize> = (0..AUDIT_QUEUE + 3).map(|_| queue.push_record(record())).collect();
    assert_eq!(lengths.last(), Some(&AUDIT_QUEUE));
    let taken = queue.drain_records();
    assert_eq!(taken.len(), AUDIT_QUEUE);
    queue.push_record(record());
    queue.push_record(record());
    let next = AUDIT_QUEUE as u64 + 4;
    assert_eq!(numbers(&queue.drain_records()), [(next, 3), (next + 1, 0)]);
    let first = numbers(&taken);
    assert!(first.iter().enumerate().all(|(at, it)| *it == (at as u64 + 1, 0)));
}
