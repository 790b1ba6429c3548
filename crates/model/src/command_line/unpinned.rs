//! The steps of a command line that may run different code at every start.

use std::fmt;

use super::{CommandStep, Package};
use crate::config::mask_secrets;
use crate::text::display_line;

/// A step that downloads its code at start and is not pinned to a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnpinnedStep {
    /// A package runner downloads the newest release that matches.
    Package(Package),
    /// A script runs code that it downloads.
    DownloadedScript,
    /// Commands that are nested too deeply to be analyzed.
    TooDeep,
}

impl UnpinnedStep {
    /// Finds the unpinned steps of a command line, in order.
    pub fn find_in_steps(steps: impl IntoIterator<Item = CommandStep>) -> impl Iterator<Item = Self> {
        steps.into_iter().filter_map(|step| match step {
            CommandStep::Package(package) if !package.is_pinned() => Some(Self::Package(package)),
            CommandStep::DownloadedScript => Some(Self::DownloadedScript),
            CommandStep::TooDeep => Some(Self::TooDeep),
            CommandStep::Package(_) | CommandStep::Program(_) => None,
        })
    }

    /// The hint that shows how to pin the step.
    #[must_use]
    pub fn to_pin_hint(&self) -> String {
        match self {
            Self::Package(package) => {
                format!("name an exact version, such as `{}`", display_line(&package.to_pinned_example()))
            }
            Self::DownloadedScript => {
                "download the script once, review it, and run the file instead".to_owned()
            }
            Self::TooDeep => "start the innermost program itself, or a script that does".to_owned(),
        }
    }
}

impl fmt::Display for UnpinnedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Package(package) => {
                let spec = mask_secrets(&package.spec);
                write!(f, "`{}` fetches `{}` without a pinned version", package.runner, display_line(&spec))
            }
            Self::DownloadedScript => f.write_str("it runs a script that it downloads"),
            Self::TooDeep => f.write_str("its commands are nested too deeply to be analyzed"),
        }
    }
}
