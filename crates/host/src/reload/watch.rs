//! Notices that a configuration file has become another one, and that somebody asks for a server to be reconnected.
//!
//! The system tells when something happens in the folders; what counts is the content. So a file that was only
//! touched changes nothing, and one that was swapped under its old time and size does (F88). Where the system does
//! not tell, the files are looked at every few seconds.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use mcparley_model::limits::{CONFIG_FILE_BYTES, FILES_LOOKED_AT, FILES_LOOKED_AT_BLINDLY, FILES_QUIET};
use mcparley_platform::file::{self, Ownership, Text};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use sha2::{Digest, Sha256};
use tokio::sync::Notify;

use crate::host::{Host, HostInner};
use crate::reconnect_requests::{SeenRequests, read_requests};

/// Reloads whenever the content of a file is another, and reconnects servers that somebody asks for in the file
/// `reconnects`, for as long as the host lives.
pub(crate) fn follow(
    host: Weak<HostInner>,
    files: &[PathBuf],
    reconnects: Option<PathBuf>,
) -> impl Future<Output = ()> + use<> {
    // Before anything else happens: what changes from now on is noticed.
    let mut known = content(files);
    let mut seen = SeenRequests::default();
    // Requests of the time before this host are none of its business.
    let _old = seen.take_new(reconnects.as_deref().and_then(read_requests));
    let mut eyes = Eyes::open(&with_file(files, reconnects.as_ref()));
    async move {
        loop {
            eyes.something_happened().await;
            let Some(host) = host.upgrade().map(Host::from_inner) else { return };
            let (files, requests) = (host.loaded().files.clone(), reconnects.clone());
            // Folders come and go with what is in them.
            eyes.look_at(&with_file(&files, reconnects.as_ref()));
            let read = move || (content(&files), requests.as_deref().and_then(read_requests));
            let Some((now, requests)) = crate::task::aside(read).await else { continue };
            if now != known {
                host.reload().await;
                known = now;
            }
            // After the reload: whoever changes an entry and then asks for its server means the new one.
            host.reconnect_requested(&seen.take_new(requests)).await;
        }
    }
}

fn with_file(files: &[PathBuf], more: Option<&PathBuf>) -> Vec<PathBuf> {
    files.iter().chain(more).cloned().collect()
}

/// What the files hold, as one number.
fn content(files: &[PathBuf]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for path in files {
        hash.update(path.as_os_str().as_encoded_bytes());
        match file::read(path, CONFIG_FILE_BYTES) {
            Ok(Some(Text { text, owner })) => {
                // Whose it is decides whether it counts, and `chmod` changes nothing else.
                hash.update([1, u8::from(owner == Ownership::Trusted)]);
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(&text);
            }
            Ok(None) => hash.update([0]),
            Err(_) => hash.update([2]),
        }
    }
    hash.finalize().into()
}

/// What tells that something happened.
struct Eyes {
    /// Absent when the system gives none; then the clock alone has to do.
    watcher: Option<RecommendedWatcher>,
    happened: Arc<Notify>,
    /// The last parts of the names that matter.
    names: Arc<Mutex<HashSet<OsString>>>,
    folders: Vec<PathBuf>,
}

impl Eyes {
    fn open(files: &[PathBuf]) -> Self {
        let happened = Arc::new(Notify::new());
        let tell = Arc::clone(&happened);
        let names: Arc<Mutex<HashSet<OsString>>> = Arc::default();
        let known = Arc::clone(&names);
        let told = move |event: notify::Result<notify::Event>| {
            let is_read = matches!(&event, Ok(event) if matches!(event.kind, EventKind::Access(_)));
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            let is_ours = |path: &PathBuf| path.file_name().is_none_or(|name| known.contains(name));
            // Without a path it says that events were lost.
            let concerns_us =
                |event: notify::Event| event.paths.is_empty() || event.paths.iter().any(is_ours);
            if !is_read && event.is_ok_and(concerns_us) {
                tell.notify_one();
            }
        };
        let watcher = notify::recommended_watcher(told).ok();
        let mut eyes = Self { watcher, happened, names, folders: Vec::new() };
        eyes.look_at(files);
        eyes
    }

    /// Looks at the folders of these files; where one is missing, at the nearest above it.
    fn look_at(&mut self, files: &[PathBuf]) {
        // Behind a link it is the target that is written to, in a folder of its own.
        let targets = files.iter().filter_map(|file| file.canonicalize().ok());
        let files: Vec<PathBuf> = files.iter().cloned().chain(targets).collect();
        let parts = files.iter().flat_map(|file| file.iter()).map(OsStr::to_owned);
        *self.names.lock().unwrap_or_else(PoisonError::into_inner) = parts.collect();
        let Some(watcher) = &mut self.watcher else { return };
        let mut wanted: Vec<PathBuf> = files.iter().filter_map(|file| nearest_folder(file)).collect();
        wanted.sort();
        wanted.dedup();
        for gone in self.folders.iter().filter(|folder| !wanted.contains(folder)) {
            // A folder that was removed is watched no more anyway.
            let _gone = watcher.unwatch(gone);
        }
        // Asked for each time: a folder that was removed and made again is another one.
        wanted.retain(|folder| watcher.watch(folder, RecursiveMode::NonRecursive).is_ok());
        self.folders = wanted;
    }

    /// Waits until something may have changed, and then until it has been quiet for a moment.
    async fn something_happened(&self) {
        let pause = match (&self.watcher, self.folders.is_empty()) {
            (Some(_), false) => FILES_LOOKED_AT,
            (None, _) | (Some(_), true) => FILES_LOOKED_AT_BLINDLY,
        };
        if tokio::time::timeout(pause, self.happened.notified()).await.is_err() {
            return;
        }
        let settling =
            async { while tokio::time::timeout(FILES_QUIET, self.happened.notified()).await.is_ok() {} };
        // A file that never comes to rest is read all the same.
        let _restless = tokio::time::timeout(LONGEST, settling).await;
    }
}

/// How long changes may follow each other before they are looked at.
const LONGEST: Duration = Duration::from_secs(1);

fn nearest_folder(file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned)
}
