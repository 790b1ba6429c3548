//! Operating-system services: child processes that cannot outlive the host, and atomic file writes.
//!
//! | module | responsibility |
//! |---|---|
//! | [`mod@file`] | the one bounded reader and the one atomic writer of the product |
//! | [`dirs`] | paths of our files and of Claude Code's |
//! | [`process`] | spawns servers under a guardian that kills them when the host ends |
//! | [`folder_watch`] | reports changed entries of folders |
//! | [`terminal`] | turns terminal echo off while a secret is typed |
//! | [`random`] | random numbers and names |
//! | [`socket`] | Unix sockets of one user |
//! | [`thread`] | runs blocking work on a thread, or in place when the system has no thread left |
//!
//! Start reading at [`file::update_file`] and [`process::spawn`]. All functions are synchronous, and none
//! reads the environment: callers hand in paths and variables as values. `unsafe` is used in
//! `process/guardian/linux` and where `process/detached` forks, nowhere else.
//!
//! The crate supports Linux only: a port starts with the interface `process/guardian`.

pub mod dirs;
pub mod file;
pub mod folder_watch;
pub mod process;
pub mod random;
pub mod socket;
pub mod terminal;
pub mod thread;

#[cfg(not(target_os = "linux"))]
compile_error!("mcparley runs on Linux; a port to another system begins with `process/guardian`");
