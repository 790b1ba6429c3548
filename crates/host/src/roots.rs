//! Roots: the folders that servers are told to work in (X6).
//!
//! Some servers take roots as advice, others replace the folders they were given by them. So a server is told of a
//! folder only where that is meant: [`Roots`] is what all servers are offered, and [`ServerRoots`] what one of them gets
//! of it.
//!
//! | what | where |
//! |---|---|
//! | the project's folder, and which servers are kept from it | `project` |
//! | that calls wait until a server has read its roots | `gate` |

mod gate;
mod project;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcparley_model::config::{RootsPolicy, ServerConfig};
use mcparley_model::limits::ROOTS_TIME;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::host::Host;
use crate::paths::Paths;

pub(crate) use gate::RootsGate;
pub(crate) use project::{named_folders, withhold};

/// One place that servers are told to work in, as the protocol has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Its address, mostly `file://…`.
    pub uri: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Root {
    /// The root of a folder; nothing for a path that is not absolute.
    #[must_use]
    pub fn of_folder(folder: &Path) -> Option<Self> {
        let uri = url::Url::from_file_path(folder).ok()?;
        Some(Self { uri: uri.into(), name: None })
    }

    /// The folder, where it is one of this machine.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        url::Url::parse(&self.uri).ok().filter(|uri| uri.scheme() == "file")?.to_file_path().ok()
    }
}

/// The roots that every server is offered, as they change. All clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Roots(Arc<watch::Sender<Offer>>);

/// What is offered now.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    /// Counts the changes.
    version: u64,
    /// Absent while whoever knows the roots has not told them yet.
    roots: Option<Vec<Root>>,
}

impl Roots {
    /// The project's folder, if the user stands in one, and the added ones; never `/` or the home directory.
    pub(crate) fn of(paths: &Paths) -> Self {
        let folders = project::folder(paths).into_iter().chain(paths.add_dirs.iter().cloned());
        let roots = folders.filter(|folder| !project::is_too_wide(folder, &paths.home));
        Self::offering(Some(without_twins(roots.filter_map(|folder| Root::of_folder(&folder)))))
    }

    fn offering(roots: Option<Vec<Root>>) -> Self {
        Self(Arc::new(watch::Sender::new(Offer { version: 0, roots })))
    }

    /// Forgets the roots: somebody else knows them, and will tell.
    pub(crate) fn unknown() -> Self {
        Self::offering(None)
    }

    /// From now on it is these.
    fn set(&self, roots: impl Iterator<Item = Root>) {
        let roots = Some(without_twins(roots));
        self.0.send_if_modified(|offer| {
            let is_new = offer.roots != roots;
            if is_new {
                *offer = Offer { version: offer.version + 1, roots };
            }
            is_new
        });
    }

    fn known(&self) -> Vec<Root> {
        self.0.borrow().roots.clone().unwrap_or_default()
    }
}

/// The roots that one server is told.
#[derive(Clone, Debug)]
pub(crate) struct ServerRoots {
    offered: Roots,
    /// What its entry says instead.
    fixed: Option<Vec<Root>>,
}

impl ServerRoots {
    pub(crate) fn of(config: &ServerConfig, offered: &Roots, paths: &Paths) -> Self {
        let fixed = match &config.roots {
            RootsPolicy::Offered => None,
            RootsPolicy::Withheld => Some(Vec::new()),
            RootsPolicy::Folders(folders) => {
                let absolute = folders.iter().map(|folder| paths.project.join(folder));
                Some(without_twins(absolute.filter_map(|folder| Root::of_folder(&folder))))
            }
        };
        Self { offered: offered.clone(), fixed }
    }

    /// The roots as `roots/list` answers, and the version they are of. Waits for roots that are not known yet, but not
    /// for long: a server that is told of none asks again when it hears that there are some.
    pub(crate) async fn to_result(&self) -> (u64, Value) {
        let (version, roots) = match &self.fixed {
            Some(fixed) => (0, fixed.clone()),
            None => {
                let mut offer = self.offered.0.subscribe();
                let known = offer.wait_for(|offer| offer.roots.is_some());
                let _late = tokio::time::timeout(ROOTS_TIME, known).await.is_err();
                let offer = self.offered.0.borrow();
                (offer.version, offer.roots.clone().unwrap_or_default())
            }
        };
        (version, json!({ "roots": roots }))
    }

    /// The roots as far as they are known.
    pub(crate) fn known(&self) -> Vec<Root> {
        self.fixed.clone().unwrap_or_else(|| self.offered.known())
    }

    /// The version of what is offered; it never changes for a server whose entry says what it gets.
    pub(crate) fn version(&self) -> u64 {
        match &self.fixed {
            Some(_) => 0,
            None => self.offered.0.borrow().version,
        }
    }

    /// Waits until the server is to be told of other roots than those of `version`.
    pub(crate) async fn changed_from(&self, version: u64) -> u64 {
        let mut offer = self.offered.0.subscribe();
        let changed = match &self.fixed {
            Some(_) => None,
            None => offer.wait_for(|offer| offer.version != version).await.ok().map(|offer| offer.version),
        };
        match changed {
            Some(version) => version,
            // They are what they are, or whoever could change them is gone.
            None => std::future::pending().await,
        }
    }
}

fn without_twins(roots: impl Iterator<Item = Root>) -> Vec<Root> {
    let mut once: Vec<Root> = Vec::new();
    for root in roots {
        if !once.iter().any(|known| known.uri == root.uri) {
            once.push(root);
        }
    }
    once
}

impl Host {
    /// The folders that servers are told to work in, where no entry says otherwise.
    #[must_use]
    pub fn roots(&self) -> Vec<PathBuf> {
        self.offered_roots().known().iter().filter_map(Root::folder).collect()
    }

    /// Tells servers to work in these folders, absolute ones, from now on: instead of the project's folder and what
    /// [`Paths::add_dirs`] named. Servers whose entries say something about `roots` do not hear of it, nor do user-wide
    /// ones whose arguments name a folder.
    pub fn set_roots<P: AsRef<Path>>(&self, folders: impl IntoIterator<Item = P>) {
        let roots = folders.into_iter().filter_map(|folder| Root::of_folder(folder.as_ref()));
        self.offered_roots().set(roots);
    }

    /// The same with the roots of a client that this host works for, which know best where it works: all but `/` and the
    /// home directory.
    pub fn set_client_roots(&self, roots: impl IntoIterator<Item = Root>) {
        let surroundings = self.surroundings();
        let home = &surroundings.paths.home;
        let is_narrow = |root: &Root| !root.folder().is_some_and(|it| project::is_too_wide(&it, home));
        surroundings.roots().set(roots.into_iter().filter(is_narrow));
    }

    fn offered_roots(&self) -> Roots {
        self.surroundings().roots().clone()
    }
}

#[cfg(test)]
mod tests;
