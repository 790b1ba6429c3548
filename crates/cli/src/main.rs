//! The `mcparley` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcparley_cli::run(std::env::args_os())
}
