//! A host with one guarded server: `guarded --tag <tag> <program> [<argument>…]`.
//!
//! Passes on the first line of the server's output and then waits for the server's end. Killing this
//! host at any moment leaves nothing behind; the tag makes its guardian findable.

use mcparley_platform::process::{ProgramLaunch, spawn};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> io::Result<ExitCode> {
    let mut arguments = std::env::args_os().skip(3);
    let launch = ProgramLaunch {
        program: arguments.next().unwrap_or_default(),
        args: arguments.collect::<Vec<OsString>>(),
        env: Vec::new(),
        cwd: None,
    };
    let mut server = match spawn(&launch) {
        Ok(server) => server,
        Err(error) => {
            let hint = error.hint().unwrap_or_default();
            writeln!(io::stderr(), "error: {error}\nhint: {hint}")?;
            return Ok(ExitCode::FAILURE);
        }
    };
    if let Some(out) = server.take_stdout() {
        let mut line = String::new();
        BufReader::new(File::from(out)).read_line(&mut line)?;
        io::stdout().write_all(line.as_bytes())?;
    }
    let exit = loop {
        let a_day = Duration::from_secs(24 * 60 * 60);
        if let Some(exit) = server.wait_until(Instant::now() + a_day) {
            break exit;
        }
    };
    writeln!(io::stdout(), "{exit:?}")?;
    Ok(ExitCode::SUCCESS)
}
