//! `logs`: what happened to servers in earlier runs, and what they wrote to their standard error.
//!
//! Reads what was kept; no server is started.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcparley::model::log_level::LogLevel;
use mcparley::model::name::ServerName;
use mcparley::model::text::display;
use mcparley::{Loaded, LogLine, Speaker, read_logs};
use serde::Serialize;

use super::{Done, code_of, tell_problems};
use crate::args::LogsArgs;
use crate::context::Context;
use crate::error::{CommandError, with_sources};
use crate::out::{Out, bold, dim};
use crate::report::effective;

/// What is known of one server.
#[derive(Serialize)]
struct Kept {
    server: ServerName,
    lines: Vec<LogLine>,
}

pub(super) fn run(args: &LogsArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let names: Vec<ServerName> = match &args.server {
        Some(name) => vec![ServerName::new(name)],
        None => effective(&loaded.plan).into_iter().map(|server| server.name.clone()).collect(),
    };
    let mut all = Vec::new();
    for server in names {
        let mut lines = read_logs(&context.paths, &server)
            .map_err(|error| CommandError::File { hint: error.hint(), message: with_sources(&error) })?;
        lines.retain(|line| is_important(&line.from, args.level));
        let skipped = lines.len().saturating_sub(args.lines);
        all.push(Kept { server, lines: lines.into_iter().skip(skipped).collect() });
    }
    // Of a server that was removed there may still be something to read.
    if let (Some(name), [Kept { lines, .. }]) = (&args.server, all.as_slice())
        && lines.is_empty()
        && loaded.plan.named(name).is_empty()
    {
        tell_problems(loaded, out);
        return Err(CommandError::NotFound { name: name.clone(), similar: loaded.similar(name) });
    }
    if out.json {
        out.value(&serde_json::json!({ "servers": all }));
        return Ok(code_of(loaded));
    }
    tell_problems(loaded, out);
    let told: Vec<&Kept> = all.iter().filter(|kept| !kept.lines.is_empty()).collect();
    for kept in &told {
        kept.render(out);
    }
    if told.is_empty() {
        out.say("Nothing was kept: only runs with something to tell are.");
    }
    Ok(code_of(loaded))
}

/// Whether a line is wanted. A level that is none of the protocol's may be of any importance.
fn is_important(from: &Speaker, least: Option<LogLevel>) -> bool {
    match (from, least) {
        (Speaker::Server { level, .. }, Some(least)) => {
            level.parse().map_or(true, |level: LogLevel| level >= least)
        }
        (_, _) => true,
    }
}

impl Kept {
    fn render(&self, out: &mut Out) {
        out.line(bold(self.server.as_str()));
        for line in &self.lines {
            let from = match &line.from {
                Speaker::Host => "host".to_owned(),
                Speaker::Server { level, logger: None } => format!("server {level}"),
                Speaker::Server { level, logger: Some(logger) } => format!("server {level} {logger}"),
                Speaker::Stderr => "stderr".to_owned(),
                _ => "other".to_owned(),
            };
            let about = dim(&format!("{} {from}", date(line.at)));
            out.line(format!("  {about}  {}", display(&line.text.clean())));
        }
    }
}

/// Date and time in UTC, as in `2026-07-28 09:05:00Z`.
fn date(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day counted from 1970, by years that begin in March: then the leap day is the last one.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01 00:00:00Z"),
            (951_782_400, "2000-02-29 00:00:00Z"),
            (951_868_800, "2000-03-01 00:00:00Z"),
            (1_785_229_500, "2026-07-28 09:05:00Z"),
            (4_107_542_399, "2100-02-28 23:59:59Z"),
            (4_107_542_400, "2100-03-01 00:00:00Z"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
