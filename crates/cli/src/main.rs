//! The `mcparley` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The environment holds tokens, and servers run as the same user. A system that refuses has no such door to close.
    let _open = mcparley_platform::process::close_to_same_user();
    mcparley_cli::run(std::env::args_os())
}
