//! Why a prompt gave no messages.

use mcparley_model::name::ServerName;
use mcparley_model::text::display;

use crate::call::RequestError;

/// Why a prompt gave no messages.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// There is no such prompt now.
    #[error("there is no prompt `{}`", display(name))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// Names that look like it.
        similar: Vec<String>,
    },
    /// The line has no command.
    #[error("the line has no command")]
    Empty,
    /// A quote has no end.
    #[error("the quote `{quote}` has no end")]
    Unclosed {
        /// The quote.
        quote: char,
    },
    /// More is given than the prompt takes.
    #[error("`{}` is too much: the prompt takes {}", display(value), count(*takes))]
    Surplus {
        /// The first value too many.
        value: String,
        /// How many it takes.
        takes: usize,
        /// How it is used.
        usage: String,
    },
    /// An argument is missing that the prompt cannot do without.
    #[error("the argument `{}` is missing{}", display(argument), about(description.as_deref()))]
    Missing {
        /// The argument.
        argument: String,
        /// What the server says about it.
        description: Option<String>,
        /// How the prompt is used.
        usage: String,
    },
    /// An argument is given twice.
    #[error("the argument `{}` is given twice", display(argument))]
    Twice {
        /// The argument.
        argument: String,
        /// How the prompt is used.
        usage: String,
    },
    /// The prompt has no such argument.
    #[error("the prompt has no argument `{}`", display(argument))]
    UnknownArgument {
        /// The argument.
        argument: String,
        /// How the prompt is used.
        usage: String,
    },
    /// What its server answered holds no messages.
    #[error("server `{}` answered with something that is no prompt", display(server.as_str()))]
    Damaged {
        /// The server.
        server: ServerName,
    },
    /// The server gave nothing.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl PromptError {
    /// Whether what was given does not fit; nothing was sent then.
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

    /// What to do about it, when there is something to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { similar, .. } => {
                (!similar.is_empty()).then(|| format!("did you mean `{}`?", similar.join("`, `")))
            }
            Self::Surplus { usage, .. } => {
                Some(format!("use it as `{}`; quotes keep a value with spaces together", display(usage)))
            }
            Self::Missing { usage, .. } | Self::Twice { usage, .. } | Self::UnknownArgument { usage, .. } => {
                Some(format!("use it as `{}`", display(usage)))
            }
            Self::Request(error) => error.hint(),
            Self::Empty | Self::Unclosed { .. } | Self::Damaged { .. } => None,
        }
    }
}

fn count(arguments: usize) -> String {
    match arguments {
        0 => "no arguments".to_owned(),
        1 => "one argument".to_owned(),
        more => format!("{more} arguments"),
    }
}

fn about(description: Option<&str>) -> String {
    description.map(|text| format!(" ({})", display(text))).unwrap_or_default()
}
