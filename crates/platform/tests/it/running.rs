//! Checks whether a process of another program is alive.

use mcparley_platform::process::is_running;
use std::process::Command;

// T6
#[test]
fn process_is_running_until_it_has_ended() {
    assert!(is_running(std::process::id()));
    // Process 1 always exists, and may belong to another user.
    assert!(is_running(1));
    let mut child = Command::new("/bin/true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    assert!(!is_running(pid));
    for nobody in [0, u32::MAX] {
        assert!(!is_running(nobody), "{nobody}");
    }
}
