//! Errors in the words that form the arguments of a tool call.

use std::error::Error as _;

use mcparley::model::explain::Explain;
use mcparley_platform::file::FileReadError;

/// The reason why a word is not an argument of the tool.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolArgumentError {
    /// A file or standard input that a word names cannot be used.
    #[error(transparent)]
    File(#[from] ArgumentFileError),
    /// A JSON object contains an integer beyond 64 bits.
    #[error("{text}: {TOO_LONG}")]
    TooLong {
        /// The place of the text.
        text: &'static str,
    },
    /// The JSON is no object.
    #[error("{text} is not a JSON object")]
    NotObject {
        /// The place of the text.
        text: &'static str,
    },
    /// The text is not JSON.
    #[error("{text} is not JSON: {error}")]
    NotJson {
        /// The place of the text.
        text: &'static str,
        /// The parser's error.
        error: serde_json::Error,
    },
    /// `=value`
    #[error("`{word}` has no key")]
    KeyMissing {
        /// The word, as typed.
        word: String,
    },
    /// `--=value`
    #[error("`--=` has no name")]
    NameMissing,
    /// An option of `call` that takes no value was given one.
    #[error("option `--{name}` takes no value")]
    ValueUnwanted {
        /// The option, without dashes.
        name: String,
    },
    /// The value of an option is missing.
    #[error("`{option}` needs a value")]
    ValueMissing {
        /// The option, with dashes.
        option: String,
    },
    /// A value does not have the type in the schema.
    #[error("`{word}` must be {wanted}{}", reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    Mismatch {
        /// The word, as typed.
        word: String,
        /// The required type.
        wanted: String,
        /// The parser's error, if the text was meant as JSON.
        reason: Option<String>,
    },
    /// An argument that is no array was given twice.
    #[error("`{word}` is given twice")]
    Twice {
        /// The word, as typed.
        word: String,
    },
    /// Two words read standard input.
    #[error("`{word}`: standard input was already read")]
    StdinTwice {
        /// The word, as typed.
        word: String,
    },
    /// A word matches several arguments.
    #[error("`{word}` matches several arguments")]
    Ambiguous {
        /// The word, as typed.
        word: String,
        /// The matching names.
        names: Vec<String>,
    },
    /// A word matches no argument.
    #[error("unknown argument `{word}`")]
    Unknown {
        /// The word, as typed.
        word: String,
        /// Arguments with similar names, as the user would type them.
        similar: Vec<String>,
        /// Arguments of the tool, as the user would type them.
        known: Vec<String>,
        /// The key that `key:=JSON` would send all the same, because the schema does not forbid it.
        open_key: Option<String>,
    },
    /// A word has no known form.
    #[error("`{word}` is not an argument")]
    Stray {
        /// The word, as typed.
        word: String,
    },
}

/// The reason why a file or standard input is not the text of an argument.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentFileError {
    /// `key=@path` names a file that does not exist.
    #[error("`{key}`: file `{path}` not found")]
    Missing {
        /// The argument.
        key: String,
        /// The file, as typed.
        path: String,
    },
    /// `key=@path` names a file that cannot be read.
    #[error("`{key}`: {error}{}", error.source().map(|cause| format!(": {cause}")).unwrap_or_default())]
    Unreadable {
        /// The argument.
        key: String,
        /// The error of reading.
        error: FileReadError,
    },
    /// Standard input cannot be read.
    #[error("`{word}`: standard input cannot be read: {error}")]
    StdinUnreadable {
        /// The word, as typed.
        word: String,
        /// The error of reading.
        error: std::io::Error,
    },
    /// Standard input is larger than the limit of an argument.
    #[error("`{word}`: standard input is larger than {limit} bytes")]
    StdinTooLarge {
        /// The word, as typed.
        word: String,
        /// The limit.
        limit: u64,
    },
    /// Standard input is not UTF-8.
    #[error("`{word}`: standard input is not UTF-8")]
    StdinNotText {
        /// The word, as typed.
        word: String,
    },
}

impl ToolArgumentError {
    /// Whether a file or standard input could not be read, rather than a word being wrong.
    #[must_use]
    pub fn is_file_error(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

/// The reason to refuse an integer: a JSON number would silently lose digits.
pub(super) const TOO_LONG: &str = "an integer beyond 64 bits would lose digits";

impl Explain for ToolArgumentError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::File(error) => return error.hint(),
            Self::TooLong { .. } => "pass it as a string, if the tool accepts one",
            Self::NotObject { .. } | Self::NotJson { .. } => r#"write it like '{"key":"value"}'"#,
            Self::KeyMissing { .. } => "write `key=value`",
            Self::NameMissing => "write `--key value`",
            Self::ValueUnwanted { name } => {
                return Some(format!(
                    "write `--{name}` without a value, or `{name}=…` for an argument of the tool"
                ));
            }
            Self::ValueMissing { option } => {
                return Some(format!(
                    "write `{option} VALUE`, or `{option}=VALUE` if the value begins with `--`"
                ));
            }
            Self::Mismatch { .. } => "run `mcparley call SERVER TOOL --help` to see its arguments",
            Self::Twice { .. } => "pass it once; only arrays can be repeated",
            Self::StdinTwice { .. } => "only one argument can read it; put the other text into a file",
            Self::Ambiguous { names, .. } => {
                return Some(format!("use the exact name: `{}`", names.join("`, `")));
            }
            Self::Unknown { similar, known, open_key, .. } => {
                return Some(unknown_hint(similar, known, open_key.as_deref()));
            }
            Self::Stray { .. } => {
                "write `key=value`, `--key value` or a JSON object; run `mcparley call SERVER TOOL --help` to see the arguments"
            }
        };
        Some(hint.to_owned())
    }
}

impl Explain for ArgumentFileError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { key, .. } => {
                Some(format!("write text that begins with `@` as `{key}:='\"@…\"'` or as an option"))
            }
            Self::Unreadable { error, .. } => error.hint(),
            Self::StdinUnreadable { .. } | Self::StdinTooLarge { .. } | Self::StdinNotText { .. } => None,
        }
    }
}

fn unknown_hint(similar: &[String], known: &[String], open_key: Option<&str>) -> String {
    let hint = match (similar, known) {
        ([], []) => "the tool takes no arguments".to_owned(),
        ([], known) => format!("known arguments: {}", known.join(", ")),
        (similar, _) => format!("did you mean {}?", similar.join(" or ")),
    };
    match open_key {
        Some(key) => format!("{hint} (`{key}:=JSON` is sent unchecked)"),
        None => hint,
    }
}
