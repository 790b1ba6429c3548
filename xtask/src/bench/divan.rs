//! Parses the times in divan's table, which is its only output.

use std::time::Duration;

/// The times of a bench.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BenchTiming {
    pub(super) fastest: Duration,
    pub(super) median: Duration,
}

/// The times of the bench called `name`, or `name/argument` for one of its arguments.
///
/// A row is `├─ name  fastest │ slowest │ median │ mean │ samples │ iters`.
pub(super) fn find_timing(table: &str, name: &str) -> Option<BenchTiming> {
    let mut lines = table.lines();
    let row = match name.split_once('/') {
        Some((bench, argument)) => {
            lines.find(|line| parse_columns(line, bench).is_some())?;
            lines.find_map(|line| parse_columns(line, argument))?
        }
        None => lines.find_map(|line| parse_columns(line, name))?,
    };
    let column = |index| parse_duration(row.split('│').nth(index)?.trim());
    Some(BenchTiming { fastest: column(0)?, median: column(2)? })
}

/// The columns after the name, if the row has this name.
fn parse_columns<'t>(line: &'t str, name: &str) -> Option<&'t str> {
    let row = line.trim_start_matches(['├', '╰', '─', '│', ' ']);
    row.strip_prefix(name).filter(|rest| rest.starts_with(' '))
}

/// Parses a time such as `1.234 ms`.
fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_once(' ')?;
    let scale = match unit {
        "ps" => 1e-12,
        "ns" => 1e-9,
        "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * scale).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{BenchTiming, find_timing};

    const TABLE: &str = "\
Timer precision: 12 ns
naming                         fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ plain_names_of_some_length  1.1 ms        │ 9.9 ms        │ 2.2 ms        │ 3.3 ms        │ 100     │ 100
├─ plain_names                 8.404 ms      │ 11.05 ms      │ 8.684 ms      │ 8.796 ms      │ 100     │ 100
├─ one_late_tool               312.7 ns      │ 401.1 ns      │ 320.0 ns      │ 322.1 ns      │ 100     │ 1600
├─ draw                                      │               │               │               │         │
│  ├─ (80, 24)                 1.1 ms        │ 9.9 ms        │ 1.2 ms        │ 3.3 ms        │ 100     │ 100
│  ╰─ (200, 60)                2.1 ms        │ 9.9 ms        │ 2.2 ms        │ 3.3 ms        │ 100     │ 100
╰─ refresh_and_draw                          │               │               │               │         │
   ├─ (80, 24)                 3.1 ms        │ 9.9 ms        │ 3.2 ms        │ 3.3 ms        │ 100     │ 100
   ╰─ (200, 60)                4.1 ms        │ 9.9 ms        │ 4.2 ms        │ 4.3 ms        │ 100     │ 100
";

    #[test]
    fn times_are_read_from_row_with_exact_name() {
        let wanted =
            BenchTiming { fastest: Duration::from_micros(8_404), median: Duration::from_micros(8_684) };
        assert_eq!(find_timing(TABLE, "plain_names"), Some(wanted));
    }

    #[test]
    fn nanoseconds_are_parsed() {
        assert_eq!(
            find_timing(TABLE, "one_late_tool").map(|timing| timing.median),
            Some(Duration::from_nanos(320))
        );
    }

    #[test]
    fn times_of_an_argument_are_those_of_its_bench() {
        let median = |name: &str| find_timing(TABLE, name).map(|timing| timing.median);
        assert_eq!(median("draw/(200, 60)"), Some(Duration::from_micros(2_200)));
        assert_eq!(median("refresh_and_draw/(200, 60)"), Some(Duration::from_micros(4_200)));
        assert_eq!(median("draw/(1, 1)"), None);
        assert_eq!(median("draw"), None);
    }

    #[test]
    fn missing_bench_has_no_times() {
        assert_eq!(find_timing(TABLE, "plain"), None);
    }
}
