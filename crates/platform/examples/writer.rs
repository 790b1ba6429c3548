//! A process that writes through the one atomic writer, for tests that start many and kill them.
//!
//! - `writer set <file> <text>`: one update.
//! - `writer add <file> <prefix> <count>`: `count` updates, each adding one entry.
//! - `writer grow <file>`: endless updates, each a new generation of a large text.
//! - `writer hold <file>`: takes the lock, prints a line, and keeps it until its input ends.

use mcparley_platform::file::{Creation, FileUpdateError, acquire_lock, update_file};
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const LIMIT: u64 = 1 << 20;

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["set", file, text] => change(file, |_| (*text).to_owned()),
        ["add", file, prefix, count] => add(file, prefix, count.parse().unwrap_or_default()),
        ["grow", file] => grow(file),
        ["hold", file] => return hold(file),
        _ => return Ok(ExitCode::from(64)),
    };
    let Err(error) = result else {
        return Ok(ExitCode::SUCCESS);
    };
    let hint = error.hint().unwrap_or_default();
    writeln!(io::stderr(), "error: {error}\nhint: {hint}")?;
    Ok(ExitCode::FAILURE)
}

type Result = std::result::Result<(), FileUpdateError<Infallible>>;

fn change(file: &str, make: impl FnOnce(Option<&str>) -> String) -> Result {
    let path = Path::new(file);
    update_file(path, Creation::PRIVATE, LIMIT, |old| Ok(make(old))).map(drop)
}

fn add(file: &str, prefix: &str, count: u32) -> Result {
    for number in 0..count {
        change(file, |old| {
            let body = old.and_then(|old| old.strip_suffix("\n}\n"));
            let body = body.map_or("{".to_owned(), |body| format!("{body},"));
            format!("{body}\n  \"{prefix}-{number}\": {{}}\n}}\n")
        })?;
    }
    Ok(())
}

fn grow(file: &str) -> Result {
    loop {
        change(file, |old| {
            let generation = old.and_then(|old| old.lines().next()?.parse::<u64>().ok());
            let next = generation.unwrap_or_default() + 1;
            // Lengths differ from one generation to the next, so a mixture of two shows.
            let body = "x".repeat(40_000 + (next as usize * 997) % 20_000);
            format!("{next}\n{body}\n{next}\n")
        })?;
    }
}

fn hold(file: &str) -> io::Result<ExitCode> {
    let _held = acquire_lock(Path::new(file), Duration::from_secs(5)).map_err(io::Error::other)?;
    writeln!(io::stdout(), "held")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(ExitCode::SUCCESS)
}
