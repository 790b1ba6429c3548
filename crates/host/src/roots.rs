//! The folders that servers are told to work in (X6): where the user stands, and others besides.
//!
//! Servers ask for them; those of the old era are told when they are others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::host::Host;
use crate::places::Places;

/// The folders, as they change. All clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Roots(Arc<watch::Sender<Vec<PathBuf>>>);

impl Roots {
    pub(crate) fn of(places: &Places) -> Self {
        let folders = std::iter::once(&places.cwd).chain(&places.add_dirs).cloned().collect();
        Self(Arc::new(watch::Sender::new(without_twins(folders))))
    }

    /// From now on it is these.
    fn set(&self, folders: Vec<PathBuf>) {
        let folders = without_twins(folders);
        self.0.send_if_modified(|known| {
            let is_new = *known != folders;
            *known = folders;
            is_new
        });
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Vec<PathBuf>> {
        self.0.subscribe()
    }

    /// As `roots/list` answers.
    pub(crate) fn to_result(&self) -> Value {
        let uri = |folder: &PathBuf| url::Url::from_file_path(folder).ok();
        let roots =
            self.0.borrow().iter().filter_map(uri).map(|uri| json!({ "uri": uri.as_str() })).collect();
        json!({ "roots": Value::Array(roots) })
    }
}

fn without_twins(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut once: Vec<PathBuf> = Vec::with_capacity(folders.len());
    for folder in folders {
        if !once.contains(&folder) {
            once.push(folder);
        }
    }
    once
}

impl Host {
    /// The folders that servers are told to work in.
    #[must_use]
    pub fn roots(&self) -> Vec<PathBuf> {
        self.shared_roots().0.borrow().clone()
    }

    /// Tells servers to work in these folders, absolute ones, from now on: instead of where the user stood when the host
    /// started and what [`Places::add_dirs`] named. It is advice, which servers need not follow.
    pub fn set_roots<P: AsRef<Path>>(&self, folders: impl IntoIterator<Item = P>) {
        self.shared_roots().set(folders.into_iter().map(|folder| folder.as_ref().to_owned()).collect());
    }

    fn shared_roots(&self) -> Roots {
        self.surroundings().roots().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // X6
    #[test]
    fn roots_are_where_one_stands_and_what_is_added_each_once() {
        let mut places = Places::of(Path::new("/home/a"), Path::new("/home/a/some work"));
        places.add_dirs = ["/home/a/some work", "/srv/data", "not/absolute"].map(PathBuf::from).to_vec();
        let roots = Roots::of(&places);
        let expected =
            json!({ "roots": [{ "uri": "file:///home/a/some%20work" }, { "uri": "file:///srv/data" }] });
        assert_eq!(roots.to_result(), expected);
    }

    // X6
    #[test]
    fn only_other_folders_are_news() {
        let roots = Roots::of(&Places::of(Path::new("/home/a"), Path::new("/home/a")));
        let mut news = roots.subscribe();
        news.mark_unchanged();
        roots.set(vec!["/home/a".into()]);
        assert!(!news.has_changed().unwrap());
        roots.set(vec!["/home/b".into()]);
        assert!(news.has_changed().unwrap());
    }
}
