//! Start parameters of one guardian and its server, in memory that both share with the guardhouse.

use std::ffi::{c_char, c_void};
use std::os::fd::RawFd;

/// Descriptors, strings and process ids that a guardian needs; its server reads the same memory until
/// `execve`.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartParameters {
    pub(super) link: RawFd,
    pub(super) stdin: RawFd,
    pub(super) stdout: RawFd,
    pub(super) stderr: RawFd,
    /// The host's working directory, if the server's depends on it.
    pub(super) folder: Option<RawFd>,
    /// A signalfd that is readable when a child of the reading process has changed.
    pub(super) signals: RawFd,
    /// Write end of the pipe through which the server reports a failed `execve`.
    pub(super) failure: RawFd,
    /// Process id of the guardian, by which the server detects that its guardian has died.
    pub(super) guardian: i32,
    /// Upper end of the server's stack, which grows downwards.
    pub(super) server_stack: *mut c_void,
    pub(super) path: *const c_char,
    pub(super) arguments: *const *const c_char,
    pub(super) variables: *const *const c_char,
    /// The working directory; null, if there is none.
    pub(super) directory: *const c_char,
}
