//! Makes this process unreadable for other programs of the same user.

use std::io;

use rustix::process::DumpableBehavior;

/// Makes environment, memory and descriptors of this process unreadable through `/proc` for all but root, and
/// forbids debuggers and core dumps. Programs it starts are readable again from their `execve` on.
///
/// For a program that holds tokens and starts third-party programs. A library must not change the process it
/// is part of.
///
/// # Errors
/// When the system refuses.
pub fn close_to_same_user() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}
