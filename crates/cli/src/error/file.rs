//! Files and standard streams that cannot be read or written.

use std::path::PathBuf;

use mcparley::model::explain::Explain;
use mcparley_platform::file::FileReadError;

use super::with_sources;

/// The reason why a file or standard stream cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// A log cannot be read.
    #[error("{}", with_sources(.0))]
    Log(FileReadError),
    /// A log that is followed cannot be read.
    #[error("cannot read the log: {0}")]
    FollowedLog(std::io::Error),
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
            Self::Log(error) => error.hint(),
            Self::NotOneFile { .. } => Some("use `--save DIR` to write all of them".to_owned()),
            Self::FollowedLog(_)
            | Self::ResourceNotBase64
            | Self::ResultNotBase64
            | Self::Unwritten { .. } => None,
        }
    }
}
