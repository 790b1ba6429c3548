//! Reads the texts that words refer to: files and standard input, bounded.

use std::io::Read;
use std::path::Path;

use mcparley_platform::file;

use crate::error::CommandError;

/// Where texts come from.
pub(crate) struct Input<'i> {
    /// Gone once it was read.
    stdin: Option<&'i mut dyn Read>,
    /// The most one text may hold.
    limit: u64,
}

impl<'i> Input<'i> {
    pub(crate) fn new(stdin: &'i mut dyn Read, limit: u64) -> Self {
        Self { stdin: Some(stdin), limit }
    }

    /// The text of the file that `key` names; `-` is standard input.
    pub(super) fn file(&mut self, path: &str, key: &str) -> Result<String, CommandError> {
        if path == "-" {
            return self.stdin(&format!("{key}=@-"));
        }
        match file::read(Path::new(path), self.limit) {
            Ok(Some(file)) => Ok(file.text),
            Ok(None) => Err(CommandError::File {
                message: format!("`{key}`: there is no file `{path}`"),
                hint: Some(format!(
                    "a text that begins with `@` is written `{key}:='\"@…\"'`, or as an option"
                )),
            }),
            Err(error) => Err(CommandError::File {
                hint: error.hint(),
                message: format!("`{key}`: {}", crate::error::with_sources(&error)),
            }),
        }
    }

    /// All of standard input, once.
    pub(super) fn stdin(&mut self, word: &str) -> Result<String, CommandError> {
        let Some(stdin) = self.stdin.take() else {
            return Err(CommandError::usage(
                format!("`{word}`: standard input was read already"),
                "only one word can take it; put the other text into a file",
            ));
        };
        let unusable = |reason: String| CommandError::File {
            message: format!("`{word}`: standard input {reason}"),
            hint: None,
        };
        let mut bytes = Vec::new();
        let read = stdin.take(self.limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| unusable(format!("cannot be read: {error}")))?;
        if bytes.len() as u64 > self.limit {
            return Err(unusable(format!("is larger than {} bytes", self.limit)));
        }
        String::from_utf8(bytes).map_err(|_| unusable("is not UTF-8".to_owned()))
    }
}
