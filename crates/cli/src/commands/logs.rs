//! `logs`: events and standard error of servers in earlier runs, and with `--follow` in those that run now.
//!
//! Reads stored logs; no server is started.

use std::time::SystemTime;

use jiff::Timestamp;
use mcparley::config::LoadedConfig;
use mcparley::model::log_level::LogLevel;
use mcparley::model::name::ServerName;
use mcparley::model::text::display_line;
use mcparley::pool::log::{LogFollower, LogLine, LogSource, StoredLog, read_stored_logs};
use serde_json::json;

use super::{CommandResult, base_exit_code, print_problems};
use crate::args::LogsArgs;
use crate::context::Context;
use crate::error::{CommandError, FileError};
use crate::out::{TerminalOutput, bold, dim};
use crate::runtime;
use mcparley_report::effective_servers;

pub(super) fn run(
    args: &LogsArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let names: Vec<ServerName> = match &args.server {
        Some(name) => vec![ServerName::new(name)],
        None => effective_servers(&loaded.plan).into_iter().map(|server| server.name.clone()).collect(),
    };
    let mut follower = args.follow.then(|| LogFollower::new(&context.paths, names.iter().cloned()));
    let mut all = match &mut follower {
        Some(follower) => follower.read_new_lines().map_err(FileError::FollowedLog)?,
        None => read_stored_logs(&context.paths, names).map_err(FileError::Log)?,
    };
    for StoredLog { lines, .. } in &mut all {
        lines.retain(|line| is_important(&line.from, args.level));
        lines.drain(..lines.len().saturating_sub(args.lines));
    }
    // A removed server may still have a log.
    if let (Some(name), [StoredLog { lines, .. }]) = (&args.server, all.as_slice())
        && lines.is_empty()
        && loaded.plan.servers_by_name(name).is_empty()
    {
        print_problems(loaded, out);
        return Err(CommandError::NotFound {
            name: name.clone(),
            similar: loaded.similar_server_names(name),
        });
    }
    if let Some(follower) = follower {
        print_problems(loaded, out);
        return follow_logs(follower, &all, args.level, out);
    }
    if out.json {
        out.print_json(&json!({ "servers": all }));
        return Ok(base_exit_code(loaded));
    }
    print_problems(loaded, out);
    let told: Vec<&StoredLog> = all.iter().filter(|kept| !kept.lines.is_empty()).collect();
    let mut printer = FollowedLogs { last: None };
    told.iter().for_each(|log| printer.print_lines(log, out));
    if told.is_empty() {
        out.print_message("No logs: only runs with problems are logged.");
    }
    Ok(base_exit_code(loaded))
}

/// Prints the stored lines, and then new lines as they are written, until a signal ends the program.
fn follow_logs(
    mut follower: LogFollower,
    stored: &[StoredLog],
    level: Option<LogLevel>,
    out: &mut TerminalOutput,
) -> CommandResult {
    let mut printer = FollowedLogs { last: None };
    let followed = runtime::run_cancelable(async {
        stored.iter().for_each(|log| printer.print_lines(log, out));
        loop {
            follower.wait_for_change().await;
            for mut log in follower.read_new_lines().map_err(FileError::FollowedLog)? {
                log.lines.retain(|line| is_important(&line.from, level));
                printer.print_lines(&log, out);
            }
        }
    });
    match followed {
        // Ctrl-C is the way to end this command, so it is no error.
        Err(CommandError::Signalled(signal)) => Ok(signal.exit_code()),
        Err(error) => Err(error),
        Ok(done) => done,
    }
}

/// Printer of the lines of several logs in the order in which they come.
struct FollowedLogs {
    /// The server of the last line.
    last: Option<ServerName>,
}

impl FollowedLogs {
    fn print_lines(&mut self, log: &StoredLog, out: &mut TerminalOutput) {
        if out.json {
            let lines = log.lines.iter().map(|line| json!({ "server": log.server, "line": line }));
            return lines.for_each(|line| out.print_json_line(&line));
        }
        if !log.lines.is_empty() && self.last.as_ref() != Some(&log.server) {
            out.print_line(bold(log.server.as_str()));
            self.last = Some(log.server.clone());
        }
        log.lines.iter().for_each(|line| print_log_line(line, out));
    }
}

/// Whether a line has at least the wanted level. An unknown level is always shown.
fn is_important(from: &LogSource, least: Option<LogLevel>) -> bool {
    match (from, least) {
        (LogSource::Server { level, .. }, Some(least)) => {
            level.parse().map_or(true, |level: LogLevel| level >= least)
        }
        (_, _) => true,
    }
}

fn print_log_line(line: &LogLine, out: &mut TerminalOutput) {
    let from = match &line.from {
        LogSource::Host => "host".to_owned(),
        LogSource::Server { level, logger: None } => format!("server {level}"),
        LogSource::Server { level, logger: Some(logger) } => format!("server {level} {logger}"),
        LogSource::Stderr => "stderr".to_owned(),
    };
    let about = dim(&format!("{} {from}", format_utc(line.at)));
    out.print_line(format!("  {about}  {}", display_line(&line.text.clean_text())));
}

/// Date and time in UTC, as in `2026-07-28 09:05:00Z`.
fn format_utc(at: SystemTime) -> String {
    // A line with a time out of range is still shown.
    let at = Timestamp::try_from(at).unwrap_or_default();
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn log_times_are_formatted_as_utc_dates() {
        let cases = [
            (0, "1970-01-01 00:00:00Z"),
            (951_782_400, "2000-02-29 00:00:00Z"),
            (951_868_800, "2000-03-01 00:00:00Z"),
            (1_785_229_500, "2026-07-28 09:05:00Z"),
            (4_107_542_399, "2100-02-28 23:59:59Z"),
            (4_107_542_400, "2100-03-01 00:00:00Z"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(format_utc(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
