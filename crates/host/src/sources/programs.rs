//! Finds the programs that commands mean, on the real file system and as the start of a server finds them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mcparley_model::config::Stdio;
use mcparley_model::expand::Env;
use mcparley_model::program::{FoundProgram, ProgramFinder};
use mcparley_platform::process::{Launch, locate};

use crate::paths::Paths;

/// The file system as servers of this project see it.
#[derive(Debug)]
pub(crate) struct Programs {
    path: Option<OsString>,
    project: PathBuf,
    /// The project's folder without links; none where it holds the user's own programs.
    project_files: Option<PathBuf>,
    home: PathBuf,
    executable: Option<PathBuf>,
}

impl Programs {
    pub(crate) fn new(paths: &Paths, env: &Env) -> Self {
        let project_files = resolve(&paths.project);
        let is_home_or_root = paths.home.starts_with(&project_files);
        Self {
            path: env.get("PATH").map(OsString::from),
            project: paths.project.clone(),
            project_files: (!is_home_or_root).then_some(project_files),
            home: paths.home.clone(),
            executable: paths.executable.as_deref().map(resolve),
        }
    }

    /// The project brought what lies below its folder, and what is in a `node_modules` on the way down to it.
    fn is_of_project(&self, path: &Path) -> bool {
        let Some(project) = &self.project_files else { return false };
        let modules = path.ancestors().filter(|folder| folder.ends_with("node_modules"));
        let is_above = |folder: &Path| {
            folder.starts_with(&self.home) && folder != self.home && project.starts_with(folder)
        };
        path.starts_with(project) || modules.filter_map(Path::parent).any(is_above)
    }
}

impl ProgramFinder for Programs {
    fn find(&self, name: &str, stdio: &Stdio) -> Option<FoundProgram> {
        let own_path = stdio.env.iter().find(|(variable, _)| variable == "PATH");
        let path = own_path.map(|(_, value)| OsString::from(value.expose())).or_else(|| self.path.clone());
        let cwd = stdio.cwd.as_ref().map_or_else(|| self.project.clone(), |cwd| self.project.join(cwd));
        let env = path.map(|path| ("PATH".into(), path)).into_iter().collect();
        let launch = Launch { program: name.into(), env, ..Launch::default() };
        let found = locate(&launch).ok()?;
        let is_relative = found.is_relative();
        let located = cwd.join(found);
        let canonical = located.canonicalize().ok()?;
        Some(FoundProgram {
            is_of_project: is_relative || self.is_of_project(&located) || self.is_of_project(&canonical),
            is_self: self.executable.as_ref() == Some(&canonical),
            located: with_real_folder(&located).to_string_lossy().into_owned(),
            canonical: canonical.to_string_lossy().into_owned(),
        })
    }

    fn canonical(&self, path: &str) -> Option<String> {
        let canonical = Path::new(path).canonicalize().ok()?;
        Some(canonical.to_string_lossy().into_owned())
    }
}

/// The path with the links and `..` of its folder resolved, but not the program itself: many are links.
fn with_real_folder(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => resolve(folder).join(name),
        _ => resolve(path),
    }
}

fn resolve(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
