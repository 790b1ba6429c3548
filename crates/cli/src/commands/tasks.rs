//! `tasks`: detached calls, and their results.

use std::time::SystemTime;

use mcparley_daemon::task_view::{self, TaskViewError};
use mcparley_daemon::{DaemonPaths, TaskState};
use serde_json::json;

use super::CommandResult;
use super::call::print_result;
use crate::args::{TasksArgs, TasksCommand};
use crate::error::DaemonCommandError;
use crate::exit::{self, NamedExitCode};
use crate::out::TerminalOutput;

pub(super) fn run(args: &TasksArgs, paths: &DaemonPaths, out: &mut TerminalOutput) -> CommandResult {
    let done = match (&args.command, &args.id) {
        (Some(TasksCommand::Cancel(args)), _) => task_view::cancel_task(paths, &args.id),
        (Some(TasksCommand::Forget(args)), _) => task_view::forget_task(paths, &args.id),
        (None, Some(id)) => {
            return Ok(show_task(id, args.wait, paths, out).map_err(DaemonCommandError::Task)?);
        }
        (None, None) => return Ok(list_tasks(paths, out).map_err(DaemonCommandError::Task)?),
    };
    let task = done.map_err(DaemonCommandError::Task)?;
    match out.json {
        true => out.print_json(&task),
        false => out.print_line(task_view::describe_task(&task, SystemTime::now())),
    }
    Ok(exit::OK)
}

fn list_tasks(paths: &DaemonPaths, out: &mut TerminalOutput) -> Result<NamedExitCode, TaskViewError> {
    let list = task_view::list_tasks(paths)?;
    list.problems.iter().for_each(|problem| out.warn(problem));
    match out.json {
        true => out.print_json(&list),
        false if list.tasks.is_empty() => out.print_line("No tasks."),
        false => {
            task_view::render_table(&list, SystemTime::now()).iter().for_each(|row| out.print_line(row));
        }
    }
    Ok(exit::OK)
}

fn show_task(
    id: &str,
    wait: bool,
    paths: &DaemonPaths,
    out: &mut TerminalOutput,
) -> Result<NamedExitCode, TaskViewError> {
    let stored = task_view::find_task(paths, id, wait)?;
    let (task, outcome) = (&stored.task, stored.to_outcome());
    let text = task_view::describe_task(task, SystemTime::now());
    let is_running = task.state == TaskState::Running;
    match (out.json, &outcome) {
        (true, _) => out.print_json(&json!({ "task": task, "result": outcome })),
        (false, Some(_)) => {}
        (false, None) if is_running => out.print_message(text),
        (false, None) => out.print_error(&text),
    }
    Ok(match outcome {
        Some(outcome) => print_result(&outcome, &[], &task.tool, out),
        None if is_running => exit::OK,
        None => exit::FAILED,
    })
}
