//! Parsing `/proc` without allocating.

use super::{PidParser, parse_parent_pid, parse_pid, stat_path};
use rustix::process::Pid;

fn pid(number: i32) -> Pid {
    Pid::from_raw(number).unwrap()
}

#[test]
fn parent_pid_is_parsed_after_any_process_name() {
    let table: [(&[u8], Option<i32>); 7] = [
        (b"10 (node) S 7 10 10 0 -1", Some(7)),
        (b"10 (a b) S 7 10", Some(7)),
        (b"10 (x) Z 1) S 4194303 0", Some(4_194_303)),
        (b"10 (dead) Z 7 10 10 0 -1", None),
        (b"1 (init) S 0 1", None),
        (b"10 (cut", None),
        (b"", None),
    ];
    for (stat, parent) in table {
        let text = String::from_utf8_lossy(stat);
        assert_eq!(parse_parent_pid(stat), parent.map(pid), "{text}");
    }
}

#[test]
fn stat_path_is_formatted_for_every_pid() {
    for (number, path) in [(1, c"1/stat"), (40, c"40/stat"), (i32::MAX, c"2147483647/stat")] {
        assert_eq!(stat_path(pid(number), &mut [0; 24]), Some(path));
    }
}

#[test]
fn only_digits_are_parsed_as_a_pid() {
    assert_eq!(parse_pid(b"4194303"), Some(pid(4_194_303)));
    for other in [&b""[..], b"0", b"self", b"12a", b"99999999999"] {
        assert_eq!(parse_pid(other), None);
    }
}

// F20
#[test]
fn pids_are_parsed_across_chunk_boundaries() {
    let mut numbers = PidParser::default();
    let found: Vec<i32> = b"12 345 0  x7 \n99"
        .iter()
        .filter_map(|byte| numbers.push_byte(*byte))
        .map(Pid::as_raw_pid)
        .collect();
    assert_eq!(found, [12, 345, 7]);
}
