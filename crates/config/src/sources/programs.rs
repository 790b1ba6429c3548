//! Program locator: resolves the programs that commands name, in the same way as the start of a server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mcparley_model::config::StdioConfig;
use mcparley_model::expand::Env;
use mcparley_model::program::{FoundProgram, ProgramFinder};
use mcparley_platform::process::{ProgramLaunch, locate_program};

use crate::paths::Paths;

/// Resolves programs on the file system, as servers of this project see it.
#[derive(Debug)]
pub(crate) struct ProgramLocator {
    path: Option<OsString>,
    project: PathBuf,
    /// The canonical project folder; absent if it contains the user's own programs.
    project_files: Option<PathBuf>,
    home: PathBuf,
    executable: Option<PathBuf>,
}

impl ProgramLocator {
    pub(crate) fn new(paths: &Paths, env: &Env) -> Self {
        let project_files = canonical_or_same(&paths.project);
        let is_home_or_root = paths.home.starts_with(&project_files);
        Self {
            path: env.get("PATH").map(OsString::from),
            project: paths.project.clone(),
            project_files: (!is_home_or_root).then_some(project_files),
            home: paths.home.clone(),
            executable: paths.executable.as_deref().map(canonical_or_same),
        }
    }

    /// Whether a program comes with the project.
    ///
    /// It does if it lies below the project folder, or in a `node_modules` folder above the project.
    fn is_of_project(&self, path: &Path) -> bool {
        let Some(project) = &self.project_files else { return false };
        let modules = path.ancestors().filter(|folder| folder.ends_with("node_modules"));
        let is_above = |folder: &Path| {
            folder.starts_with(&self.home) && folder != self.home && project.starts_with(folder)
        };
        path.starts_with(project) || modules.filter_map(Path::parent).any(is_above)
    }
}

impl ProgramFinder for ProgramLocator {
    fn find_program(&self, name: &str, stdio: &StdioConfig) -> Option<FoundProgram> {
        let own_path = stdio.env.iter().find(|(variable, _)| variable == "PATH");
        let path = own_path.map(|(_, value)| OsString::from(value.expose())).or_else(|| self.path.clone());
        let cwd = stdio.cwd.as_ref().map_or_else(|| self.project.clone(), |cwd| self.project.join(cwd));
        let env = path.map(|path| ("PATH".into(), path)).into_iter().collect();
        let launch = ProgramLaunch { program: name.into(), env, ..ProgramLaunch::default() };
        let found = locate_program(&launch).ok()?;
        let is_relative = found.is_relative();
        let located = cwd.join(found);
        let canonical = located.canonicalize().ok()?;
        Some(FoundProgram {
            is_in_project: is_relative || self.is_of_project(&located) || self.is_of_project(&canonical),
            is_self: self.executable.as_ref() == Some(&canonical),
            located: with_real_folder(&located).to_string_lossy().into_owned(),
            canonical: canonical.to_string_lossy().into_owned(),
        })
    }

    fn canonical_path(&self, path: &str) -> Option<String> {
        let canonical = Path::new(path).canonicalize().ok()?;
        Some(canonical.to_string_lossy().into_owned())
    }
}

/// The path with its folder canonical, but not the program itself: many programs are symbolic links.
fn with_real_folder(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => canonical_or_same(folder).join(name),
        _ => canonical_or_same(path),
    }
}

fn canonical_or_same(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
