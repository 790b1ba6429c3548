//! Watches folders for changed entries (inotify).
//!
//! Files that are only opened or read cause no event. Otherwise a watched folder such as `/etc`, in which every new
//! process opens files, would wake each watching program thousands of times a minute.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

/// The size of the buffer for events. One event needs at most 272 bytes.
const BUFFER_BYTES: usize = 4096;

/// Stack size of the thread, which also runs the handler.
const STACK: usize = 256 * 1024;

/// A watch on some folders, which ends when it is dropped.
#[derive(Debug)]
pub struct FolderWatch {
    shared: Arc<WatchShared>,
    /// The end of a pipe. Closing it ends the thread.
    _stop: OwnedFd,
}

#[derive(Debug)]
struct WatchShared {
    inotify: OwnedFd,
    /// The watched folders, by the number of their watch.
    folders: Mutex<HashMap<i32, PathBuf>>,
}

impl FolderWatch {
    /// Starts a watch without folders. The handler gets the path of a changed entry, or of a folder that has itself
    /// changed; `None` if events were lost. It runs on a thread of the watch.
    ///
    /// # Errors
    /// When the system has no watch, pipe or thread left.
    pub fn start(handler: impl Fn(Option<&Path>) + Send + 'static) -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let (stopped, stop) = pipe_with(PipeFlags::CLOEXEC)?;
        let shared = Arc::new(WatchShared { inotify, folders: Mutex::default() });
        let reading = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("folder watch".to_owned()).stack_size(STACK);
        thread.spawn(move || reading.handle_events(&stopped, &handler))?;
        Ok(Self { shared, _stop: stop })
    }

    /// Watches a folder, without those in it.
    ///
    /// # Errors
    /// When there is no such folder, or the system has no watch left.
    pub fn watch(&self, folder: &Path) -> io::Result<()> {
        let changes = WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MODIFY
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        // Locked before the first event can arrive.
        let mut folders = self.shared.lock_folders();
        let number = inotify::add_watch(&self.shared.inotify, folder, changes)?;
        folders.insert(number, folder.to_owned());
        Ok(())
    }

    /// Watches a folder no longer.
    pub fn unwatch(&self, folder: &Path) {
        let mut folders = self.shared.lock_folders();
        let removed = folders.extract_if(|_, watched| watched == folder);
        for (number, _) in removed {
            // A folder that was removed is no longer watched anyway.
            let _gone = inotify::remove_watch(&self.shared.inotify, number);
        }
    }
}

impl WatchShared {
    /// Hands events to the handler until the pipe is closed.
    fn handle_events(&self, stopped: &OwnedFd, handler: &dyn Fn(Option<&Path>)) {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => handler(None),
                Ok(event) if event.events().contains(ReadFlags::IGNORED) => {
                    self.lock_folders().remove(&event.wd());
                }
                Ok(event) => {
                    let folder = self.lock_folders().get(&event.wd()).cloned();
                    let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                    match (folder, name) {
                        (Some(folder), Some(name)) => handler(Some(&folder.join(name))),
                        (Some(folder), None) => handler(Some(&folder)),
                        // Not watched any more.
                        (None, _) => {}
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if self.wait_for_event(stopped) => {}
                Err(_) => return,
            }
        }
    }

    /// Waits for the next event; false if the watch has ended.
    fn wait_for_event(&self, stopped: &OwnedFd) -> bool {
        let mut sources =
            [PollFd::new(&self.inotify, PollFlags::IN), PollFd::new(stopped, PollFlags::empty())];
        match poll(&mut sources, None) {
            Ok(_) | Err(Errno::INTR) => sources.last().is_some_and(|stop| stop.revents().is_empty()),
            Err(_) => false,
        }
    }

    fn lock_folders(&self) -> MutexGuard<'_, HashMap<i32, PathBuf>> {
        // Every change is a single step, so a panic leaves the table consistent.
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    //! The events of a folder.
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    // C13
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the plain operations of other programs are what is watched"
    )]
    fn changed_entries_are_reported_and_files_that_are_only_read_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "old").unwrap();
        let (sender, events) = mpsc::channel();
        let watch = FolderWatch::start(move |path| sender.send(path.map(Path::to_owned)).unwrap_or_default());
        let watch = watch.unwrap();
        watch.watch(folder.path()).unwrap();
        for _ in 0..3 {
            assert_eq!(std::fs::read(&file).unwrap(), b"old");
        }
        let other = folder.path().join("other");
        std::fs::write(&other, "new").unwrap();
        // The first event: nothing was reported before.
        assert_eq!(events.recv_timeout(LONG).unwrap(), Some(other));
        watch.unwatch(folder.path());
        drop(watch);
        // The thread ends and drops its handler.
        while events.recv_timeout(LONG).is_ok() {}
        assert_eq!(events.try_recv(), Err(mpsc::TryRecvError::Disconnected));
    }

    // C13
    #[test]
    fn missing_folder_is_an_error() {
        let watch = FolderWatch::start(|_| {}).unwrap();
        assert!(watch.watch(Path::new("/nowhere/at/all")).is_err());
    }
}
