//! `logs`: events and standard error of servers in earlier runs.
//!
//! Reads stored logs; no server is started.

use std::time::SystemTime;

use jiff::Timestamp;
use mcparley::config::LoadedConfig;
use mcparley::model::log_level::LogLevel;
use mcparley::model::name::ServerName;
use mcparley::model::text::display_line;
use mcparley::pool::log::{LogLine, LogSource, read_logs};
use serde::Serialize;

use super::{CommandResult, base_exit_code, print_problems};
use crate::args::LogsArgs;
use crate::context::Context;
use crate::error::{CommandError, FileError};
use crate::out::{TerminalOutput, bold, dim};
use crate::report::effective_servers;

/// The stored log of one server.
#[derive(Serialize)]
struct StoredLog {
    server: ServerName,
    lines: Vec<LogLine>,
}

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
    let mut all = Vec::new();
    for server in names {
        let mut lines = read_logs(&context.paths, &server).map_err(FileError::Log)?;
        lines.retain(|line| is_important(&line.from, args.level));
        let skipped = lines.len().saturating_sub(args.lines);
        all.push(StoredLog { server, lines: lines.into_iter().skip(skipped).collect() });
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
    if out.json {
        out.print_json(&serde_json::json!({ "servers": all }));
        return Ok(base_exit_code(loaded));
    }
    print_problems(loaded, out);
    let told: Vec<&StoredLog> = all.iter().filter(|kept| !kept.lines.is_empty()).collect();
    for kept in &told {
        kept.print_lines(out);
    }
    if told.is_empty() {
        out.print_message("No logs: only runs with problems are logged.");
    }
    Ok(base_exit_code(loaded))
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

impl StoredLog {
    fn print_lines(&self, out: &mut TerminalOutput) {
        out.print_line(bold(self.server.as_str()));
        for line in &self.lines {
            let from = match &line.from {
                LogSource::Host => "host".to_owned(),
                LogSource::Server { level, logger: None } => format!("server {level}"),
                LogSource::Server { level, logger: Some(logger) } => format!("server {level} {logger}"),
                LogSource::Stderr => "stderr".to_owned(),
            };
            let about = dim(&format!("{} {from}", format_utc(line.at)));
            out.print_line(format!("  {about}  {}", display_line(&line.text.clean_text())));
        }
    }
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
