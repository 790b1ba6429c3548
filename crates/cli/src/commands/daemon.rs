//! `daemon`: local servers that run once for all clients of the user.

use std::time::{Duration, Instant};

use mcparley::model::text::display_line;
use mcparley_daemon::control::DaemonConnection;
use mcparley_daemon::{CopyStatus, DAEMON_LOG_BYTES, Daemon, DaemonLog, DaemonPaths, DaemonStatus};
use mcparley_model::limits::DAEMON_START_TIME;
use mcparley_platform::file::{read_text, remove_file_if, store_cache_file};
use serde_json::json;

use super::CommandResult;
use crate::args::DaemonCommand;
use crate::context::Context;
use crate::daemon_link::daemon_starter;
use crate::error::{CommandError, DaemonCommandError};
use crate::exit;
use crate::out::{TerminalOutput, bold, dim};
use crate::runtime;

/// The time for the daemon to end its servers.
const STOP_TIME: Duration = Duration::from_secs(5);

/// The pause between two looks at a daemon that starts or ends.
const PAUSE: Duration = Duration::from_millis(5);

pub(super) fn run(command: &DaemonCommand, context: &Context, out: &mut TerminalOutput) -> CommandResult {
    let paths = &context.daemon_paths;
    match command {
        DaemonCommand::Enable(_) => enable_daemon(paths, out),
        DaemonCommand::Disable(_) => disable_daemon(paths, out),
        DaemonCommand::Start(_) => {
            let pid = start_daemon(context)?;
            print_outcome(out, &format!("The daemon is running, process {pid}."), &json!({ "pid": pid }));
            Ok(exit::OK)
        }
        DaemonCommand::Stop(_) => {
            let text = if stop_daemon(paths)? { "The daemon has ended." } else { "No daemon was running." };
            print_outcome(out, text, &json!({ "running": false }));
            Ok(exit::OK)
        }
        DaemonCommand::Status(_) => show_status(paths, out),
        DaemonCommand::Logs(_) => {
            let text = read_text(&paths.log, 2 * DAEMON_LOG_BYTES).map_err(DaemonCommandError::Log)?;
            out.print_text(text.map(|text| text.text).unwrap_or_default().trim_end());
            Ok(exit::OK)
        }
        DaemonCommand::Run(_) => run_here(paths),
    }
}

fn enable_daemon(paths: &DaemonPaths, out: &mut TerminalOutput) -> CommandResult {
    store_cache_file(&paths.enabled, "").map_err(DaemonCommandError::Choice)?;
    let text = "Enabled the daemon: local servers run once for all clients.";
    print_outcome(out, text, &json!({ "enabled": true }));
    out.hint("`mcparley daemon status` shows the servers, `mcparley daemon disable` ends it");
    Ok(exit::OK)
}

fn disable_daemon(paths: &DaemonPaths, out: &mut TerminalOutput) -> CommandResult {
    remove_file_if(&paths.enabled, DAEMON_LOG_BYTES, |_| true).map_err(DaemonCommandError::NoChoice)?;
    stop_daemon(paths)?;
    print_outcome(out, "Disabled the daemon.", &json!({ "enabled": false }));
    Ok(exit::OK)
}

/// Starts the daemon unless it is running, and returns its process id.
pub(super) fn start_daemon(context: &Context) -> Result<u32, CommandError> {
    let paths = &context.daemon_paths;
    let running = || -> Result<Option<u32>, DaemonCommandError> {
        let Some(mut daemon) = DaemonConnection::open(paths)? else { return Ok(None) };
        Ok(Some(daemon.read_status()?.pid))
    };
    if let Some(pid) = running()? {
        return Ok(pid);
    }
    let executable = context.paths.executable.clone().ok_or(DaemonCommandError::NoProgram)?;
    daemon_starter(executable, &context.run_options.env)().map_err(DaemonCommandError::Start)?;
    let deadline = Instant::now() + DAEMON_START_TIME * 10;
    loop {
        match running()? {
            Some(pid) => return Ok(pid),
            None if Instant::now() >= deadline => return Err(DaemonCommandError::Silent.into()),
            None => std::thread::sleep(PAUSE),
        }
    }
}

/// Ends the daemon and waits until it is gone; false if none was running.
fn stop_daemon(paths: &DaemonPaths) -> Result<bool, CommandError> {
    let Some(mut daemon) = DaemonConnection::open(paths).map_err(DaemonCommandError::from)? else {
        return Ok(false);
    };
    daemon.stop_daemon().map_err(DaemonCommandError::from)?;
    let deadline = Instant::now() + STOP_TIME;
    while !daemon.is_socket_gone() {
        if Instant::now() >= deadline {
            return Err(DaemonCommandError::StillRunning.into());
        }
        std::thread::sleep(PAUSE);
    }
    Ok(true)
}

fn show_status(paths: &DaemonPaths, out: &mut TerminalOutput) -> CommandResult {
    let is_enabled = paths.is_enabled();
    let status = match DaemonConnection::open(paths).map_err(DaemonCommandError::from)? {
        Some(mut daemon) => Some(daemon.read_status().map_err(DaemonCommandError::from)?),
        None => None,
    };
    if out.json {
        out.print_json(&json!({ "enabled": is_enabled, "daemon": status }));
    } else if let Some(status) = &status {
        print_status(status, out);
    } else {
        out.print_line("No daemon is running.");
        out.hint(match is_enabled {
            true => "the next client starts it, or `mcparley daemon start`",
            false => "`mcparley daemon enable` lets all clients share their local servers",
        });
    }
    Ok(if status.is_some() { exit::OK } else { exit::NOT_FOUND })
}

fn print_status(status: &DaemonStatus, out: &mut TerminalOutput) {
    let DaemonStatus { version, pid, uptime_seconds, is_draining, running_tasks, copies } = status;
    let state = if *is_draining { "ends with its last client" } else { "running" };
    let minutes = uptime_seconds / 60;
    out.print_line(format!("daemon {version}, process {pid}, {state}, {minutes} min"));
    if *running_tasks > 0 {
        out.print_line(format!("running detached calls: {running_tasks} (`mcparley tasks`)"));
    }
    if copies.is_empty() {
        out.print_line("no servers");
    }
    let mut last = "";
    for copy in copies {
        print_copy(copy, out);
        if let Some(explanation) = copy.explanation.as_deref().filter(|_| copy.signature != last) {
            out.print_line(format!("  {}", dim(explanation)));
        }
        last = &copy.signature;
    }
}

fn print_copy(copy: &CopyStatus, out: &mut TerminalOutput) {
    let process = copy.process.map_or_else(|| "starting".to_owned(), |pid| format!("process {pid}"));
    let clients = match (copy.clients.len(), copy.idle_seconds) {
        (0, Some(idle)) => format!("no client for {idle} s"),
        (1, _) => "1 client".to_owned(),
        (count, _) => format!("{count} clients"),
    };
    let projects: Vec<_> = copy.projects.iter().map(|folder| folder.display().to_string()).collect();
    let name = bold(&display_line(&copy.server));
    out.print_line(format!("{name}  {process}  {clients}  {}", dim(&display_line(&projects.join(", ")))));
    if out.verbose > 0 {
        copy.reasons.iter().for_each(|reason| out.print_line(format!("  {}", dim(reason))));
    }
}

/// Runs the daemon in this process until it ends.
fn run_here(paths: &DaemonPaths) -> CommandResult {
    runtime::run_daemon(async |stop| {
        let daemon = Daemon::open(paths).map_err(DaemonCommandError::Run)?;
        let log = DaemonLog::new(&paths.log);
        log.append_event("started");
        daemon.serve_until(stop).await;
        log.append_event("ended");
        Ok(exit::OK)
    })
}

fn print_outcome(out: &mut TerminalOutput, text: &str, json: &serde_json::Value) {
    match out.json {
        true => out.print_json(json),
        false => out.print_line(text),
    }
}
