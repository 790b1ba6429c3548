//! What a person types, or a program pipes: addresses that browsers ended on, and secrets that nobody sees.

use std::io::{BufRead, Read};

use mcparley::model::limits::{CLIENT_SECRET_BYTES, PAGE_ADDRESS_BYTES};
use mcparley::model::secret::Secret;
use mcparley_platform::terminal::Hidden;
use tokio::sync::mpsc;

use crate::context::{self, Context};
use crate::error::CommandError;
use crate::live;
use crate::out::Out;

/// Where a secret is taken from before anybody is asked.
const CLIENT_SECRET: &str = "MCP_CLIENT_SECRET";

/// The lines of standard input, each without its end; those that are longer than any address come in pieces.
///
/// Nobody can break off a read of a terminal, so the thread that reads ends with the program.
pub(super) fn lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    let reading = move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut line = String::new();
            let read = (&mut input).take(PAGE_ADDRESS_BYTES as u64).read_line(&mut line);
            if !matches!(read, Ok(1..)) || sender.blocking_send(line.trim().to_owned()).is_err() {
                return;
            }
        }
    };
    // Without a thread nothing can be pasted; the browser's own way back is still there.
    drop(std::thread::Builder::new().name("typed".to_owned()).spawn(reading));
    lines
}

/// The secret of a client: from the environment, from a person, or from a pipe; never from the command line, which
/// everybody on the machine can read.
pub(crate) fn client_secret(context: &Context, out: &mut Out) -> Result<Secret<String>, CommandError> {
    let given = context.run_options.env.get(CLIENT_SECRET).filter(|secret| !secret.is_empty());
    let secret = match given {
        Some(secret) => secret.to_owned(),
        None if context::stdin_is_terminal() => asked(out)?,
        None => piped()?,
    };
    if secret.is_empty() {
        return Err(CommandError::usage(
            "there is no secret",
            format!("set `{CLIENT_SECRET}`, type it, or pipe it to standard input"),
        ));
    }
    Ok(Secret::new(secret))
}

fn asked(out: &mut Out) -> Result<String, CommandError> {
    // Before the question: who answers quickly must not see it either.
    let hidden = Hidden::begin().map_err(|error| unreadable(&error))?;
    out.say("The client's secret (not shown while you type):");
    // A signal ends the wait in order, so that the terminal shows again what is typed.
    let typed = live::run(async { lines().recv().await })?;
    drop(hidden);
    Ok(typed.unwrap_or_default())
}

fn piped() -> Result<String, CommandError> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(CLIENT_SECRET_BYTES).read_to_string(&mut text);
    read.map_err(|error| unreadable(&error))?;
    Ok(text.trim().to_owned())
}

fn unreadable(error: &std::io::Error) -> CommandError {
    CommandError::usage(
        format!("the secret cannot be read from standard input: {error}"),
        format!("set `{CLIENT_SECRET}` instead"),
    )
}
