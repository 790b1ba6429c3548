//! Guardians on Linux: subreaper processes, forked by a guardhouse process and tied to the host by a socket.
//!
//! ```text
//! host ──link──▶ guardian ──▶ server ──▶ its children, and their daemons
//!   └──desk──▶ guardhouse ─┘
//! ```
//!
//! A *guardian* never executes a program. It is the subreaper of every process that the server starts, and it
//! holds one end of a socket pair, the *link*; only the host holds the other end. When the host dies, by any
//! cause, the kernel closes that end and the guardian kills all its descendants until none is left. Orders
//! and reports travel over the same link. Guardians are started by the *guardhouse*, a process that is forked
//! from the host once and lives as long as there is a server. The host sends it orders over another socket
//! pair, the *desk*.
//!
//! | file | responsibility |
//! |---|---|
//! | `image` | a launch serialized for the guardhouse |
//! | `guardhouse` | the guardhouse: its fork, its orders, the memory of its guardians |
//! | `start_parameters` | start parameters in memory shared by guardhouse, guardian and server |
//! | `watch`, `server`, `tree` | run after the fork: no allocation, no locks, no panics |
//! | `link`, `handle` | the socket between host and guardian, and the host's end of it |
//! | `raw` | the system calls that need `unsafe` |
//!
//! A guardian that is killed from outside takes its server with it; the guardhouse inherits the processes it
//! leaves behind and kills them. Descendants that run as another user (`sudo`) cannot be killed.
//!
//! The functions called after the fork go through `rustix`, whose Linux backend makes the system call in
//! place.

mod guardhouse;
mod handle;
mod image;
mod link;
mod raw;
mod server;
mod start_parameters;
mod tree;
mod watch;

pub(in crate::process) use handle::GuardianHandle;

use super::HostPipeEnds;
use crate::process::{ProgramLaunch, SpawnError};
use guardhouse::ServerPipeEnds;
use image::LaunchImage;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use std::os::fd::OwnedFd;
use std::time::Instant;

/// Size of a server's output pipe: four times the default, because a large message otherwise wakes both sides
/// for every 64 KiB of it. Not more: a user has 64 MiB for all pipes together.
const OUTPUT_PIPE: usize = 256 * 1024;

/// Starts a guardian that spawns the program, and returns before the program runs.
pub(in crate::process) fn post_guardian(
    launch: &ProgramLaunch,
    deadline: Instant,
) -> Result<(GuardianHandle, HostPipeEnds), SpawnError> {
    let image = LaunchImage::from_launch(launch)?;
    let system = |errno| SpawnError::from_errno(launch, errno);
    let (link, streams, theirs) = open_ends().map_err(system)?;
    let house = guardhouse::order_guardian(&image, &theirs, deadline).map_err(system)?;
    Ok((GuardianHandle::new(link, house), streams))
}

/// Opens the link and the pipes: the host's ends, and those of guardian and server.
fn open_ends() -> Result<(OwnedFd, HostPipeEnds, ServerPipeEnds), Errno> {
    let (link, their_link) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let (their_stdin, stdin) = open_pipe()?;
    let (stdout, their_stdout) = open_pipe()?;
    // If the system grants no more, the default 64 KiB work as well.
    let _granted = rustix::pipe::fcntl_setpipe_size(&stdout, OUTPUT_PIPE);
    let (stderr, their_stderr) = open_pipe()?;
    let theirs =
        ServerPipeEnds { link: their_link, stdin: their_stdin, stdout: their_stdout, stderr: their_stderr };
    Ok((link, HostPipeEnds { stdin, stdout, stderr }, theirs))
}

fn open_pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
}
