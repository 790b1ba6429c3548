//! Whether a process of others is still there.

use mcparley_platform::process::is_running;
use std::process::Command;

// T6
#[test]
fn a_process_is_there_until_it_has_ended() {
    assert!(is_running(std::process::id()));
    // Whoever runs this test, the first process is somebody's.
    assert!(is_running(1));
    let mut child = Command::new("/bin/true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    assert!(!is_running(pid));
    for nobody in [0, u32::MAX] {
        assert!(!is_running(nobody), "{nobody}");
    }
}
