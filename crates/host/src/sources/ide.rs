//! Editors: servers that are found through the lock files they write, and only when they are wanted (T6, H32).
//!
//! A lock file says where an editor listens and holds the token that lets us in. One that somebody else can have
//! written or read is not believed. Every editor that fits becomes a declaration of one name; the plan shows which
//! of them wins.

mod lock;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mcparley_model::approval::Provenance;
use mcparley_model::config::{Hint, Kind, RawServer};
use mcparley_model::expand::Template;
use mcparley_model::limits::LOCK_FILES;
use mcparley_model::name::ServerName;
use mcparley_model::plan::Declaration;
use mcparley_model::scope::{Origin, Scope, Source};
use mcparley_platform::file::{self, ReadError};
use mcparley_platform::process::is_running;

use super::Collector;
use super::file::Problem;
use lock::{Lock, LockError, Spoken};

/// What the server is called, whichever editor it is.
const NAME: &str = "ide";

/// Which editor to connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Editor {
    /// The one that has the working directory open; of several the nearest, then the newest (`--ide`).
    Nearest,
    /// The one in whose terminal we run, by its port.
    Port(u16),
}

/// An editor that listens, and what its lock file says.
struct Found {
    path: PathBuf,
    lock: Lock,
    modified: SystemTime,
    nearness: Nearness,
}

/// How near an editor's folder is to the working directory: a folder that contains it counts before one inside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    Inside(usize),
    Outside(usize),
}

impl Collector<'_> {
    pub(super) fn editors(&mut self) {
        let Some(wanted) = self.run_options.ide else { return };
        let folder = self.paths.claude.dir.join("ide");
        let paths = match wanted.lock_files(&folder) {
            Ok(paths) => paths,
            Err(error) => return self.tell(Problem::no_lock_file(&error)),
        };
        let (mut found, mut passed) = (Vec::new(), Vec::new());
        for path in paths {
            match look(&path, &self.paths.cwd) {
                Ok(Some(editor)) => found.push(editor),
                Ok(None) => {}
                Err(LockError::Passed(why)) => passed.push(Hint { text: why, origin: origin(&path) }),
                Err(LockError::Refused(why)) => self.tell(Problem::lock_file(why, &path)),
                Err(LockError::Unreadable(error)) => self.tell(Problem::no_lock_file(&error)),
            }
        }
        if found.is_empty() && wanted == Editor::Nearest {
            return self.tell(Problem::no_editor(&folder, &passed));
        }
        // The last of a name wins.
        found.sort_by_key(|editor| (std::cmp::Reverse(editor.nearness), editor.modified));
        let last = found.len().saturating_sub(1);
        let hints = |at: usize| if at == last { passed.clone() } else { Vec::new() };
        let declared = found.into_iter().enumerate().map(|(at, editor)| editor.declaration(hints(at)));
        self.declarations.extend(declared);
    }
}

impl Editor {
    fn lock_files(self, folder: &Path) -> Result<Vec<PathBuf>, ReadError> {
        match self {
            Self::Nearest => file::list_dir(folder, ".lock", LOCK_FILES),
            Self::Port(port) => Ok(vec![folder.join(format!("{port}.lock"))]),
        }
    }
}

/// The editor behind a lock file, if it is there and has something to do with the working directory.
fn look(path: &Path, cwd: &Path) -> Result<Option<Found>, LockError> {
    let Some((lock, modified)) = lock::read(path)? else { return Ok(None) };
    if !lock.elsewhere && !is_running(lock.pid) {
        return Err(LockError::Passed(format!("{} (process {}) is gone", lock.name, lock.pid)));
    }
    match lock.folders.iter().filter_map(|folder| nearness(folder, cwd)).min() {
        Some(nearness) => Ok(Some(Found { path: path.to_owned(), lock, modified, nearness })),
        None => Err(LockError::Passed(format!("{} has other folders open", lock.name))),
    }
}

/// How far apart the two are, if one contains the other.
fn nearness(folder: &Path, cwd: &Path) -> Option<Nearness> {
    // Editors write folders as people opened them, with links; the working directory comes without.
    let folder = folder.canonicalize().ok().filter(|_| folder.is_absolute())?;
    let steps =
        |longer: &Path, shorter: &Path| longer.strip_prefix(shorter).ok().map(|rest| rest.iter().count());
    let inside = steps(cwd, &folder).map(Nearness::Inside);
    inside.or_else(|| steps(&folder, cwd).map(Nearness::Outside))
}

fn origin(path: &Path) -> Origin {
    Origin::whole(Source::file(path))
}

impl Found {
    fn declaration(self, hints: Vec<Hint>) -> Declaration {
        let Lock { port, name, token, spoken, .. } = self.lock;
        let origin = origin(&self.path);
        // What a lock file says is checked to hold no `${`, so nothing of it reads our variables.
        let literal = |text: String| Some(Template { text, origin: origin.clone() });
        let (kind, url) = match spoken {
            Spoken::Sse => (Kind::SseIde, format!("http://127.0.0.1:{port}/sse")),
            Spoken::Ws => (Kind::WsIde, format!("ws://127.0.0.1:{port}")),
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
        Declaration {
            name,
            scope: Scope::Dynamic,
            provenance: Provenance::Own,
            origin,
            raw: Ok(raw),
            variables: Vec::new(),
        }
    }
}
