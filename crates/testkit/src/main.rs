//! The processes that tests talk to: hostile ones, and MCP servers that follow scripts.
//!
//! - `hostile <kind> --tag <tag>`: a process that does not want to end. Everything it starts is this program
//!   again, with the same tag on its command line. It prints `ready` when all its processes are up.
//! - `stdio`, `http`: an MCP server, correct unless a `--script` says otherwise.
//! - `browse`: a browser for `BROWSER`, which follows redirects and shows nothing.
//! - `scripts`, `lies`: the tables of what servers, and the authorization server of `http --auth`, can be told.
//!
//! None of them lives longer than [`life::LIFE`].

mod hostile;
mod http;
mod life;
mod lock;
mod message;
mod options;
mod raw;
mod record;
mod server;
mod stdio;

use mcparley_testkit::{Browser, Kind, LIES, Place, SCRIPTS};
use options::Options;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::process::ExitCode;

/// As `sysexits.h` calls a wrong command line.
const USAGE: u8 = 64;

const HELP: &str = "usage: mcparley-testkit hostile <kind> --tag <tag>
       mcparley-testkit stdio [option]…
       mcparley-testkit http [option]… [--port N] [--answer json|sse] [--auth right|LIE[:ARGUMENT]]…
       mcparley-testkit browse LOG URL                                         notes the URL in LOG and opens it
       mcparley-testkit scripts
       mcparley-testkit lies
options: --script NAME[:ARGUMENT]  follow a script; repeatable, see `scripts`
         --versions V,V…           revisions it speaks [the four with a handshake]
         --log FILE                append everything received
         --tag X                   a mark on the command line
         --on METHOD|any           requests that are met with faults [tools/call]
         --times N                 how many of them [all]
         --once FILE               only the process that creates FILE lies";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (subcommand, rest) = match arguments.split_first() {
        Some((subcommand, rest)) => (subcommand.to_str(), rest),
        None => return usage("no subcommand"),
    };
    let result = match subcommand {
        Some("hostile") => be_hostile(rest),
        Some("stdio") => serve(Place::Stdio, rest),
        Some("http") => serve(Place::Http, rest),
        Some("browse") => browse(rest),
        Some("scripts") => Ok(print_scripts()),
        Some("lies") => Ok(print_lies()),
        Some(_) | None => return usage("no such subcommand"),
    };
    match result {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => complain(&error),
        Err(message) => usage(&message),
    }
}

fn be_hostile(arguments: &[OsString]) -> Result<io::Result<()>, String> {
    let [role, flag, tag] = arguments else {
        return Err("a kind and a tag are needed".to_owned());
    };
    match (hostile::Role::from_word(role), Kind::from_word(role)) {
        _ if flag != "--tag" => Err("a tag is needed".to_owned()),
        (Some(role), _) => Ok(hostile::play(role, tag)),
        (None, Some(kind)) => Ok(hostile::begin(kind, tag)),
        (None, None) => Err("no such kind".to_owned()),
    }
}

fn serve(place: Place, arguments: &[OsString]) -> Result<io::Result<()>, String> {
    let options = Options::read(place, arguments)?;
    Ok(match place {
        Place::Http => http::serve(options),
        Place::Stdio | Place::Both => stdio::serve(options, arguments),
    })
}

/// Opens a page, and whatever it leads to; the log says how many windows a person would have seen.
fn browse(arguments: &[OsString]) -> Result<io::Result<()>, String> {
    let [log, url] = arguments else {
        return Err("a log and a URL are needed".to_owned());
    };
    let url = url.to_string_lossy();
    let noted = OpenOptions::new().create(true).append(true).open(log);
    let noted = noted.and_then(|mut log| log.write_all(format!("{url}\n").as_bytes()));
    Ok(noted.map(|()| drop(Browser::new().open(&url))))
}

fn print_scripts() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for script in SCRIPTS {
        let place = match script.place {
            Place::Stdio => "stdio",
            Place::Http => "http",
            Place::Both => "both",
        };
        let name = format!("{}{}", script.word, script.shape.to_hint());
        writeln!(out, "{place:<6}{name:<48}{}", script.what)?;
    }
    Ok(())
}

fn print_lies() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for row in LIES {
        let name = format!("{}{}", row.word, row.shape.to_hint());
        writeln!(out, "{name:<48}{}", row.what)?;
    }
    Ok(())
}

fn usage(message: &str) -> ExitCode {
    match writeln!(io::stderr(), "mcparley-testkit: {message}\n{HELP}") {
        Ok(()) | Err(_) => ExitCode::from(USAGE),
    }
}

fn complain(error: &io::Error) -> ExitCode {
    match writeln!(io::stderr(), "mcparley-testkit: {error}") {
        Ok(()) | Err(_) => ExitCode::FAILURE,
    }
}
