//! Errors in the arguments of a tool call on the command line.

use mcparley::model::explain::Explain;

/// The reason why a word is not an argument of the tool.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolArgumentError {
    /// A JSON object contains an integer beyond 64 bits.
    #[error("{text}: {TOO_LONG}")]
    TooLong { text: &'static str },
    /// The JSON is no object.
    #[error("{text} is not a JSON object")]
    NotObject { text: &'static str },
    /// The text is not JSON.
    #[error("{text} is not JSON: {error}")]
    NotJson { text: &'static str, error: serde_json::Error },
    /// `=value`
    #[error("`{word}` has no key")]
    KeyMissing { word: String },
    /// `--=value`
    #[error("`--=` has no name")]
    NameMissing,
    /// An option of `call` that takes no value was given one.
    #[error("option `--{name}` takes no value")]
    ValueUnwanted { name: String },
    /// The value of an option is missing.
    #[error("`{option}` needs a value")]
    ValueMissing { option: String },
    /// A value does not have the type in the schema.
    #[error("`{word}` must be {wanted}{}", reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    Mismatch { word: String, wanted: String, reason: Option<String> },
    /// An argument that is no array was given twice.
    #[error("`{word}` is given twice")]
    Twice { word: String },
    /// Two words read standard input.
    #[error("`{word}`: standard input was already read")]
    StdinTwice { word: String },
    /// A word matches several arguments.
    #[error("`{word}` matches several arguments")]
    Ambiguous { word: String, names: Vec<String> },
    /// A word matches no argument.
    #[error("unknown argument `{word}`")]
    Unknown {
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
    Stray { word: String },
}

/// The reason to refuse an integer: a JSON number would silently lose digits.
pub(crate) const TOO_LONG: &str = "an integer beyond 64 bits would lose digits";

impl Explain for ToolArgumentError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
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
