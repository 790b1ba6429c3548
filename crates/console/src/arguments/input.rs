//! Reads the files and the standard input that arguments refer to, up to a size limit.

use std::io::Read;
use std::path::Path;

use mcparley_platform::file;

use super::error::{ArgumentFileError, ToolArgumentError};

/// The source of texts that arguments refer to.
pub struct TextInput<'i> {
    /// Standard input; `None` once it was read.
    stdin: Option<&'i mut dyn Read>,
    /// The size limit of one text, in bytes.
    limit: u64,
}

impl<'i> TextInput<'i> {
    /// Takes texts of at most `limit` bytes from files and from `stdin`.
    pub fn new(stdin: &'i mut dyn Read, limit: u64) -> Self {
        Self { stdin: Some(stdin), limit }
    }

    /// Reads the text of the file for `key`; `-` is standard input.
    pub(super) fn read_file(&mut self, path: &str, key: &str) -> Result<String, ToolArgumentError> {
        if path == "-" {
            return self.read_stdin(&format!("{key}=@-"));
        }
        match file::read_text(Path::new(path), self.limit) {
            Ok(Some(file)) => Ok(file.text),
            Ok(None) => Err(ArgumentFileError::Missing { key: key.to_owned(), path: path.to_owned() }.into()),
            Err(error) => Err(ArgumentFileError::Unreadable { key: key.to_owned(), error }.into()),
        }
    }

    /// Reads all of standard input, once.
    pub(super) fn read_stdin(&mut self, word: &str) -> Result<String, ToolArgumentError> {
        let (limit, word) = (self.limit, word.to_owned());
        let Some(stdin) = self.stdin.take() else {
            return Err(ToolArgumentError::StdinTwice { word });
        };
        let mut bytes = Vec::new();
        if let Err(error) = stdin.take(limit.saturating_add(1)).read_to_end(&mut bytes) {
            return Err(ArgumentFileError::StdinUnreadable { word, error }.into());
        }
        if bytes.len() as u64 > limit {
            return Err(ArgumentFileError::StdinTooLarge { word, limit }.into());
        }
        String::from_utf8(bytes).map_err(|_| ArgumentFileError::StdinNotText { word }.into())
    }
}

impl std::fmt::Debug for TextInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextInput").field("limit", &self.limit).finish_non_exhaustive()
    }
}
