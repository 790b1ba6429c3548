//! Why a command made no headers. Nothing it printed for us stands in it.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::explain::Explain;
use mcparley_model::text::{Untrusted, rounded};
use mcparley_platform::process::{Exit, SpawnError};

/// Why a command made no headers.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HelperError {
    /// It could not be started.
    #[error("the command of `headersHelper` could not be started")]
    NotStarted(#[source] Arc<SpawnError>),
    /// The system did not let us listen to it.
    #[error("the command of `headersHelper` could not be listened to")]
    Unheard(#[source] Arc<std::io::Error>),
    /// It took too long, and was ended.
    #[error("the command of `headersHelper` did not end within {:?}{}", rounded(*after), last_words(said))]
    Late {
        /// The limit.
        after: Duration,
        /// The end of what it said on its standard error.
        said: Untrusted,
    },
    /// It says itself that it failed.
    #[error("the command of `headersHelper` {}{}", ended(*exit), last_words(said))]
    Failed {
        /// How it ended.
        exit: Exit,
        /// The end of what it said on its standard error.
        said: Untrusted,
    },
    /// It prints more than headers can be.
    #[error("the command of `headersHelper` printed more than {limit} bytes")]
    TooMuch {
        /// The limit.
        limit: usize,
    },
    /// It prints something else.
    #[error("the command of `headersHelper` did not print a JSON object")]
    NotAnObject,
    /// A value in it is not a string.
    #[error("the command of `headersHelper` printed a value for `{}` that is not a string", name.display())]
    NotText {
        /// The header.
        name: Untrusted,
    },
    /// A header in it cannot be sent.
    #[error("the command of `headersHelper` printed a header `{}` that cannot be sent", name.display())]
    Unfit {
        /// The header.
        name: Untrusted,
    },
    /// A header stands in it twice, in large and small letters.
    #[error("the command of `headersHelper` printed the header `{}` twice", name.display())]
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
                Some("it must print one JSON object, such as `{\"Authorization\": \"Bearer …\"}`, and nothing else".to_owned())
            }
            Self::Unfit { .. } => Some("names and values of headers are one line of ASCII characters".to_owned()),
            Self::Late { .. } => Some("it runs without a terminal: nobody can answer what it asks".to_owned()),
            Self::Unheard(_) | Self::Failed { .. } | Self::TooMuch { .. } | Self::Twice { .. } => None,
        }
    }
}

fn ended(exit: Exit) -> String {
    match exit {
        Exit { code: Some(code), .. } => format!("exited with code {code}"),
        Exit { signal: Some(signal), .. } => format!("was ended by signal {signal}"),
        Exit { code: None, signal: None } => "was ended".to_owned(),
    }
}

fn last_words(said: &Untrusted) -> String {
    match said.display().as_ref() {
        "" => String::new(),
        said => format!(": {said}"),
    }
}
