//! The queue of records: bounded, numbered, and honest about what is lost.

use std::time::Duration;

use super::record::Called;
use super::*;

fn record() -> Record {
    Record::new(Called::Nothing("none".to_owned()), None, Duration::ZERO)
}

fn numbers(records: &[Record]) -> Vec<(u64, u64)> {
    let keeper = Keeper { session: "s".to_owned(), door: "test".to_owned() };
    let lines = records.iter().map(|record| record.line(&keeper));
    let lines = lines.map(|line| serde_json::from_str::<serde_json::Value>(&line).unwrap());
    lines.map(|line| (line["number"].as_u64().unwrap(), line["lost"].as_u64().unwrap_or(0))).collect()
}

// B118 H36
#[test]
fn what_does_not_fit_is_counted_and_told_by_the_next_record() {
    let mut queue = Queue::default();
    (0..AUDIT_QUEUE + 3).for_each(|_| queue.put(record()));
    let taken = queue.take();
    assert_eq!(taken.len(), AUDIT_QUEUE);
    queue.put(record());
    queue.put(record());
    let next = AUDIT_QUEUE as u64 + 4;
    assert_eq!(numbers(&queue.take()), [(next, 3), (next + 1, 0)]);
    let first = numbers(&taken);
    assert!(first.iter().enumerate().all(|(at, it)| *it == (at as u64 + 1, 0)));
}
