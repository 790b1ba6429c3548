//! Steps of a command line that may run other code at every start.

use std::fmt;

use super::{Package, Step};
use crate::config::masked_text;
use crate::text::display;

/// A step whose code is fetched at the start and not pinned to a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnpinnedStep {
    /// A package runner fetches whatever release is newest.
    Package(Package),
    /// A script runs what it downloads.
    DownloadedScript,
}

impl UnpinnedStep {
    /// The unpinned steps of a command line, in their order.
    pub fn find(steps: impl IntoIterator<Item = Step>) -> impl Iterator<Item = Self> {
        steps.into_iter().filter_map(|step| match step {
            Step::Package(package) if !package.is_pinned() => Some(Self::Package(package)),
            Step::DownloadedScript => Some(Self::DownloadedScript),
            Step::Package(_) | Step::Program(_) => None,
        })
    }

    /// How to pin it.
    #[must_use]
    pub fn to_pin_hint(&self) -> String {
        match self {
            Self::Package(package) => {
                format!("name an exact version, such as `{}`", display(&package.to_pinned_example()))
            }
            Self::DownloadedScript => {
                "download the script once, look at it, and let the entry start the file".to_owned()
            }
        }
    }
}

impl fmt::Display for UnpinnedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Package(package) => {
                let spec = masked_text(&package.spec);
                write!(f, "`{}` fetches whatever `{}` is at the time", package.runner, display(&spec))
            }
            Self::DownloadedScript => f.write_str("it runs a script that it downloads, unseen"),
        }
    }
}
