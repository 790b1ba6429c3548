//! The command line of the soak test.

use std::time::Duration;

/// The share of a run, as a divisor, that does not count because heaps and pools still fill.
const WARM_UP_SHARE: u32 = 5;
const LONGEST_WARM_UP: Duration = Duration::from_secs(600);

/// Load many servers while they are being killed, and see whether every promise holds
///
/// Drives the library in this process over servers that are processes of their own. A local server that was
/// killed is for the library to start again; one behind a URL comes back by itself after at most three seconds,
/// as under a supervisor. Ends all processes it started.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Duration of the run: a number with `ms`, `s`, `m` or `h`
    #[arg(long = "for", default_value = "5m", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) lasts: Duration,
    /// Number of local servers, and of servers behind a URL
    #[arg(long, default_value = "50+50", value_parser = parse_servers, value_name = "LOCAL+REMOTE")]
    pub(crate) servers: (usize, usize),
    /// Calls started per second, whether earlier ones have ended or not
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rate: u32,
    /// Interval at which a server is killed
    #[arg(long, default_value = "2s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) kill_every: Duration,
    /// Allowed memory growth from the warm-up to the end, in percent
    #[arg(long, default_value_t = 5.0, value_name = "PERCENT")]
    pub(crate) growth: f64,
    /// Repeats the choices of an earlier run
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) output: crate::ReportOutput,
}

impl Options {
    /// The warm-up: the time before the first memory sample that counts.
    pub(crate) fn warm_up_time(&self) -> Duration {
        (self.lasts / WARM_UP_SHARE).min(LONGEST_WARM_UP)
    }
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| "not a whole number with a unit".to_owned())?;
    let span = match text.strip_prefix(digits) {
        Some("ms") => Duration::from_millis(number),
        Some("s") => Duration::from_secs(number),
        Some("m") => Duration::from_secs(number.saturating_mul(60)),
        Some("h") => Duration::from_secs(number.saturating_mul(3600)),
        _ => return Err("the unit is `ms`, `s`, `m` or `h`".to_owned()),
    };
    match span {
        Duration::ZERO => Err("more than nothing is needed".to_owned()),
        span if span > Duration::from_secs(24 * 3600) => Err("at most a day".to_owned()),
        span => Ok(span),
    }
}

/// The server limit: more would not fit on one machine.
const MOST_SERVERS: usize = 500;

fn parse_servers(text: &str) -> Result<(usize, usize), String> {
    let (local, remote) = text.split_once('+').ok_or("two numbers with `+` between them")?;
    let number = |text: &str| text.parse::<usize>().map_err(|_| "not a number".to_owned());
    match (number(local)?, number(remote)?) {
        (0, 0) => Err("at least one server is needed".to_owned()),
        (local, remote) if local.max(remote) > MOST_SERVERS => {
            Err(format!("at most {MOST_SERVERS} of a kind"))
        }
        both => Ok(both),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_are_never_nothing() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(parse_duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_duration("1h"), Ok(Duration::from_secs(3600)));
        for wrong in ["", "5", "s", "0s", "1.5s", "-1s", "5 m", "25h", "2d"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn servers_are_two_numbers_of_which_one_is_not_zero() {
        assert_eq!(parse_servers("50+50"), Ok((50, 50)));
        assert_eq!(parse_servers("0+1"), Ok((0, 1)));
        for wrong in ["", "50", "0+0", "a+b", "1+501", "1+2+3"] {
            assert!(parse_servers(wrong).is_err(), "{wrong}");
        }
    }
}
