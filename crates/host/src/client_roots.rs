//! Roots of a host: the folders that its servers are told to work in.

use std::path::{Path, PathBuf};

use mcparley_pool::roots::{Root, Roots, exclude_wide_roots};

use crate::host::Host;

impl Host {
    /// The folders that servers are offered as roots, where no entry says otherwise.
    #[must_use]
    pub fn roots(&self) -> Vec<PathBuf> {
        self.offered_roots().current_roots().iter().filter_map(Root::folder).collect()
    }

    /// Replaces the roots by these absolute folders: instead of the project's folder and
    /// [`mcparley_config::Paths::add_dirs`]. Servers whose entries have a `roots` field are not affected,
    /// nor are user-wide servers whose arguments name a folder.
    pub fn set_roots<P: AsRef<Path>>(&self, folders: impl IntoIterator<Item = P>) {
        let roots = folders.into_iter().filter_map(|folder| Root::from_folder(folder.as_ref()));
        self.offered_roots().set_roots(roots);
    }

    /// Replaces the roots by those of the client that this host works for, which knows best where it works.
    /// The roots `/` and the home directory are ignored.
    pub fn set_client_roots(&self, roots: impl IntoIterator<Item = Root>) {
        let context = self.connect_context();
        context.services.roots.set_roots(exclude_wide_roots(roots, &context.dialer.paths.home));
    }

    fn offered_roots(&self) -> Roots {
        self.connect_context().services.roots
    }
}
