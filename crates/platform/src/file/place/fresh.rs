//! Directories made for an update, which disappear again if the update does not happen.

use crate::file::{Step, WriteError};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The directories this update created, outermost first.
#[derive(Debug, Default)]
pub(super) struct FreshDirectories(Vec<PathBuf>);

impl FreshDirectories {
    /// Creates what is missing of `path`.
    pub(super) fn create(&mut self, path: &Path, mode: u32) -> Result<(), WriteError> {
        let missing: Vec<&Path> = path.ancestors().take_while(|path| !path.exists()).collect();
        for directory in missing.into_iter().rev() {
            if directory.as_os_str().is_empty() {
                continue;
            }
            match DirBuilder::new().mode(mode).create(directory) {
                Ok(()) => self.0.push(directory.to_owned()),
                // Somebody else needed it too and was faster.
                Err(error) if is_taken(&error) && !is_in_the_way(directory) => {}
                Err(error) => {
                    return Err(WriteError::io(Step::CreateDirectory, directory, error));
                }
            }
        }
        Ok(())
    }

    /// Lets them stay.
    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
}

/// Whether something stands there that will never be a directory, such as a link to nothing.
fn is_in_the_way(path: &Path) -> bool {
    path.symlink_metadata().is_ok() && !path.is_dir()
}

impl Drop for FreshDirectories {
    fn drop(&mut self) {
        for directory in self.0.iter().rev() {
            // Only an empty directory goes; if somebody has used it meanwhile, it is theirs, and so
            // is everything above it.
            if std::fs::remove_dir(directory).is_err() {
                return;
            }
        }
    }
}
