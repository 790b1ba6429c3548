//! Classifies the words after a tool's name by their form, without the schema of the tool.

/// A word after a tool's name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ArgumentWord<'w> {
    /// `--`, the end of the options of `call`.
    End,
    /// `-h` or `--help`, which may also be an argument of the tool.
    Help,
    /// `-`, standard input.
    Input,
    /// A JSON object.
    Object(&'w str),
    /// `key=…`
    Pair { key: &'w str, content: PairContent<'w> },
    /// `--name` or `--name=value`
    Flag { name: &'w str, value: Option<&'w str> },
    /// A word of no known form.
    Stray,
}

/// The value after a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PairContent<'w> {
    /// `=text`
    Text(&'w str),
    /// `=@file`
    File(&'w str),
    /// `:=json`
    Json(&'w str),
    /// `:=@file`
    JsonFile(&'w str),
}

impl<'w> ArgumentWord<'w> {
    pub(super) fn from_text(word: &'w str) -> Self {
        match word {
            "--" => return Self::End,
            "-" => return Self::Input,
            "-h" => return Self::Help,
            _ if word.trim_start().starts_with('{') => return Self::Object(word),
            _ => {}
        }
        if let Some(flag) = word.strip_prefix("--") {
            let (name, value) =
                flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
            return Self::Flag { name, value };
        }
        match word.split_once('=') {
            Some((key, text)) if !word.starts_with('-') => Self::from_pair(key, text),
            Some(_) | None => Self::Stray,
        }
    }

    fn from_pair(key: &'w str, text: &'w str) -> Self {
        let (key, content) = match (key.strip_suffix(':'), text.strip_prefix('@')) {
            (None, None) => (key, PairContent::Text(text)),
            (None, Some(path)) => (key, PairContent::File(path)),
            (Some(key), None) => (key, PairContent::Json(text)),
            (Some(key), Some(path)) => (key, PairContent::JsonFile(path)),
        };
        Self::Pair { key, content }
    }
}

impl PairContent<'_> {
    /// Whether the value is JSON regardless of the schema.
    pub(super) fn is_json(&self) -> bool {
        match self {
            Self::Json(_) | Self::JsonFile(_) => true,
            Self::Text(_) | Self::File(_) => false,
        }
    }
}
