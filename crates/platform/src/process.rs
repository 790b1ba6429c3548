//! Child processes that cannot outlive their host, however the host ends and however the server forks.
//!
//! | file | responsibility |
//! |---|---|
//! | `launch` | a program with its arguments, variables and folder; `program` searches `PATH` for its file |
//! | `spawn` | starts the program under a guardian |
//! | `guarded` | the host's handle: signals, waiting, graceful shutdown |
//! | `guardian` | the interface to the system: one guardian per server, which kills the server's whole process tree; today for Linux |
//! | `detached` | programs of the user, such as a browser, which may outlive us: the one exception |
//! | `foreground` | programs on our own terminal, such as a command that the console runs |
//! | `activity` | whether a process tree is busy or idle |
//! | `running` | whether a process that another program started is alive |
//! | `descriptor_limit` | raises the limit of open descriptors for this process, not for its children |
//! | `secrecy` | makes this process unreadable for other programs of the same user |

mod activity;
mod descriptor_limit;
mod detached;
mod error;
mod foreground;
mod guarded;
mod guardian;
mod launch;
mod program;
mod reaper;
mod running;
mod secrecy;
mod spawn;

pub use activity::{Activity, command_lines_of_tree};
pub use descriptor_limit::raise_descriptor_limit;
pub use detached::{DetachedStatus, launch_detached};
pub use error::{SpawnError, is_out_of_descriptors};
pub use foreground::ForegroundProcess;
pub use guarded::{GuardedProcess, ProcessExit};
pub use launch::ProgramLaunch;
pub use program::locate_program;
pub use running::is_running;
pub use secrecy::close_to_same_user;
pub use spawn::{PendingSpawn, SPAWN_LIMIT, begin_spawn, spawn};
