//! Servers that cannot outlive their host, however the host ends and whatever the server forks.
//!
//! ```text
//! host ──link──▶ guardian ──▶ server ──▶ its children, and their daemons
//!   └──desk──▶ guardhouse ─┘
//! ```
//!
//! [`spawn`] has a *guardian* posted that never executes anything. It is the subreaper of everything the
//! server starts, and it holds one end of a socket, the *link*, whose other end only the host holds.
//! When the host dies, by whatever cause, the kernel closes that end and the guardian kills all its
//! descendants until none is left. Orders and reports travel over the same link. Guardians come from the
//! *guardhouse*, which is forked from the host once and lives as long as there is a server.
//!
//! | file | what it owns |
//! |---|---|
//! | `launch` | what to start; `program` finds it, `image` makes it ready to travel |
//! | `spawn` | descriptors, and the order for a guardian |
//! | `house` | the guardhouse: its fork, its orders, its memory |
//! | `guarded` | the host's handle: signals, waiting, the orderly shut-down |
//! | `link` | the words host and guardian exchange |
//! | `guardian`, `server`, `tree` | what runs after the fork: no allocation, no locks, no panics |
//! | `detached` | programs of the person's own, which may stay: the one exception |
//! | `activity` | whether a tree of processes works or waits |
//! | `running` | whether a process of others is there |
//! | `secrecy` | closes a process to other programs of the same user |
//! | `raw` | the system calls that need `unsafe` |
//!
//! A guardian that is killed from outside takes its server with it; what it leaves behind falls to the guardhouse and is
//! killed by it. What nobody can do: kill descendants that run as another user (`sudo`).
//!
//! The functions called after the fork go through `rustix`, whose Linux backend makes the system call
//! in place. Only Linux has subreapers, so other systems do not have this module.

mod activity;
mod detached;
mod error;
mod guarded;
mod guardian;
mod house;
mod image;
mod launch;
mod link;
mod program;
mod raw;
mod reaper;
mod running;
mod secrecy;
mod server;
mod spawn;
mod tree;

pub use activity::{Activity, command_lines_of_tree};
pub use detached::{Detached, launch_detached};
pub use error::{SpawnError, is_out_of_descriptors};
pub use guarded::{Exit, Guarded};
pub use launch::Launch;
pub use program::locate;
pub use running::is_running;
pub use secrecy::close_to_same_user;
pub use spawn::{SPAWN_LIMIT, Starting, begin, spawn};
