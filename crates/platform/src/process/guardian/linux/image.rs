//! Serializes a launch for the guardhouse: its strings one after the other, each with its NUL.

use crate::process::error::SpawnStage;
use crate::process::{ProgramLaunch, SpawnError, locate_program};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

/// The arguments of `execve`, and the working directory.
#[derive(Debug)]
pub(super) struct LaunchImage {
    pub(super) head: LaunchHeader,
    /// The path to execute, the arguments beginning with the program's name, the variables, and the working
    /// directory if there is one.
    pub(super) strings: Vec<u8>,
    /// The host's working directory, if the server's depends on it. The guardhouse itself has changed to `/`.
    pub(super) folder: Option<OwnedFd>,
}

/// The header of a launch image: the counts of its strings. Sent before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LaunchHeader {
    /// Length of all strings in bytes.
    pub(super) length: u32,
    /// Number of arguments, the program's name included.
    pub(super) arguments: u32,
    /// Number of variables.
    pub(super) variables: u32,
    /// Number of working directories: one or zero.
    pub(super) directories: u32,
}

/// Prefix of a variable's value that is a shell function.
const SHELL_FUNCTION: &[u8] = b"() {";

/// Size of a serialized header in bytes.
pub(super) const HEAD: usize = 16;

impl LaunchImage {
    /// Serializes a launch after searching `PATH` for its program.
    pub(super) fn from_launch(launch: &ProgramLaunch) -> Result<Self, SpawnError> {
        let mut strings = Vec::new();
        append_string(&mut strings, locate_program(launch)?.as_os_str(), "program")?;
        append_string(&mut strings, &launch.program, "program")?;
        for argument in &launch.args {
            append_string(&mut strings, argument, "argument")?;
        }
        for (name, value) in &launch.env {
            append_variable(&mut strings, name, value)?;
        }
        if let Some(cwd) = &launch.cwd {
            append_string(&mut strings, cwd.as_os_str(), "working directory")?;
        }
        let count = |count: usize| {
            u32::try_from(count)
                .map_err(|_| SpawnError::from_stage(launch, SpawnStage::Execute, Errno::TOOBIG))
        };
        let head = LaunchHeader {
            length: count(strings.len())?,
            arguments: count(launch.args.len().saturating_add(1))?,
            variables: count(launch.env.len())?,
            directories: u32::from(launch.cwd.is_some()),
        };
        Ok(Self { head, strings, folder: open_host_folder(launch)? })
    }
}

impl LaunchHeader {
    /// Serializes the header.
    pub(super) fn to_bytes(self) -> [u8; HEAD] {
        let Self { length, arguments, variables, directories } = self;
        let mut bytes = [0; HEAD];
        let numbers = [length, arguments, variables, directories];
        for (slot, byte) in bytes.iter_mut().zip(numbers.iter().flat_map(|number| number.to_ne_bytes())) {
            *slot = byte;
        }
        bytes
    }

    /// Parses a serialized header.
    pub(super) fn from_bytes(bytes: [u8; HEAD]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
        Self {
            length: u32::from_ne_bytes([a, b, c, d]),
            arguments: u32::from_ne_bytes([e, f, g, h]),
            variables: u32::from_ne_bytes([i, j, k, l]),
            directories: u32::from_ne_bytes([m, n, o, p]),
        }
    }
}

/// Opens the host's working directory; not needed for a program that starts in an absolute one.
fn open_host_folder(launch: &ProgramLaunch) -> Result<Option<OwnedFd>, SpawnError> {
    if launch.cwd.as_ref().is_some_and(|cwd| cwd.is_absolute()) {
        return Ok(None);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(CWD, c".", flags, Mode::empty());
    opened.map(Some).map_err(|errno| SpawnError::from_stage(launch, SpawnStage::Directory, errno))
}

fn append_variable(strings: &mut Vec<u8>, name: &OsStr, value: &OsStr) -> Result<(), SpawnError> {
    if name.is_empty() || name.as_bytes().contains(&b'=') {
        return Err(SpawnError::Variable { name: name.to_owned() });
    }
    if name.as_bytes().contains(&0) {
        return Err(SpawnError::Variable { name: name.to_owned() });
    }
    if value.as_bytes().contains(&0) {
        return Err(SpawnError::VariableNul { name: name.to_owned() });
    }
    if value.as_bytes().starts_with(SHELL_FUNCTION) {
        return Err(SpawnError::ShellFunction { name: name.to_owned() });
    }
    strings.extend_from_slice(name.as_bytes());
    strings.push(b'=');
    strings.extend_from_slice(value.as_bytes());
    strings.push(0);
    Ok(())
}

fn append_string(strings: &mut Vec<u8>, text: &OsStr, what: &'static str) -> Result<(), SpawnError> {
    if text.as_bytes().contains(&0) {
        return Err(SpawnError::Nul { what });
    }
    strings.extend_from_slice(text.as_bytes());
    strings.push(0);
    Ok(())
}
