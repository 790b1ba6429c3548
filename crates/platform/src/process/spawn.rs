//! Spawns a program under a guardian, and waits until it has been executed.

use super::guarded::GuardedProcess;
use super::guardian::{GuardianHandle, GuardianReport, HostPipeEnds, ReceiveOutcome, post_guardian};
use super::{ProgramLaunch, SpawnError};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Timeout for a program to be loaded, before it runs.
///
/// Milliseconds are usual; seconds mean that its file system hangs.
pub const SPAWN_LIMIT: Duration = Duration::from_secs(10);

/// Spawns a program under a guardian of its own; returns when it has been executed.
///
/// Blocks for the few milliseconds that takes. The host may have any number of threads. All
/// processes that the program starts die with it, and it dies with this process or with the returned handle.
pub fn spawn(launch: &ProgramLaunch) -> Result<GuardedProcess, SpawnError> {
    begin_spawn(launch)?.finish()
}

/// Begins to spawn a program, as [`spawn`] does, without waiting.
pub fn begin_spawn(launch: &ProgramLaunch) -> Result<PendingSpawn<'_>, SpawnError> {
    let deadline = Instant::now() + SPAWN_LIMIT;
    let (guardian, streams) = post_guardian(launch, deadline)?;
    Ok(PendingSpawn { launch, guardian, streams, deadline })
}

/// A program that is being loaded. Dropping this value kills it.
#[derive(Debug)]
pub struct PendingSpawn<'l> {
    launch: &'l ProgramLaunch,
    guardian: GuardianHandle,
    streams: HostPipeEnds,
    deadline: Instant,
}

impl PendingSpawn<'_> {
    /// A descriptor that becomes readable when the program runs or has failed to start; never read from it.
    pub fn status_fd(&self) -> BorrowedFd<'_> {
        self.guardian.status_fd()
    }

    /// The deadline for the program to start.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Waits until the program runs, up to the deadline, and returns its handle.
    pub fn finish(self) -> Result<GuardedProcess, SpawnError> {
        let Self { launch, guardian, streams, deadline } = self;
        match guardian.next_report(deadline) {
            ReceiveOutcome::Message(GuardianReport::Started(pid)) => {
                Ok(GuardedProcess::new(pid, guardian, streams))
            }
            ReceiveOutcome::Message(GuardianReport::Failed(stage, errno)) => {
                Err(SpawnError::from_stage(launch, stage, errno))
            }
            ReceiveOutcome::Nothing => {
                Err(SpawnError::TimedOut { program: launch.program.clone(), limit: SPAWN_LIMIT })
            }
            // The guardian was killed before it could report.
            ReceiveOutcome::Closed | ReceiveOutcome::Message(GuardianReport::Ended(_)) => {
                Err(SpawnError::from_errno(launch, Errno::CHILD))
            }
        }
    }
}
