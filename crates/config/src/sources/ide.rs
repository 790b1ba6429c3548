//! Editors: servers that are found through editor lock files, and only on request (`--ide`).
//!
//! A lock file contains the port of an editor and the token for it. A file that another user can have written
//! or read is not trusted. Every editor that has the working directory open becomes a declaration of the same
//! name; the plan shows which of them wins.

mod lock;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::plan::ServerDeclaration;
use mcparley_model::approval::Provenance;
use mcparley_model::config::{EntryHint, RawServer, TransportKind};
use mcparley_model::expand::Template;
use mcparley_model::limits::LOCK_FILES;
use mcparley_model::name::ServerName;
use mcparley_model::scope::{ConfigOrigin, Scope, Source};
use mcparley_platform::file::{self, FileReadError};
use mcparley_platform::process::is_running;

use super::SourceCollector;
use super::file::ConfigProblem;
use lock::{EditorLock, EditorTransport, LockError};

/// The server name of the editor, the same for all editors.
const NAME: &str = "ide";

/// The editor to connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditorChoice {
    /// The editor that has the working directory open; of several the nearest, then the newest (`--ide`).
    Nearest,
    /// The editor in whose terminal this process runs, by its port.
    Port(u16),
}

/// An editor that listens, with the content of its lock file.
struct FoundEditor {
    path: PathBuf,
    lock: EditorLock,
    modified: SystemTime,
    nearness: Nearness,
}

/// The distance between an editor's folder and the working directory.
///
/// A folder that contains the working directory ranks before one inside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    Inside(usize),
    Outside(usize),
}

impl SourceCollector<'_> {
    pub(super) fn read_editors(&mut self) {
        let Some(wanted) = self.run_options.ide else { return };
        let folder = self.paths.claude.dir.join("ide");
        let paths = match wanted.lock_files(&folder) {
            Ok(paths) => paths,
            Err(error) => return self.add_problem(ConfigProblem::unreadable_lock_file(&error)),
        };
        let (mut found, mut passed) = (Vec::new(), Vec::new());
        for path in paths {
            match find_editor(&path, &self.paths.cwd) {
                Ok(Some(editor)) => found.push(editor),
                Ok(None) => {}
                Err(LockError::Passed(why)) => {
                    passed.push(EntryHint { text: why, origin: file_origin(&path) })
                }
                Err(LockError::Refused(why)) => self.add_problem(ConfigProblem::lock_file(why, &path)),
                Err(LockError::Unreadable(error)) => {
                    self.add_problem(ConfigProblem::unreadable_lock_file(&error))
                }
            }
        }
        if found.is_empty() && wanted == EditorChoice::Nearest {
            return self.add_problem(ConfigProblem::no_editor(&folder, &passed));
        }
        // Of declarations with one name the last wins, so the nearest and newest editor goes last.
        found.sort_by_key(|editor| (std::cmp::Reverse(editor.nearness), editor.modified));
        let last = found.len().saturating_sub(1);
        let hints = |at: usize| if at == last { passed.clone() } else { Vec::new() };
        let declared = found.into_iter().enumerate().map(|(at, editor)| editor.into_declaration(hints(at)));
        self.declarations.extend(declared);
    }
}

impl EditorChoice {
    fn lock_files(self, folder: &Path) -> Result<Vec<PathBuf>, FileReadError> {
        match self {
            Self::Nearest => file::list_dir(folder, ".lock", LOCK_FILES),
            Self::Port(port) => Ok(vec![folder.join(format!("{port}.lock"))]),
        }
    }
}

/// Finds the editor behind a lock file, if it runs and its folder contains or lies in the working directory.
fn find_editor(path: &Path, cwd: &Path) -> Result<Option<FoundEditor>, LockError> {
    let Some((lock, modified)) = lock::read_lock_file(path)? else { return Ok(None) };
    if !lock.elsewhere && !is_running(lock.pid) {
        return Err(LockError::Passed(format!("{} (process {}) is gone", lock.name, lock.pid)));
    }
    match lock.folders.iter().filter_map(|folder| measure_nearness(folder, cwd)).min() {
        Some(nearness) => Ok(Some(FoundEditor { path: path.to_owned(), lock, modified, nearness })),
        None => Err(LockError::Passed(format!("{} has other folders open", lock.name))),
    }
}

/// The number of path components between the two, if one contains the other.
fn measure_nearness(folder: &Path, cwd: &Path) -> Option<Nearness> {
    // Editors write folders as they were opened, with symbolic links; the working directory is canonical.
    let folder = folder.canonicalize().ok().filter(|_| folder.is_absolute())?;
    let steps =
        |longer: &Path, shorter: &Path| longer.strip_prefix(shorter).ok().map(|rest| rest.iter().count());
    let inside = steps(cwd, &folder).map(Nearness::Inside);
    inside.or_else(|| steps(&folder, cwd).map(Nearness::Outside))
}

fn file_origin(path: &Path) -> ConfigOrigin {
    ConfigOrigin::for_source(Source::from_path(path))
}

impl FoundEditor {
    fn into_declaration(self, hints: Vec<EntryHint>) -> ServerDeclaration {
        let EditorLock { port, name, token, transport, .. } = self.lock;
        let origin = file_origin(&self.path);
        // The fields of a lock file are checked to contain no `${`, so none of them expands to our variables.
        let literal = |text: String| Some(Template { text, origin: origin.clone() });
        let (kind, url) = match transport {
            EditorTransport::Sse => (TransportKind::SseIde, format!("http://127.0.0.1:{port}/sse")),
            EditorTransport::Ws => (TransportKind::WsIde, format!("ws://127.0.0.1:{port}")),
        };
        let raw = RawServer {
            kind: Some(kind),
            url: literal(url),
            ide_name: literal(name),
            auth_token: literal(token.expose().clone()),
            hints,
            ..RawServer::default()
        };
        let name = ServerName::new(NAME);
        ServerDeclaration {
            name,
            scope: Scope::Dynamic,
            provenance: Provenance::Own,
            origin,
            raw: Ok(raw),
            variables: Vec::new(),
        }
    }
}
