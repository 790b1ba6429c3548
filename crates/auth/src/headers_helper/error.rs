//! Headers helper errors. None contains the standard output of the command, which holds secrets.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::text::{Untrusted, round_duration};
use mcparley_platform::process::{ProcessExit, SpawnError};

/// The reason why a command returned no headers.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HelperError {
    /// The command could not be started.
    #[error("cannot start the `headersHelper` command")]
    NotStarted(#[source] Arc<SpawnError>),
    /// The output of the command could not be read.
    #[error("cannot read the output of the `headersHelper` command")]
    OutputUnreadable(#[source] Arc<std::io::Error>),
    /// The command exceeded its timeout, and was killed.
    #[error("the `headersHelper` command did not finish within {:?}{}", round_duration(*after), stderr_suffix(said))]
    TimedOut {
        /// The limit.
        after: Duration,
        /// The end of its standard error.
        said: Untrusted,
    },
    /// The command failed.
    #[error("the `headersHelper` command {}{}", describe_exit(*exit), stderr_suffix(said))]
    Failed {
        /// Its exit status.
        exit: ProcessExit,
        /// The end of its standard error.
        said: Untrusted,
    },
    /// The command printed more than the limit.
    #[error("the `headersHelper` command printed more than {limit} bytes")]
    TooMuch {
        /// The limit.
        limit: usize,
    },
    /// The command did not print a JSON object.
    #[error("the `headersHelper` command did not print a JSON object")]
    NotAnObject,
    /// A value is not a string.
    #[error("the `headersHelper` command printed a value for `{}` that is not a string", name.display_line())]
    NotText {
        /// The header.
        name: Untrusted,
    },
    /// A header cannot be sent.
    #[error("the `headersHelper` command printed a header `{}` that cannot be sent", name.display_line())]
    Unsendable {
        /// The header.
        name: Untrusted,
    },
    /// A header occurs twice, in upper and lower case.
    #[error("the `headersHelper` command printed the header `{}` twice", name.display_line())]
    Twice {
        /// The header.
        name: Untrusted,
    },
}

impl Explain for HelperError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NotStarted(error) => error.hint(),
            Self::NotAnObject | Self::NotText { .. } => {
                Some("print only one JSON object, such as `{\"Authorization\": \"Bearer …\"}`".to_owned())
            }
            Self::Unsendable { .. } => Some("header names and values must be one line of ASCII".to_owned()),
            Self::TimedOut { .. } => Some("the command runs without a terminal and cannot prompt".to_owned()),
            Self::OutputUnreadable(_) | Self::Failed { .. } | Self::TooMuch { .. } | Self::Twice { .. } => {
                None
            }
        }
    }
}

fn describe_exit(exit: ProcessExit) -> String {
    match exit {
        ProcessExit { code: Some(code), .. } => format!("exited with code {code}"),
        ProcessExit { signal: Some(signal), .. } => format!("was killed by signal {signal}"),
        ProcessExit { code: None, signal: None } => "was ended".to_owned(),
    }
}

fn stderr_suffix(said: &Untrusted) -> String {
    match said.display_line().as_ref() {
        "" => String::new(),
        said => format!(": {said}"),
    }
}
