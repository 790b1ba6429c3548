//! How the servers end: on purpose, or after five minutes at the latest.

use std::io;
use std::thread;
use std::time::Duration;

/// Longer than any test, short enough that nothing piles up behind a test that was killed.
pub(crate) const LIFE: Duration = Duration::from_secs(300);

/// The exit code of a process that was forgotten; as `sysexits.h` calls a temporary failure.
const FORGOTTEN: i32 = 75;

/// Ends this process after [`LIFE`], whatever it does then.
pub(crate) fn limit() -> io::Result<()> {
    let watch = || {
        thread::sleep(LIFE);
        end(FORGOTTEN)
    };
    thread::Builder::new().name("life".to_owned()).spawn(watch).map(drop)
}

/// Waits until [`LIFE`] is over.
pub(crate) fn wait() {
    thread::sleep(LIFE);
}

/// Ends this process at once, other threads and all.
#[expect(clippy::exit, reason = "a server that dies in the middle of its work is the point")]
pub(crate) fn end(code: i32) -> ! {
    std::process::exit(code)
}
