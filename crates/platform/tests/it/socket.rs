//! The users at both ends of a Unix socket.

use crate::support::is_root;
use mcparley_platform::socket::is_own_peer;
use rustix::process::Uid;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};

// U5
#[test]
fn socket_on_which_another_user_listens_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let own = UnixListener::bind(folder.path().join("own")).unwrap();
    assert!(is_own_peer(&UnixStream::connect(folder.path().join("own")).unwrap()));
    drop(own);
    if !is_root() {
        return;
    }
    let path = folder.path().join("foreign");
    let foreign = path.clone();
    // The system calls of this thread only are those of another user.
    let listening = std::thread::spawn(move || {
        let nobody = Uid::from_raw(65534);
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        UnixListener::bind(foreign).unwrap()
    });
    let _listener = listening.join().unwrap();
    assert!(!is_own_peer(&UnixStream::connect(path).unwrap()));
}
