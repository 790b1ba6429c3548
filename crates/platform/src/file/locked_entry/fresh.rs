//! Directories that an update created, which are removed again if the update fails.

use crate::file::{FileWriteError, WriteStep};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The directories this update created, outermost first.
#[derive(Debug, Default)]
pub(super) struct CreatedDirectories(Vec<PathBuf>);

impl CreatedDirectories {
    /// Creates the missing directories of `path`.
    pub(super) fn create_missing(&mut self, path: &Path, mode: u32) -> Result<(), FileWriteError> {
        let missing: Vec<&Path> = path.ancestors().take_while(|path| !path.exists()).collect();
        for directory in missing.into_iter().rev() {
            if directory.as_os_str().is_empty() {
                continue;
            }
            match DirBuilder::new().mode(mode).create(directory) {
                Ok(()) => self.0.push(directory.to_owned()),
                // Another process created the same directory first.
                Err(error) if is_taken(&error) && !is_in_the_way(directory) => {}
                Err(error) => {
                    return Err(FileWriteError::from_io(WriteStep::CreateDirectory, directory, error));
                }
            }
        }
        Ok(())
    }

    /// Keeps the directories when the update has succeeded.
    pub(super) fn keep_all(&mut self) {
        self.0.clear();
    }
}

fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
}

/// Whether the path is taken by an entry that will never be a directory, such as a dangling link.
fn is_in_the_way(path: &Path) -> bool {
    path.symlink_metadata().is_ok() && !path.is_dir()
}

impl Drop for CreatedDirectories {
    fn drop(&mut self) {
        for directory in self.0.iter().rev() {
            // Only an empty directory is removed; if another process uses it meanwhile, it and its parents
            // have to stay.
            if std::fs::remove_dir(directory).is_err() {
                return;
            }
        }
    }
}
