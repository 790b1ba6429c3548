//! The system calls that need `unsafe`, each behind a function that states its safety conditions.
//!
//! All functions here are called between `fork` and `execve`, so they are async-signal-safe: no allocation,
//! no locks, no panics. Guardians and servers share the C library's `errno` with all others of their
//! guardhouse, so where it matters the kernel is called without it.
#![expect(unsafe_code, reason = "forking, executing, signal masks and closing descriptors have no safe form")]

use super::start_parameters::StartParameters;
use rustix::io::Errno;
use rustix::process::Pid;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// The two sides of a fork.
#[derive(Debug)]
pub(super) enum ForkSide {
    /// The new process.
    Child,
    /// The old process, with the new one's id.
    Parent(Pid),
}

/// Forks this process.
///
/// # Safety
///
/// Other threads may hold locks at this moment, the allocator's among them, and they do not exist in
/// the child. The child may therefore only make async-signal-safe calls until it executes or exits,
/// and must not return to its caller's caller.
pub(super) unsafe fn fork_process() -> Result<ForkSide, Errno> {
    // SAFETY: the caller promises what the child does; in the parent nothing changes.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => Ok(ForkSide::Child),
        pid => Pid::from_raw(pid.max(0)).map(ForkSide::Parent).ok_or_else(last_errno),
    }
}

/// Starts a process that shares only the memory of this one (`CLONE_VM`), on a stack of its own.
///
/// # Safety
///
/// `stack` must be the upper end of memory that is otherwise unused while the new process lives. `begin` must
/// make async-signal-safe calls only, never return, and use no memory that this process changes meanwhile.
pub(super) unsafe fn clone_sharing_memory(
    begin: extern "C" fn(*mut c_void) -> c_int,
    stack: *mut c_void,
    argument: *mut c_void,
) -> Result<Pid, Errno> {
    // SAFETY: the caller's promise.
    let pid = unsafe { libc::clone(begin, stack, libc::CLONE_VM | libc::SIGCHLD, argument) };
    Pid::from_raw(pid.max(0)).ok_or_else(last_errno)
}

/// Replaces this process by the program; returns only if `execve` fails.
///
/// # Safety
///
/// The parameters must have been filled in by the guardhouse.
pub(super) unsafe fn execute_program(note: &StartParameters) -> Errno {
    // SAFETY: the path is a C string, both arrays end with a null pointer, and all of them live in the memory
    // of the start parameters.
    unsafe { execve(note.path, note.arguments, note.variables) }
}

type CStringArray = *const *const libc::c_char;

/// # Safety
///
/// As for the system call.
#[cfg(target_arch = "x86_64")]
unsafe fn execve(path: *const libc::c_char, arguments: CStringArray, variables: CStringArray) -> Errno {
    let answer: isize;
    // SAFETY: the caller's promise; the kernel changes these registers only.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") libc::SYS_execve as isize => answer,
            in("rdi") path,
            in("rsi") arguments,
            in("rdx") variables,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    errno_from_answer(answer)
}

/// # Safety
///
/// As for the system call.
#[cfg(target_arch = "aarch64")]
unsafe fn execve(path: *const libc::c_char, arguments: CStringArray, variables: CStringArray) -> Errno {
    let answer: isize;
    // SAFETY: the caller's promise; the kernel changes this register only.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") libc::SYS_execve,
            inlateout("x0") path => answer,
            in("x1") arguments,
            in("x2") variables,
            options(nostack)
        );
    }
    errno_from_answer(answer)
}

/// Converts the kernel's answer to an error; after a success this process would not exist any more.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn errno_from_answer(answer: isize) -> Errno {
    let number = i32::try_from(answer.unsigned_abs()).unwrap_or_default();
    // `rustix` panics on a number that is no error.
    if (1..4096).contains(&number) { Errno::from_raw_os_error(number) } else { Errno::IO }
}

/// Calls the C library, with its shared `errno`: when two servers fail at the same moment, one may report the
/// error of the other.
///
/// # Safety
///
/// As for the system call.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn execve(path: *const libc::c_char, arguments: CStringArray, variables: CStringArray) -> Errno {
    // SAFETY: the caller's promise.
    unsafe { libc::execve(path, arguments, variables) };
    last_errno()
}

/// Ends this process at once, without running destructors or exit handlers of the host.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: ends the process and touches nothing.
    unsafe { libc::_exit(code) }
}

/// The calling thread's signal mask, with all signals blocked until this is dropped.
pub(super) struct BlockedSignals(libc::sigset_t);

/// Blocks every signal, so that no handler of the host can run in a forked child.
pub(super) fn block_signals() -> BlockedSignals {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` writes the whole set, `pthread_sigmask` reads it and writes the old one;
    // with a valid first argument neither can fail, so both are initialized.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        BlockedSignals(before.assume_init())
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: puts back the mask that `pthread_sigmask` gave us.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

/// Unblocks every signal: a program expects to start with an empty mask.
pub(super) fn unblock_signals() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` writes the whole set before `pthread_sigmask` reads it.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

/// Resets every signal to its default action: an ignored signal would stay ignored in the program.
///
/// Calls the kernel directly, because the C library refuses to touch the two signals it uses for threads,
/// and the parent of the host may have ignored those.
pub(super) fn reset_signals() {
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

/// Opens a signalfd that becomes readable when a child has changed; `SIGCHLD` must be blocked.
pub(super) fn open_child_signal_fd() -> Result<OwnedFd, Errno> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is written by `sigemptyset` before it is read; -1 asks for a new descriptor.
    let fd = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    if fd < 0 {
        return Err(last_errno());
    }
    // SAFETY: the descriptor is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Closes every descriptor except those in `keep`, which must be sorted.
///
/// # Safety
///
/// No code in this process may use one of the closed descriptors afterwards. That holds in a forked
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
        unsafe { rustix::io::close(fd) };
    }
}

fn last_errno() -> Errno {
    // SAFETY: the location is this thread's own and always valid.
    Errno::from_raw_os_error(unsafe { *libc::__errno_location() })
}
