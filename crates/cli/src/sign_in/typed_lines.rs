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

/// The OAuth client that a secret belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SecretOwner {
    /// The client at the authorization server of an MCP server.
    Server,
    /// The client at the identity provider.
    IdentityProvider,
}

impl SecretOwner {
    /// The environment variables with the secret, the first one set wins; they take precedence over the prompt.
    fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Server => &["MCP_CLIENT_SECRET"],
            Self::IdentityProvider => &["MCP_XAA_IDP_CLIENT_SECRET", "MCP_CLIENT_SECRET"],
        }
    }

    fn unreadable_error(self, error: std::io::Error) -> UsageError {
        UsageError::SecretUnreadable { variable: self.main_variable(), error }
    }

    fn main_variable(self) -> &'static str {
        self.variables().first().copied().unwrap_or_default()
    }
}

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
    owner: SecretOwner,
    context: &Context,
    out: &mut TerminalOutput,
) -> Result<Secret<String>, CommandError> {
    let values = owner.variables().iter().filter_map(|name| context.run_options.env.get(name));
    let given = values.into_iter().find(|secret| !secret.is_empty());
    let secret = match given {
        Some(secret) => secret.to_owned(),
        None if context::stdin_is_terminal() => ask_secret(owner, out)?,
        None => read_piped_secret(owner)?,
    };
    if secret.is_empty() {
        return Err(UsageError::SecretMissing { variable: owner.main_variable() }.into());
    }
    Ok(Secret::new(secret))
}

fn ask_secret(owner: SecretOwner, out: &mut TerminalOutput) -> Result<String, CommandError> {
    // Echo is off before the prompt appears, so that quick typing is not shown either.
    let hidden = HiddenInput::start().map_err(|error| owner.unreadable_error(error))?;
    out.print_message("Client secret (not shown while you type):");
    // Signals are handled while waiting, so that the terminal echo is always restored.
    let typed = runtime::run_cancelable(async { read_lines().recv().await })?;
    drop(hidden);
    Ok(typed.unwrap_or_default())
}

fn read_piped_secret(owner: SecretOwner) -> Result<String, CommandError> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(CLIENT_SECRET_BYTES).read_to_string(&mut text);
    read.map_err(|error| owner.unreadable_error(error))?;
    Ok(text.trim().to_owned())
}
