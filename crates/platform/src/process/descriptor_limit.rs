//! The limit of open descriptors: raised for this process, and given back to the programs it starts.
//!
//! A program that serves many clients needs more descriptors than the usual soft limit of 1,024. Programs that were
//! written for `select`, or that close all descriptors up to the limit, expect the usual one.

use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit};

/// The limit that this process was started with, once it has been raised.
static INHERITED: OnceLock<Rlimit> = OnceLock::new();

/// Raises the soft limit of open descriptors to the hard one. Programs that this process starts get the limit that it
/// was started with.
///
/// For a program that serves many clients. A library must not change the process it is part of.
///
/// # Errors
/// When the system refuses.
pub fn raise_descriptor_limit() -> io::Result<()> {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return Ok(());
    }
    rustix::process::setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    // Only the first limit is the inherited one.
    INHERITED.get_or_init(|| limit);
    Ok(())
}

/// Gives a child process the limit that its host was started with. Makes one system call, and touches no memory, so it
/// may run between `fork` and `execve`.
pub(super) fn restore_descriptor_limit() {
    if let Some(limit) = INHERITED.get() {
        // A limit that cannot be lowered must not keep the program from starting.
        rustix::process::setrlimit(Resource::Nofile, *limit).unwrap_or_default();
    }
}
