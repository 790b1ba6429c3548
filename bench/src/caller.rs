//! Who makes calls: the client without a library, and ours at each of its doors.
//!
//! Every contender has a server of its own, started before anything is measured, and takes the text out of
//! every result.

mod door;
mod host;
mod raw;
mod session;

use std::io;
use std::time::Duration;

use crate::stage::Stage;
use door::Through;

/// Makes calls to `echo`.
pub(crate) trait Caller {
    /// Calls `count` times, one after the other; how long each took.
    fn one_by_one(&mut self, size: usize, count: usize) -> io::Result<Vec<Duration>>;

    /// Calls `count` times, `width` at the same time; how long all took.
    fn at_once(&mut self, size: usize, count: usize, width: usize) -> io::Result<Duration>;
}

/// A contender and its name.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) caller: Box<dyn Caller>,
    /// Whether the promises are about this one.
    pub(crate) is_promised: bool,
}

/// All contenders; the first is what the others are compared with.
pub(crate) fn all(stage: &Stage) -> io::Result<Vec<Contender>> {
    let raw = Box::new(raw::RawCaller::new(stage)?);
    let host = Box::new(Through::open(host::HostDoor::open(stage))?);
    let session = Box::new(Through::open(session::SessionDoor::open(stage))?);
    Ok(vec![
        Contender { name: "raw", caller: raw, is_promised: false },
        Contender { name: "host", caller: host, is_promised: true },
        Contender { name: "session", caller: session, is_promised: false },
    ])
}

/// Those that keep every text in a file; the first is what the other is compared with.
pub(crate) fn storing(stage: &Stage) -> io::Result<Vec<Contender>> {
    let raw = Box::new(raw::RawCaller::writing(stage)?);
    let host = Box::new(Through::open(host::StoringDoor::open(stage))?);
    Ok(vec![
        Contender { name: "raw", caller: raw, is_promised: false },
        Contender { name: "host", caller: host, is_promised: true },
    ])
}

fn check(length: usize, size: usize) -> io::Result<()> {
    if length == size { Ok(()) } else { Err(io::Error::other(format!("{length} bytes came, not {size}"))) }
}
