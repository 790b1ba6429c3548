//! A launch in the form in which it travels to the guardhouse: its strings one after the other, each with its NUL.

use super::link::Stage;
use super::program::locate;
use super::{Launch, SpawnError};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

/// Everything `execve` needs, and where the program starts.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) head: Head,
    /// The path to execute, the arguments beginning with the program's name, the variables, and the working
    /// directory if there is one.
    pub(super) strings: Vec<u8>,
    /// The host's working directory, where the server's depends on it. The guardhouse has left it.
    pub(super) folder: Option<OwnedFd>,
}

/// What an image holds; travels before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// How many bytes the strings have.
    pub(super) length: u32,
    /// How many of them are arguments, the program's name included.
    pub(super) arguments: u32,
    /// How many are variables.
    pub(super) variables: u32,
    /// How many are a working directory: one or none.
    pub(super) directories: u32,
}

/// How the value of a variable begins that is a function of a shell.
const SHELL_FUNCTION: &[u8] = b"() {";

/// How many bytes a head has on its way.
pub(super) const HEAD: usize = 16;

impl Image {
    /// Finds the program and puts every string in its place.
    pub(super) fn of(launch: &Launch) -> Result<Self, SpawnError> {
        let mut strings = Vec::new();
        append(&mut strings, locate(launch)?.as_os_str(), "program")?;
        append(&mut strings, &launch.program, "program")?;
        for argument in &launch.args {
            append(&mut strings, argument, "argument")?;
        }
        for (name, value) in &launch.env {
            append_variable(&mut strings, name, value)?;
        }
        if let Some(cwd) = &launch.cwd {
            append(&mut strings, cwd.as_os_str(), "working directory")?;
        }
        let count = |count: usize| {
            u32::try_from(count).map_err(|_| SpawnError::classify(launch, Stage::Execute, Errno::TOOBIG))
        };
        let head = Head {
            length: count(strings.len())?,
            arguments: count(launch.args.len().saturating_add(1))?,
            variables: count(launch.env.len())?,
            directories: u32::from(launch.cwd.is_some()),
        };
        Ok(Self { head, strings, folder: folder(launch)? })
    }
}

impl Head {
    /// The head as it travels.
    pub(super) fn to_bytes(self) -> [u8; HEAD] {
        let Self { length, arguments, variables, directories } = self;
        let mut bytes = [0; HEAD];
        let numbers = [length, arguments, variables, directories];
        for (slot, byte) in bytes.iter_mut().zip(numbers.iter().flat_map(|number| number.to_ne_bytes())) {
            *slot = byte;
        }
        bytes
    }

    /// The head in these bytes.
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

/// The host's working directory; not needed by who starts in an absolute one.
fn folder(launch: &Launch) -> Result<Option<OwnedFd>, SpawnError> {
    if launch.cwd.as_ref().is_some_and(|cwd| cwd.is_absolute()) {
        return Ok(None);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(CWD, c".", flags, Mode::empty());
    opened.map(Some).map_err(|errno| SpawnError::classify(launch, Stage::Directory, errno))
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

fn append(strings: &mut Vec<u8>, text: &OsStr, what: &'static str) -> Result<(), SpawnError> {
    if text.as_bytes().contains(&0) {
        return Err(SpawnError::Nul { what });
    }
    strings.extend_from_slice(text.as_bytes());
    strings.push(0);
    Ok(())
}
