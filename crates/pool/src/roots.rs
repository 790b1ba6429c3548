//! Roots: the folders that servers are asked to work in.
//!
//! Some servers take roots as advice; others use them in place of the folders in their arguments. So a server
//! gets a folder only where that is intended: [`Roots`] are offered to all servers, [`ServerRoots`] are those
//! of one server.
//!
//! | topic | module |
//! |---|---|
//! | calls wait until the server has read its roots | `gate` |

mod gate;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcparley_model::config::{RootsPolicy, ServerConfig};
use mcparley_model::limits::ROOTS_TIME;
use mcparley_platform::random::random_id;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::hash::hash_texts;

use mcparley_config::{Paths, is_too_wide, project_folder};

pub use gate::RootsGate;

/// One root, in the form of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// The URI, mostly `file://…`.
    pub uri: String,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Root {
    /// The root for a folder; `None` if the path is not absolute.
    #[must_use]
    pub fn from_folder(folder: &Path) -> Option<Self> {
        let uri = url::Url::from_file_path(folder).ok()?;
        Some(Self { uri: uri.into(), name: None })
    }

    /// The folder, if the URI is a path on this machine.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        url::Url::parse(&self.uri).ok().filter(|uri| uri.scheme() == "file")?.to_file_path().ok()
    }
}

/// The roots offered to every server, as they change. Clones share them.
#[derive(Clone, Debug)]
pub struct Roots {
    offer: Arc<watch::Sender<RootsOffer>>,
    /// The hash of the initial roots. It stays the same, so that a change of roots does not change pool keys.
    identity: [u8; 32],
}

/// The current roots.
#[derive(Clone, Debug)]
pub struct RootsOffer {
    /// The version, counted up with each change.
    version: u64,
    /// Absent until the client has sent its roots.
    roots: Option<Vec<Root>>,
}

impl Roots {
    /// The project folder, if there is one, and the added folders; never `/` or the home directory.
    pub fn from_paths(paths: &Paths) -> Self {
        let folders = project_folder(paths).into_iter().chain(paths.add_dirs.iter().cloned());
        let roots = folders.filter(|folder| !is_too_wide(folder, &paths.home));
        Self::with_initial(Some(remove_duplicates(roots.filter_map(|folder| Root::from_folder(&folder)))))
    }

    /// Roots with this initial value.
    fn with_initial(roots: Option<Vec<Root>>) -> Self {
        let identity = match &roots {
            Some(roots) => hash_texts(roots.iter().map(|root| root.uri.as_ref())),
            // Roots that a client sends later belong to that client alone.
            None => hash_texts([random_id().as_ref()]),
        };
        Self { offer: Arc::new(watch::Sender::new(RootsOffer { version: 0, roots })), identity }
    }

    /// Roots that are not known yet: a client will send them.
    pub fn awaiting_client() -> Self {
        Self::with_initial(None)
    }

    /// Replaces the roots.
    pub fn set_roots(&self, roots: impl Iterator<Item = Root>) {
        let roots = Some(remove_duplicates(roots));
        self.offer.send_if_modified(|offer| {
            let is_new = offer.roots != roots;
            if is_new {
                *offer = RootsOffer { version: offer.version + 1, roots };
            }
            is_new
        });
    }

    /// The current roots; empty if they are not known yet.
    pub fn current_roots(&self) -> Vec<Root> {
        self.offer.borrow().roots.clone().unwrap_or_default()
    }
}

/// The roots of one server.
#[derive(Clone, Debug)]
pub struct ServerRoots {
    offered: Roots,
    /// The roots set in its entry, in place of the offered ones.
    fixed: Option<Vec<Root>>,
    /// The home directory, which is too wide for a root.
    home: PathBuf,
}

impl ServerRoots {
    /// The roots for the server of this entry.
    pub fn from_config(config: &ServerConfig, offered: &Roots, paths: &Paths) -> Self {
        let fixed = match &config.roots {
            RootsPolicy::Offered => None,
            RootsPolicy::Withheld => Some(Vec::new()),
            RootsPolicy::Folders(folders) => {
                let absolute = folders.iter().map(|folder| paths.project.join(folder));
                Some(remove_duplicates(absolute.filter_map(|folder| Root::from_folder(&folder))))
            }
        };
        Self { offered: offered.clone(), fixed, home: paths.home.clone() }
    }

    /// The result of `roots/list` and its version. Waits briefly for roots that are not known yet; a server
    /// that gets none requests them again after the change notification.
    pub async fn to_result(&self) -> (u64, Value) {
        let (version, roots) = match &self.fixed {
            Some(fixed) => (0, fixed.clone()),
            None => {
                let mut offer = self.offered.offer.subscribe();
                let known = offer.wait_for(|offer| offer.roots.is_some());
                let _late = tokio::time::timeout(ROOTS_TIME, known).await.is_err();
                let offer = self.offered.offer.borrow();
                (offer.version, offer.roots.clone().unwrap_or_default())
            }
        };
        (version, json!({ "roots": roots }))
    }

    /// The result of `roots/list` on behalf of a call, with the roots of its client.
    pub(crate) async fn to_result_for(&self, of_call: Option<&[Root]>) -> Value {
        match (&self.fixed, of_call) {
            (None, Some(roots)) => {
                let roots = remove_duplicates(exclude_wide_roots(roots.iter().cloned(), &self.home));
                json!({ "roots": roots })
            }
            (Some(_), _) | (None, None) => self.to_result().await.1,
        }
    }

    /// The current roots; empty if they are not known yet.
    pub fn current_roots(&self) -> Vec<Root> {
        self.fixed.clone().unwrap_or_else(|| self.offered.current_roots())
    }

    /// The hash of the roots, for the pool key.
    pub(crate) fn identity(&self) -> [u8; 32] {
        match &self.fixed {
            Some(roots) => hash_texts(roots.iter().map(|root| root.uri.as_ref())),
            None => self.offered.identity,
        }
    }

    /// The version of the roots; constant if the entry sets them.
    pub fn version(&self) -> u64 {
        match &self.fixed {
            Some(_) => 0,
            None => self.offered.offer.borrow().version,
        }
    }

    /// Waits until the roots have another version than this one; returns it.
    pub async fn wait_for_change(&self, version: u64) -> u64 {
        let mut offer = self.offered.offer.subscribe();
        let changed = match &self.fixed {
            Some(_) => None,
            None => offer.wait_for(|offer| offer.version != version).await.ok().map(|offer| offer.version),
        };
        match changed {
            Some(version) => version,
            // The roots are fixed, or can no longer change.
            None => std::future::pending().await,
        }
    }
}

/// Leaves out `/` and the home directory.
pub fn exclude_wide_roots(roots: impl IntoIterator<Item = Root>, home: &Path) -> impl Iterator<Item = Root> {
    let is_narrow = |root: &Root| !root.folder().is_some_and(|folder| is_too_wide(&folder, home));
    roots.into_iter().filter(is_narrow)
}

fn remove_duplicates(roots: impl Iterator<Item = Root>) -> Vec<Root> {
    let mut once: Vec<Root> = Vec::new();
    for root in roots {
        if !once.iter().any(|known| known.uri == root.uri) {
            once.push(root);
        }
    }
    once
}

#[cfg(test)]
mod tests;
