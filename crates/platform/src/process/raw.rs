//! The system calls that need `unsafe`, each behind a function that says why it holds.
//!
//! Everything here is called between `fork` and `execve`, so it is async-signal-safe: no allocation,
//! no locks, no panics.
#![expect(unsafe_code, reason = "forking, executing, signal masks and closing descriptors have no safe form")]

use super::image::Image;
use rustix::io::Errno;
use rustix::process::Pid;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// Which side of a fork we are on.
#[derive(Debug)]
pub(super) enum Side {
    /// The new process.
    Child,
    /// The old process, with the new one's id.
    Parent(Pid),
}

/// Duplicates this process.
///
/// # Safety
///
/// Other threads may hold locks at this moment, the allocator's among them, and they do not exist in
/// the child. The child may therefore only make async-signal-safe calls until it executes or exits,
/// and must not return to its caller's caller.
pub(super) unsafe fn fork() -> Result<Side, Errno> {
    // SAFETY: the caller promises what the child does; in the parent nothing changes.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => Ok(Side::Child),
        pid => Pid::from_raw(pid.max(0)).map(Side::Parent).ok_or_else(errno),
    }
}

/// Replaces this process by the program; returns only if that fails.
pub(super) fn execute(image: &Image) -> Errno {
    // SAFETY: the path is a C string, both arrays end with a null pointer, and all of them live in
    // `image`, which outlives the call.
    unsafe { libc::execve(image.path.as_ptr(), image.argv.as_ptr(), image.envp.as_ptr()) };
    errno()
}

/// Ends this process at once, without running destructors or exit handlers of the host.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: ends the process and touches nothing.
    unsafe { libc::_exit(code) }
}

/// The calling thread's signals, all held back until this is dropped.
pub(super) struct Blocked(libc::sigset_t);

/// Holds back every signal, so that no handler of the host can run in a forked child.
pub(super) fn block_signals() -> Blocked {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` writes the whole set, `pthread_sigmask` reads it and writes the old one;
    // with a valid first argument neither can fail, so both are initialised.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        Blocked(before.assume_init())
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: puts back the mask that `pthread_sigmask` gave us.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

/// Lets every signal through again: a program expects to start with an empty mask.
pub(super) fn unblock_signals() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` writes the whole set before `pthread_sigmask` reads it.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

/// Gives every signal its default meaning: what is ignored would stay ignored in the program.
///
/// Asks the kernel itself, because the C library refuses to touch the two signals it uses for threads,
/// and those may have been ignored by whoever started the host.
pub(super) fn default_signals() {
    // As large as any architecture's `struct sigaction`; all zero means the default.
    let default = [0_u64; 8];
    for signal in 1..=64 {
        // SAFETY: the kernel reads the structure and writes nothing; no pointer to code is in it. The
        // two signals that cannot be changed answer with an error.
        unsafe {
            let none = ptr::null_mut::<u64>();
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), none, 8_usize)
        };
    }
}

/// A descriptor that becomes readable when a child has changed; the signal must be held back.
pub(super) fn child_signals() -> Result<OwnedFd, Errno> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is written by `sigemptyset` before it is read; -1 asks for a new descriptor.
    let fd = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    if fd < 0 {
        return Err(errno());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Closes every descriptor except those in `keep`, which must be sorted.
///
/// # Safety
///
/// Nobody in this process may use one of the closed descriptors afterwards. That holds in a forked
/// child that never returns to the code that owns them.
pub(super) unsafe fn close_all_but(keep: &[RawFd]) {
    let mut from = 0;
    for &fd in keep {
        if fd > from {
            // SAFETY: the caller's promise.
            unsafe { close_range(from, fd.saturating_sub(1)) };
        }
        from = fd.saturating_add(1);
    }
    // SAFETY: the caller's promise.
    unsafe { close_range(from, RawFd::MAX) };
}

/// # Safety
///
/// As for [`close_all_but`].
unsafe fn close_range(first: RawFd, last: RawFd) {
    // SAFETY: the caller's promise.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if done == 0 {
        return;
    }
    // Kernels before 5.9 and some sandboxes lack the call. A host with more descriptors than this
    // would have had to raise its limit by hand.
    for fd in first..=last.min(65_535) {
        // SAFETY: the caller's promise; closing what is not open does nothing.
        unsafe { libc::close(fd) };
    }
}

fn errno() -> Errno {
    // SAFETY: the location is this thread's own and always valid.
    Errno::from_raw_os_error(unsafe { *libc::__errno_location() })
}
