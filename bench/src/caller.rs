//! Who makes calls: the client without a library, and ours at each of its doors.
//!
//! Every contender has a server of its own, started before anything is measured, and takes the text out of
//! every result.

mod raw;
mod session;

use std::io;
use std::time::Duration;

use crate::stage::Stage;

/// Makes calls to `echo`.
pub(crate) trait Caller {
    /// Calls `count` times, one after the other; how long each took.
    fn one_by_one(&mut self, size: usize, count: usize) -> io::Result<Vec<Duration>>;

    /// Calls `count` times, `width` at the same time; how long all took.
    fn at_once(&mut self, size: usize, count: usize, width: usize) -> io::Result<Duration>;
}

/// All contenders with their names; the first is what the others are compared with.
pub(crate) fn all(stage: &Stage) -> io::Result<Vec<(&'static str, Box<dyn Caller>)>> {
    Ok(vec![
        ("raw", Box::new(raw::RawCaller::new(stage)?)),
        ("session", Box::new(session::SessionCaller::new(stage)?)),
    ])
}

fn check(length: usize, size: usize) -> io::Result<()> {
    if length == size { Ok(()) } else { Err(io::Error::other(format!("{length} bytes came, not {size}"))) }
}
