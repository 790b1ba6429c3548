//! The host for people: arguments, rendering and exit codes.
//!
//! A command is three steps: arguments → one report value from the library → render it, as text or as
//! JSON, from the same value. Decisions are the library's.
//!
//! | what | where |
//! |---|---|
//! | options and commands | [`args`] |
//! | what each command does | `commands` |
//! | what is shown | `report`, `out` |
//! | the arguments of a call | `arguments` |
//! | signing in: pages, pasted addresses, secrets | `sign_in` |
//! | signals, and the thread that talks to servers | `live` |
//! | exit codes | [`exit`] |
//! | environment, home, working directory | `context`, the only place that looks around |

pub mod args;
mod arguments;
mod commands;
mod complete;
mod connectors;
mod context;
mod error;
pub mod exit;
mod live;
mod out;
mod progress;
mod report;
mod sign_in;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program with these arguments and gives its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    if let Some(code) = complete::answer_shell() {
        return code;
    }
    let cli = match args::parse(&arguments.into_iter().collect::<Vec<_>>()) {
        Ok(cli) => cli,
        Err(error) => return out::usage(&error),
    };
    let mut out = out::Out::new(&cli.global);
    let code = match commands::run(&cli, &mut out) {
        Ok(code) => code,
        Err(error) => {
            out.waited();
            out.error(&error)
        }
    };
    out.finish(code)
}
