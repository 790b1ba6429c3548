//! Typed or piped input: redirect URLs, and secrets that are not echoed.

use std::io::{BufRead, Read};

use mcparley::model::limits::{CLIENT_SECRET_BYTES, PAGE_ADDRESS_BYTES};
use mcparley::model::secret::Secret;
use mcparley_platform::terminal::HiddenInput;
use tokio::sync::mpsc;

use crate::context::{self, Context};
use crate::error::{CommandError, UsageError};
use crate::out::TerminalOutput;
use crate::runtime;

/// The environment variable with the client secret; it takes precedence over the prompt.
const CLIENT_SECRET: &str = "MCP_CLIENT_SECRET";

/// Reads the lines of standard input in a thread, without line ends. Lines longer than any URL arrive in
/// pieces.
///
/// A read from a terminal cannot be canceled, so the thread ends with the program.
pub(super) fn read_lines() -> mpsc::Receiver<String> {
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
    // Without the thread no URL can be pasted, but the redirect from the browser still works.
    drop(std::thread::Builder::new().name("typed".to_owned()).spawn(reading));
    lines
}

/// Reads the client secret from the environment, a prompt or a pipe; never from the command line, which all
/// users of the machine can read.
pub(crate) fn read_client_secret(
    context: &Context,
    out: &mut TerminalOutput,
) -> Result<Secret<String>, CommandError> {
    let given = context.run_options.env.get(CLIENT_SECRET).filter(|secret| !secret.is_empty());
    let secret = match given {
        Some(secret) => secret.to_owned(),
        None if context::stdin_is_terminal() => ask_secret(out)?,
        None => read_piped_secret()?,
    };
    if secret.is_empty() {
        return Err(UsageError::SecretMissing { variable: CLIENT_SECRET }.into());
    }
    Ok(Secret::new(secret))
}

fn ask_secret(out: &mut TerminalOutput) -> Result<String, CommandError> {
    // Echo is off before the prompt appears, so that quick typing is not shown either.
    let hidden = HiddenInput::start().map_err(unreadable_secret_error)?;
    out.print_message("Client secret (not shown while you type):");
    // Signals are handled while waiting, so that the terminal echo is always restored.
    let typed = runtime::run(async { read_lines().recv().await })?;
    drop(hidden);
    Ok(typed.unwrap_or_default())
}

fn read_piped_secret() -> Result<String, CommandError> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(CLIENT_SECRET_BYTES).read_to_string(&mut text);
    read.map_err(unreadable_secret_error)?;
    Ok(text.trim().to_owned())
}

fn unreadable_secret_error(error: std::io::Error) -> UsageError {
    UsageError::SecretUnreadable { variable: CLIENT_SECRET, error }
}
