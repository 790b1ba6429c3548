//! Makes the descriptors, and has a guardian posted who starts the program.

use super::guarded::{Guarded, Lead};
use super::house::{self, Ends};
use super::image::Image;
use super::link::{Heard, Report};
use super::{Launch, SpawnError};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// How long a program may take to be loaded, before it runs.
///
/// Milliseconds are usual; seconds mean that its file system hangs.
pub const SPAWN_LIMIT: Duration = Duration::from_secs(10);

/// How much a server can write before somebody must read: four times the usual, because a large message
/// otherwise wakes both sides for every 64 KiB of it. Not more: a user has 64 MiB for all pipes together.
const OUTPUT_PIPE: usize = 256 * 1024;

/// Starts a program under a guardian of its own; returns when it has been executed.
///
/// Blocks for the few milliseconds that takes. The host may have any number of threads. Whatever the
/// program starts dies with it, and it dies with this process or with the returned handle.
pub fn spawn(launch: &Launch) -> Result<Guarded, SpawnError> {
    begin(launch)?.finish()
}

/// Begins what [`spawn`] does, and leaves the waiting to the caller.
pub fn begin(launch: &Launch) -> Result<Starting<'_>, SpawnError> {
    let image = Image::of(launch)?;
    let system = |errno| SpawnError::system(launch, errno);
    let deadline = Instant::now() + SPAWN_LIMIT;
    let (ours, theirs) = Wiring::new().map_err(system)?;
    let house = house::post_guardian(&image, &theirs, deadline).map_err(system)?;
    let Wiring { link, stdin, stdout, stderr } = ours;
    Ok(Starting { launch, lead: Lead::new(link, house), deadline, stdin, stdout, stderr })
}

/// A program that is being loaded. Dropping it ends it.
#[derive(Debug)]
pub struct Starting<'l> {
    launch: &'l Launch,
    lead: Lead,
    deadline: Instant,
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

impl Starting<'_> {
    /// Becomes readable when it is known whether the program runs; never read from it.
    pub fn status_fd(&self) -> BorrowedFd<'_> {
        self.lead.link()
    }

    /// When it has taken too long.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The running program; blocks until that is known, but not beyond the deadline.
    pub fn finish(self) -> Result<Guarded, SpawnError> {
        let Self { launch, lead, deadline, stdin, stdout, stderr } = self;
        match lead.hear(deadline) {
            Heard::Word(Report::Started(pid)) => Ok(Guarded::new(pid, lead, stdin, stdout, stderr)),
            Heard::Word(Report::Failed(stage, errno)) => Err(SpawnError::classify(launch, stage, errno)),
            Heard::Silence => {
                Err(SpawnError::TimedOut { program: launch.program.clone(), limit: SPAWN_LIMIT })
            }
            // The guardian was killed before it could say anything.
            Heard::End | Heard::Word(Report::Ended(_)) => Err(SpawnError::system(launch, Errno::CHILD)),
        }
    }
}

/// The host's ends of all that connects it with a server and its guardian.
struct Wiring {
    link: OwnedFd,
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

impl Wiring {
    fn new() -> Result<(Self, Ends), Errno> {
        let (link, their_link) = socket_pair()?;
        let (their_stdin, stdin) = pipe()?;
        let (stdout, their_stdout) = pipe()?;
        // A system that grants no more gives the usual 64 KiB, which work as well.
        let _granted = rustix::pipe::fcntl_setpipe_size(&stdout, OUTPUT_PIPE);
        let (stderr, their_stderr) = pipe()?;
        let theirs =
            Ends { link: their_link, stdin: their_stdin, stdout: their_stdout, stderr: their_stderr };
        Ok((Self { link, stdin, stdout, stderr }, theirs))
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
}

fn socket_pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    let flags = SocketFlags::CLOEXEC;
    rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}
