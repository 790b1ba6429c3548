//! The file watcher: detects changed configuration files, and requests to reconnect servers.
//!
//! The operating system reports activity in the folders; only the content decides. So a file that was only
//! touched causes no reload, and one that was replaced with the same time and size does. Where the operating
//! system reports no activity, the files are polled every few seconds.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use mcparley_model::limits::{FILES_LOOKED_AT, FILES_LOOKED_AT_BLINDLY, FILES_QUIET};
use mcparley_platform::folder_watch::FolderWatch;
use tokio::sync::Notify;

use crate::host::{Host, HostInner};
use mcparley_config::reconnect_requests::read_requests;
use mcparley_config::{FilesFingerprint, LoadedConfig};

/// Reloads when the content of a file has changed, and reconnects servers that the file `reconnects` names,
/// for as long as the host lives.
pub(crate) fn watch_config_files(
    host: Weak<HostInner>,
    loaded: &LoadedConfig,
    reconnects: Option<PathBuf>,
) -> impl Future<Output = ()> + use<> {
    // The fingerprint of the plan in force, so that a change between loading and now is noticed too.
    let mut known = loaded.fingerprint();
    if let Some(host) = host.upgrade().map(Host::from_inner) {
        // Requests from before the start of this host are ignored.
        let _old = host.seen_requests().take_new(reconnects.as_deref().and_then(read_requests));
    }
    let mut watcher = FolderWatcher::open(&loaded.files, reconnects.as_ref());
    async move {
        loop {
            let activity = watcher.wait_for_activity().await;
            let Some(host) = host.upgrade().map(Host::from_inner) else { return };
            let (files, requests) = (host.loaded_config().files.clone(), reconnects.clone());
            // Folders are created and removed, so the watched set is updated each time.
            watcher.watch_folders(&files, reconnects.as_ref());
            let is_read = activity == FileActivity::Config || watcher.update_identities(&files);
            let read = move || {
                let now = is_read.then(|| FilesFingerprint::from_disk(&files));
                (now, requests.as_deref().and_then(read_requests))
            };
            let Some((now, requests)) = mcparley_platform::thread::run_blocking(read).await else { continue };
            if now.is_some_and(|now| now != known) {
                host.reload().await;
                known = host.loaded_config().fingerprint();
            }
            // After the reload: a user who changes an entry and then requests a reconnect means the new
            // entry.
            let new = host.seen_requests().take_new(requests);
            host.reconnect_requested(&new).await;
        }
    }
}

/// The kind of activity that was seen in the watched folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileActivity {
    /// A configuration file may have been written, or it is time to poll.
    Config,
    /// Another path was written, such as the folder of a file that does not exist yet.
    Other,
}

/// The paths whose events count.
#[derive(Debug, Default)]
struct WatchedPaths {
    /// The configuration files, and the targets of those that are symbolic links.
    config: Vec<PathBuf>,
    /// The file of reconnect requests.
    reconnects: Option<PathBuf>,
}

impl WatchedPaths {
    fn is_config_file(&self, path: &Path) -> bool {
        self.config.iter().any(|file| file == path)
    }

    /// Whether the path is a watched file or one of its ancestors.
    fn leads_to_file(&self, path: &Path) -> bool {
        self.config.iter().chain(&self.reconnects).any(|file| file.starts_with(path))
    }
}

/// Device, inode, size and time of change of a file. All differ for a replaced file, and none needs the
/// file to be opened.
type FileIdentity = Option<(u64, u64, u64, i64, i64)>;

fn read_identity(file: &Path) -> FileIdentity {
    let metadata = file.metadata().ok()?;
    Some((metadata.dev(), metadata.ino(), metadata.size(), metadata.ctime(), metadata.ctime_nsec()))
}

/// A watcher of the folders of some files.
struct FolderWatcher {
    /// The watcher of the operating system; without one the files are polled.
    watcher: Option<FolderWatch>,
    happened: Arc<Notify>,
    /// Whether an event named a configuration file since the last look.
    is_config_touched: Arc<AtomicBool>,
    paths: Arc<Mutex<WatchedPaths>>,
    folders: Vec<PathBuf>,
    identities: Vec<FileIdentity>,
}

impl FolderWatcher {
    fn open(files: &[PathBuf], reconnects: Option<&PathBuf>) -> Self {
        let (happened, is_config_touched) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
        let paths: Arc<Mutex<WatchedPaths>> = Arc::default();
        let (waker, touched, watched) =
            (Arc::clone(&happened), Arc::clone(&is_config_touched), Arc::clone(&paths));
        let handle_event = move |path: Option<&Path>| {
            let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            // Without a path, events were lost.
            if path.is_none_or(|path| watched.is_config_file(path)) {
                touched.store(true, Ordering::Release);
                waker.notify_one();
            } else if path.is_some_and(|path| watched.leads_to_file(path)) {
                waker.notify_one();
            }
        };
        let watcher = FolderWatch::start(handle_event).ok();
        let (folders, identities) = (Vec::new(), Vec::new());
        let mut watcher = Self { watcher, happened, is_config_touched, paths, folders, identities };
        watcher.watch_folders(files, reconnects);
        watcher.update_identities(files);
        watcher
    }

    /// Records which files there are, and returns whether one has been created, replaced or removed.
    fn update_identities(&mut self, files: &[PathBuf]) -> bool {
        let identities: Vec<FileIdentity> = files.iter().map(|file| read_identity(file)).collect();
        let is_changed = identities != self.identities;
        self.identities = identities;
        is_changed
    }

    /// Watches the folders of these files; where one is missing, the nearest existing ancestor.
    fn watch_folders(&mut self, files: &[PathBuf], reconnects: Option<&PathBuf>) {
        // Behind a symbolic link the target is written, in a folder of its own.
        let targets = files.iter().filter_map(|file| file.canonicalize().ok());
        let config: Vec<PathBuf> = files.iter().cloned().chain(targets).collect();
        let mut wanted: Vec<PathBuf> =
            config.iter().chain(reconnects).filter_map(|file| nearest_folder(file)).collect();
        *self.paths.lock().unwrap_or_else(PoisonError::into_inner) =
            WatchedPaths { config, reconnects: reconnects.cloned() };
        let Some(watcher) = &self.watcher else { return };
        wanted.sort();
        wanted.dedup();
        for gone in self.folders.iter().filter(|folder| !wanted.contains(folder)) {
            watcher.unwatch(gone);
        }
        // Watched again each time: a folder that was removed and created again is a new one.
        wanted.retain(|folder| watcher.watch(folder).is_ok());
        self.folders = wanted;
    }

    /// Waits for file activity, then debounces: waits until there was none for a moment.
    async fn wait_for_activity(&self) -> FileActivity {
        let pause = match (&self.watcher, self.folders.is_empty()) {
            (Some(_), false) => FILES_LOOKED_AT,
            (None, _) | (Some(_), true) => FILES_LOOKED_AT_BLINDLY,
        };
        if tokio::time::timeout(pause, self.happened.notified()).await.is_err() {
            return FileActivity::Config;
        }
        let settling =
            async { while tokio::time::timeout(FILES_QUIET, self.happened.notified()).await.is_ok() {} };
        // A file that changes all the time is read nevertheless.
        let _restless = tokio::time::timeout(LONGEST, settling).await;
        if self.is_config_touched.swap(false, Ordering::AcqRel) {
            FileActivity::Config
        } else {
            FileActivity::Other
        }
    }
}

/// The longest debounce before changed files are read.
const LONGEST: Duration = Duration::from_secs(1);

fn nearest_folder(file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned)
}
