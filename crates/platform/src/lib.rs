//! Processes that cannot outlive us, files that cannot tear.
//!
//! | room | what it owns |
//! |---|---|
//! | [`mod@file`] | the one bounded reader and the one atomic writer of the product |
//! | [`dirs`] | where our files and Claude Code's files are |
//! | `process` | servers that die with their host; Linux only, elsewhere the module is absent |
//! | `terminal` | what is typed and not shown |
//! | [`thread`] | whether the system gives another thread |
//!
//! Start reading at [`file::update`] and `process::spawn`. Everything is synchronous and nothing
//! looks at the environment: callers hand in paths and variables as values.
//! `unsafe` stands in `process/raw.rs` and at the three places that fork, nowhere else.

pub mod dirs;
pub mod file;
#[cfg(target_os = "linux")]
pub mod process;
#[cfg(unix)]
pub mod terminal;
pub mod thread;
