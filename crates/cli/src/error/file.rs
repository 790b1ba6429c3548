//! Files and standard streams that cannot be read or written.

use std::path::PathBuf;

use mcparley::model::explain::Explain;
use mcparley_platform::file::FileReadError;

use super::with_sources;

/// The reason why a file or standard stream cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// `key=@path` names a file that does not exist.
    #[error("`{key}`: file `{path}` not found")]
    ArgumentMissing { key: String, path: String },
    /// `key=@path` names a file that cannot be read.
    #[error("`{key}`: {}", with_sources(error))]
    ArgumentUnreadable { key: String, error: FileReadError },
    /// Standard input cannot be read.
    #[error("`{word}`: standard input cannot be read: {error}")]
    StdinUnreadable { word: String, error: std::io::Error },
    /// Standard input is larger than the limit of an argument.
    #[error("`{word}`: standard input is larger than {limit} bytes")]
    StdinTooLarge { word: String, limit: u64 },
    /// Standard input is not UTF-8.
    #[error("`{word}`: standard input is not UTF-8")]
    StdinNotText { word: String },
    /// A log cannot be read.
    #[error("{}", with_sources(.0))]
    Log(FileReadError),
    /// The content of a resource is not base64.
    #[error("the resource is not base64")]
    ResourceNotBase64,
    /// A block of a result is not base64.
    #[error("a part of the result is not base64")]
    ResultNotBase64,
    /// `--output` writes one file, and the result does not have exactly one.
    #[error("the result has {found} images, audio clips and files, not one")]
    NotOneFile { found: usize },
    /// A file cannot be written.
    #[error("cannot write `{}`: {error}", path.display())]
    Unwritten { path: PathBuf, error: std::io::Error },
}

impl Explain for FileError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::ArgumentMissing { key, .. } => {
                Some(format!("write text that begins with `@` as `{key}:='\"@…\"'` or as an option"))
            }
            Self::ArgumentUnreadable { error, .. } | Self::Log(error) => error.hint(),
            Self::NotOneFile { .. } => Some("use `--save DIR` to write all of them".to_owned()),
            Self::StdinUnreadable { .. }
            | Self::StdinTooLarge { .. }
            | Self::StdinNotText { .. }
            | Self::ResourceNotBase64
            | Self::ResultNotBase64
            | Self::Unwritten { .. } => None,
        }
    }
}
