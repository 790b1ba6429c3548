//! Errors of prompts.

use mcparley_model::name::ServerName;
use mcparley_model::text::display_line;

use crate::call::RequestError;

/// The reason why a prompt returned no messages.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The prompt does not exist now.
    #[error("there is no prompt `{}`", display_line(name))]
    Unknown {
        /// The requested name.
        name: String,
        /// Similar names.
        similar: Vec<String>,
    },
    /// The line has no command.
    #[error("the line has no command")]
    Empty,
    /// A quote is not closed.
    #[error("the quote `{quote}` is never closed")]
    Unclosed {
        /// The quote.
        quote: char,
    },
    /// There are more values than arguments.
    #[error("`{}` is unexpected: the prompt takes {}", display_line(value), argument_count(*takes))]
    Surplus {
        /// The first surplus value.
        value: String,
        /// The number of arguments of the prompt.
        takes: usize,
        /// The usage line.
        usage: String,
    },
    /// A required argument is missing.
    #[error("the argument `{}` is missing{}", display_line(argument), description_suffix(description.as_deref()))]
    Missing {
        /// The argument.
        argument: String,
        /// The server's description of the argument.
        description: Option<String>,
        /// The usage line.
        usage: String,
    },
    /// An argument has two values.
    #[error("the argument `{}` is given twice", display_line(argument))]
    Twice {
        /// The argument.
        argument: String,
        /// The usage line.
        usage: String,
    },
    /// The prompt has no such argument.
    #[error("the prompt has no argument `{}`", display_line(argument))]
    UnknownArgument {
        /// The argument.
        argument: String,
        /// The usage line.
        usage: String,
    },
    /// The server's answer holds no messages.
    #[error("server `{}` returned an invalid prompt", display_line(server.as_str()))]
    Damaged {
        /// The server.
        server: ServerName,
    },
    /// The request to the server failed.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl PromptError {
    /// Whether the command line is wrong; no request was sent then.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Empty
            | Self::Unclosed { .. }
            | Self::Surplus { .. }
            | Self::Missing { .. }
            | Self::Twice { .. }
            | Self::UnknownArgument { .. } => true,
            Self::Unknown { .. } | Self::Damaged { .. } | Self::Request(_) => false,
        }
    }

    /// The next action for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { similar, .. } => {
                (!similar.is_empty()).then(|| format!("did you mean `{}`?", similar.join("`, `")))
            }
            Self::Surplus { usage, .. } => {
                Some(format!("use it as `{}`; quotes keep a value with spaces together", display_line(usage)))
            }
            Self::Missing { usage, .. } | Self::Twice { usage, .. } | Self::UnknownArgument { usage, .. } => {
                Some(format!("use it as `{}`", display_line(usage)))
            }
            Self::Request(error) => error.hint(),
            Self::Empty | Self::Unclosed { .. } | Self::Damaged { .. } => None,
        }
    }
}

fn argument_count(arguments: usize) -> String {
    match arguments {
        0 => "no arguments".to_owned(),
        1 => "one argument".to_owned(),
        more => format!("{more} arguments"),
    }
}

fn description_suffix(description: Option<&str>) -> String {
    description.map(|text| format!(" ({})", display_line(text))).unwrap_or_default()
}
