//! Ends the servers: on purpose, or after five minutes at the latest.

use std::io;
use std::thread;
use std::time::Duration;

/// The maximum lifetime: longer than any test, short enough that processes of killed tests do not pile up.
pub(crate) const LIFE: Duration = Duration::from_secs(300);

/// The exit code after [`LIFE`]: `EX_TEMPFAIL` of `sysexits.h`.
const FORGOTTEN: i32 = 75;

/// Ends this process after [`LIFE`], even if it is busy.
pub(crate) fn limit_lifetime() -> io::Result<()> {
    let watch = || {
        thread::sleep(LIFE);
        exit_process(FORGOTTEN)
    };
    thread::Builder::new().name("life".to_owned()).spawn(watch).map(drop)
}

/// Sleeps for [`LIFE`].
pub(crate) fn sleep_for_lifetime() {
    thread::sleep(LIFE);
}

/// Exits this process at once, with all its threads.
#[expect(clippy::exit, reason = "a server that dies in the middle of its work is the point")]
pub(crate) fn exit_process(code: i32) -> ! {
    std::process::exit(code)
}
