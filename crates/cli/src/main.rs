//! The `mcparley` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The environment holds tokens, and servers run as the same user, so other processes must not read our
    // memory. A system that does not support the call does not expose it either.
    let _open = mcparley_platform::process::close_to_same_user();
    mcparley_cli::run(std::env::args_os())
}
