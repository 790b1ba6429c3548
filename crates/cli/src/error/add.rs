//! Errors in the words of `add` and in the entry of `add-json`.

use mcparley::model::explain::Explain;

const ENTRY_EXAMPLE: &str = r#"an entry looks like {"type":"http","url":"https://example.com/mcp"}"#;

/// The reason why a server cannot be added.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AddError {
    /// The command and the URL are missing.
    #[error("missing command or URL")]
    TargetMissing,
    /// Words follow a URL.
    #[error("only options may follow a URL")]
    ArgumentsOfUrl,
    /// A remote transport was chosen for a command.
    #[error("a `{transport}` server needs a URL, not a command")]
    CommandForUrl { transport: String },
    /// The command looks like an option.
    #[error("`{word}` is neither an option of `add` nor a command")]
    UnknownOption { word: String },
    /// An option for URLs is combined with a command.
    #[error("`{option}` cannot be used with a command")]
    OptionForUrl { option: &'static str },
    /// `--env` is combined with a URL.
    #[error("`--env` cannot be used with a URL")]
    VariableForUrl,
    /// `--assertion-file` is combined with another grant.
    #[error("`--assertion-file` needs `--grant jwt-bearer`")]
    AssertionWithoutGrant,
    /// The value of `--env` has no name. It may be a secret, so it is not quoted.
    #[error("`--env` takes KEY=VALUE")]
    Variable,
    /// The value of `--header` has no name. It may be a secret, so it is not quoted.
    #[error("`--header` takes `Key: Value`")]
    Header,
    /// The entry is JSON, but no object.
    #[error("the entry is not a JSON object")]
    NotObject,
    /// The entry is not JSON. The parser reports the position and never quotes the text, which may hold a
    /// secret.
    #[error("the entry is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// Standard input, which holds the entry, cannot be read.
    #[error("standard input cannot be read: {0}")]
    StdinUnreadable(std::io::Error),
}

impl Explain for AddError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::TargetMissing => "run `mcparley add --help` for examples",
            Self::ArgumentsOfUrl => "a URL takes no arguments; run `mcparley add --help` for examples",
            Self::CommandForUrl { .. } => "a URL begins with https://",
            Self::UnknownOption { .. } => {
                "put options before the server's name, and `--` before a command that begins with `-`"
            }
            Self::OptionForUrl { .. } => {
                "this option is for URLs; set variables of a command with `-e KEY=VALUE`"
            }
            Self::VariableForUrl => {
                "this option is for commands; set headers of a URL with `-H 'Key: Value'`"
            }
            Self::AssertionWithoutGrant => {
                "add `--grant jwt-bearer`, which exchanges the assertion for a token"
            }
            Self::Variable => "write `-e KEY=VALUE`, one each",
            Self::Header => "write `-H 'Key: Value'`, one each",
            Self::NotObject | Self::NotJson(_) | Self::StdinUnreadable(_) => ENTRY_EXAMPLE,
        };
        Some(hint.to_owned())
    }
}
