//! Tells the kinds of words apart, without knowing any tool.

/// One word behind a tool's name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Word<'w> {
    /// `--`
    End,
    /// `-h` or `--help`, which a tool may also have as an option of its own.
    Help,
    /// `-`
    Input,
    /// A JSON object.
    Object(&'w str),
    /// `key=…`
    Pair { key: &'w str, content: Content<'w> },
    /// `--name` or `--name=value`
    Flag { name: &'w str, value: Option<&'w str> },
    /// Anything else.
    Stray,
}

/// What stands behind a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content<'w> {
    /// `=text`
    Text(&'w str),
    /// `=@file`
    File(&'w str),
    /// `:=json`
    Json(&'w str),
    /// `:=@file`
    JsonFile(&'w str),
}

impl<'w> Word<'w> {
    pub(super) fn of(word: &'w str) -> Self {
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
            Some((key, text)) if !word.starts_with('-') => Self::pair(key, text),
            Some(_) | None => Self::Stray,
        }
    }

    fn pair(key: &'w str, text: &'w str) -> Self {
        let (key, content) = match (key.strip_suffix(':'), text.strip_prefix('@')) {
            (None, None) => (key, Content::Text(text)),
            (None, Some(path)) => (key, Content::File(path)),
            (Some(key), None) => (key, Content::Json(text)),
            (Some(key), Some(path)) => (key, Content::JsonFile(path)),
        };
        Self::Pair { key, content }
    }
}

impl Content<'_> {
    /// Whether the person asked for JSON, whatever the schema says.
    pub(super) fn is_json(&self) -> bool {
        match self {
            Self::Json(_) | Self::JsonFile(_) => true,
            Self::Text(_) | Self::File(_) => false,
        }
    }
}
