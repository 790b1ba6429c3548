//! Reads the files and the standard input that arguments refer to, up to a size limit.

use std::io::Read;
use std::path::Path;

use mcparley_platform::file;

use crate::error::{CommandError, FileError, ToolArgumentError};

/// The source of texts that arguments refer to.
pub(crate) struct TextInput<'i> {
    /// Standard input; `None` once it was read.
    stdin: Option<&'i mut dyn Read>,
    /// The size limit of one text, in bytes.
    limit: u64,
}

impl<'i> TextInput<'i> {
    pub(crate) fn new(stdin: &'i mut dyn Read, limit: u64) -> Self {
        Self { stdin: Some(stdin), limit }
    }

    /// Reads the text of the file for `key`; `-` is standard input.
    pub(super) fn read_file(&mut self, path: &str, key: &str) -> Result<String, CommandError> {
        if path == "-" {
            return self.read_stdin(&format!("{key}=@-"));
        }
        match file::read_text(Path::new(path), self.limit) {
            Ok(Some(file)) => Ok(file.text),
            Ok(None) => Err(FileError::ArgumentMissing { key: key.to_owned(), path: path.to_owned() }.into()),
            Err(error) => Err(FileError::ArgumentUnreadable { key: key.to_owned(), error }.into()),
        }
    }

    /// Reads all of standard input, once.
    pub(crate) fn read_stdin(&mut self, word: &str) -> Result<String, CommandError> {
        let (limit, word) = (self.limit, word.to_owned());
        let Some(stdin) = self.stdin.take() else {
            return Err(ToolArgumentError::StdinTwice { word }.into());
        };
        let mut bytes = Vec::new();
        if let Err(error) = stdin.take(limit.saturating_add(1)).read_to_end(&mut bytes) {
            return Err(FileError::StdinUnreadable { word, error }.into());
        }
        if bytes.len() as u64 > limit {
            return Err(FileError::StdinTooLarge { word, limit }.into());
        }
        String::from_utf8(bytes).map_err(|_| FileError::StdinNotText { word }.into())
    }
}
