//! The program with the test doubles: hostile processes, and MCP servers that follow scripts.
//!
//! - `hostile <kind> --tag <tag>`: a process that resists termination. All its descendants are this program
//!   too, with the same tag on their command line. It prints `ready` when all its processes are running.
//! - `stdio`, `http`: an MCP server, correct unless a `--script` says otherwise.
//! - `upstream`: an MCP server of both eras for the official conformance suite.
//! - `model`: a model behind the Anthropic, OpenAI and Gemini APIs that plays a script.
//! - `browse`: a headless browser for `BROWSER`, which follows redirects.
//! - `check-record`: checks the messages that scripted servers received in a test run against the schema.
//! - `scripts`, `lies`: the tables of faults of the servers, and of the authorization server of `http
//! --auth`.
//!
//! No process lives longer than [`life::LIFE`].

mod hostile;
mod http;
mod life;
mod lock;
mod message;
mod model;
mod options;
mod raw;
mod record;
mod server;
mod stdio;
mod upstream;

use mcparley_testkit::{Browser, HostileKind, LIES, Place, RecordReport, SCRIPTS};
use options::Options;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::process::ExitCode;

/// The exit code for a wrong command line: `EX_USAGE` of `sysexits.h`.
const USAGE: u8 = 64;

const HELP: &str = "usage: mcparley-testkit hostile <kind> --tag <tag>
       mcparley-testkit stdio [option]…
       mcparley-testkit http [option]… [--port N] [--answer json|sse] [--auth right|LIE[:ARGUMENT]]…
       mcparley-testkit upstream [--era both|old|new] [--port N]               prints its address; ends with its stdin
       mcparley-testkit model --script FILE|- [--port N] [--lenient]           prints its address; ends with its stdin
       mcparley-testkit browse LOG URL                                         appends the URL to LOG and opens it
       mcparley-testkit check-record FOLDER [--complete]                       fails if a message is invalid, or a revision has none
       mcparley-testkit scripts
       mcparley-testkit lies
options: --script NAME[:ARGUMENT]  follow a script; repeatable, see `scripts`
         --versions V,V…           revisions it speaks [the four with a handshake]
         --log FILE                append all received messages
         --unrecorded              keep received messages out of the protocol record
         --tag X                   a mark on the command line
         --on METHOD|any           requests that get faults [tools/call]
         --times N                 how many of them [all]
         --once FILE               only the process that creates FILE has faults";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (subcommand, rest) = match arguments.split_first() {
        Some((subcommand, rest)) => (subcommand.to_str(), rest),
        None => return print_usage("no subcommand"),
    };
    let result = match subcommand {
        Some("hostile") => run_hostile_command(rest),
        Some("stdio") => serve_scripted(Place::Stdio, rest),
        Some("http") => serve_scripted(Place::Http, rest),
        Some("upstream") => run_upstream(rest),
        Some("model") => run_model(rest),
        Some("browse") => run_browser(rest),
        Some("check-record") => check_record(rest),
        Some("scripts") => Ok(print_scripts()),
        Some("lies") => Ok(print_lies()),
        Some(_) | None => return print_usage("unknown subcommand"),
    };
    match result {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => print_error(&error),
        Err(message) => print_usage(&message),
    }
}

fn run_hostile_command(arguments: &[OsString]) -> Result<io::Result<()>, String> {
    let [role, flag, tag] = arguments else {
        return Err("a kind and a tag are needed".to_owned());
    };
    match (hostile::HostileRole::from_word(role), HostileKind::from_word(role)) {
        _ if flag != "--tag" => Err("a tag is needed".to_owned()),
        (Some(role), _) => Ok(hostile::run_role(role, tag)),
        (None, Some(kind)) => Ok(hostile::become_hostile(kind, tag)),
        (None, None) => Err("unknown kind".to_owned()),
    }
}

fn serve_scripted(place: Place, arguments: &[OsString]) -> Result<io::Result<()>, String> {
    let options = Options::parse(place, arguments)?;
    Ok(match place {
        Place::Http => http::serve_http(options),
        Place::Stdio | Place::Both => stdio::serve_stdio(options, arguments),
    })
}

fn run_upstream(arguments: &[OsString]) -> Result<io::Result<()>, String> {
    let options = upstream::UpstreamOptions::parse(arguments)?;
    Ok(upstream::serve_upstream(&options))
}

fn run_model(arguments: &[OsString]) -> Result<io::Result<()>, String> {
    let options = model::ModelOptions::parse(arguments)?;
    Ok(model::serve_model(&options))
}

/// Opens a page and follows its redirects; the log counts the windows a user would have seen.
fn run_browser(arguments: &[OsString]) -> Result<io::Result<()>, String> {
    let [log, url] = arguments else {
        return Err("a log and a URL are needed".to_owned());
    };
    let url = url.to_string_lossy();
    let noted = OpenOptions::new().create(true).append(true).open(log);
    let noted = noted.and_then(|mut log| log.write_all(format!("{url}\n").as_bytes()));
    Ok(noted.map(|()| drop(Browser::new().open(&url))))
}

/// Checks the protocol record of a test run; a complete one has messages of every revision in both directions.
fn check_record(arguments: &[OsString]) -> Result<io::Result<()>, String> {
    let (folder, needs_all) = match arguments {
        [folder] => (folder, false),
        [folder, option] if option == "--complete" => (folder, true),
        _ => return Err("a folder is needed".to_owned()),
    };
    Ok(RecordReport::check_folder(folder.as_ref()).and_then(|report| {
        write!(io::stdout().lock(), "{report}")?;
        match (report.is_valid(), report.is_complete()) {
            (false, _) => Err(io::Error::other("a message breaks the schema of its protocol revision")),
            (true, false) if needs_all => Err(io::Error::other("no message of a revision was checked")),
            (true, _) => Ok(()),
        }
    }))
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

fn print_usage(message: &str) -> ExitCode {
    match writeln!(io::stderr(), "mcparley-testkit: {message}\n{HELP}") {
        Ok(()) | Err(_) => ExitCode::from(USAGE),
    }
}

fn print_error(error: &io::Error) -> ExitCode {
    match writeln!(io::stderr(), "mcparley-testkit: {error}") {
        Ok(()) | Err(_) => ExitCode::FAILURE,
    }
}
