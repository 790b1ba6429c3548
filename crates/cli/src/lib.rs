//! The command line `mcparley`: commands, rendering and exit codes.
//!
//! A command is three steps: arguments → one report value from the library → render it, as text or as
//! JSON, from the same value. Decisions are made in the library, never here.
//!
//! | step | module |
//! |---|---|
//! | options and commands, pure | the crate `mcparley-arguments`, here `args` |
//! | environment, home, working directory: read once | `context` |
//! | the daemon that runs local servers | `daemon_link` |
//! | connectors of the organization, added to the loaded configuration | `connectors` |
//! | the async runtime and signal handling | `runtime`, `signal` |
//! | each command: arguments → report → output | `commands` |
//! | sign-in: pages, pasted URLs, secrets | `sign_in` |
//! | report values, rendered as text and as JSON | the crate `mcparley-report` |
//! | standard output, messages, the progress line | `out`, `progress` |
//! | errors, their hints and exit codes | `error`, [`exit`] |
//! | shell completion | `complete` |

mod commands;
mod complete;
mod connectors;
mod context;
mod daemon_link;
mod error;
pub mod exit;
mod out;
mod progress;
mod runtime;
mod sign_in;
mod signal;

use std::ffi::OsString;
use std::process::ExitCode;

use mcparley_arguments as args;

/// The version with the commit of a release.
const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("MCPARLEY_COMMIT"));

/// Runs the program with these arguments and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    if let Some(code) = complete::answer_shell() {
        return code;
    }
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if context::is_on_terminal() {
        arguments = args::open_screen_by_default(arguments);
    }
    let mut cli = match args::parse(&arguments, LONG_VERSION) {
        Ok(cli) => cli,
        Err(error) => match args::parse_console(&arguments, &error) {
            Some(global) if context::is_on_terminal() && context::is_interactive() => {
                return open_console(&global, &arguments);
            }
            Some(_) | None => return report_usage(&error),
        },
    };
    let mut out = out::TerminalOutput::new(&cli.global);
    let code = match commands::run(&mut cli, &mut out) {
        Ok(code) => code,
        Err(error) => {
            out.stop_waiting();
            out.report_error(&error)
        }
    };
    out.finish(code)
}

/// Prints help, or the error of the command line.
fn report_usage(error: &clap::Error) -> ExitCode {
    let Some(unknown) = error::UsageError::from_unknown_command(error) else {
        return out::print_usage(error);
    };
    let mut out = out::TerminalOutput::new(&args::GlobalOptions::default());
    let code = out.report_error(&unknown.into());
    out.finish(code)
}

/// Runs the console, and reports the error that ended it.
fn open_console(global: &args::GlobalOptions, arguments: &[OsString]) -> ExitCode {
    let done = commands::console::run(global, arguments.get(1..).unwrap_or_default());
    let mut out = out::TerminalOutput::new(global);
    let code = done.unwrap_or_else(|error| out.report_error(&error));
    out.finish(code)
}
