//! `mcparley-testkit hostile <kind> --tag <tag>`: a process that does not want to end.
//!
//! Everything it starts is this program again, with the same tag on its command line. It prints
//! `ready` when all its processes are up.

mod hostile;

use mcparley_testkit::Kind;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

/// As `sysexits.h` calls a wrong command line.
const USAGE: u8 = 64;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [subcommand, role, flag, tag] = arguments.as_slice() else {
        return usage();
    };
    if subcommand != "hostile" || flag != "--tag" {
        return usage();
    }
    let result = match hostile::Role::from_word(role) {
        Some(role) => hostile::play(role, tag),
        None => match Kind::from_word(role) {
            Some(kind) => hostile::begin(kind, tag),
            None => return usage(),
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

fn usage() -> ExitCode {
    let text = "usage: mcparley-testkit hostile <kind> --tag <tag>";
    match writeln!(io::stderr(), "{text}") {
        Ok(()) | Err(_) => ExitCode::from(USAGE),
    }
}

fn complain(error: &io::Error) -> ExitCode {
    match writeln!(io::stderr(), "mcparley-testkit: {error}") {
        Ok(()) | Err(_) => ExitCode::FAILURE,
    }
}
