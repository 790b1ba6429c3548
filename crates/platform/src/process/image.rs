//! A launch in the form `execve` wants, ready before the fork.

use super::program::locate;
use super::{Launch, SpawnError};
use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

/// Everything the server's side of the fork needs, allocated on the host's side.
#[derive(Debug)]
pub(super) struct Image {
    /// What to execute.
    pub(super) path: CString,
    /// Its arguments, beginning with its name.
    pub(super) argv: Strings,
    /// Its environment.
    pub(super) envp: Strings,
    /// Where it starts.
    pub(super) cwd: Option<CString>,
}

impl Image {
    /// Finds the program and converts every string.
    pub(super) fn of(launch: &Launch) -> Result<Self, SpawnError> {
        let path = locate(launch)?;
        let mut argv = vec![terminated(&launch.program, "program")?];
        for argument in &launch.args {
            argv.push(terminated(argument, "argument")?);
        }
        let mut envp = Vec::with_capacity(launch.env.len());
        for (name, value) in &launch.env {
            envp.push(variable(name, value)?);
        }
        let cwd = launch.cwd.as_deref();
        Ok(Self {
            path: terminated(path.as_os_str(), "program")?,
            argv: Strings::new(argv),
            envp: Strings::new(envp),
            cwd: cwd.map(|cwd| terminated(cwd.as_os_str(), "working directory")).transpose()?,
        })
    }

    /// The working directory, if the server does not start in the host's.
    pub(super) fn cwd(&self) -> Option<&CStr> {
        self.cwd.as_deref()
    }
}

/// Strings and the null-terminated array of pointers to them.
#[derive(Debug)]
pub(super) struct Strings {
    pointers: Vec<*const c_char>,
    // The pointers lead into these; a moved `CString` leaves its bytes where they are.
    _owned: Vec<CString>,
}

impl Strings {
    fn new(owned: Vec<CString>) -> Self {
        let pointers = owned.iter().map(|string| string.as_ptr());
        Self { pointers: pointers.chain([ptr::null()]).collect(), _owned: owned }
    }

    /// The array, valid as long as `self`.
    pub(super) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

fn variable(name: &OsStr, value: &OsStr) -> Result<CString, SpawnError> {
    if name.is_empty() || name.as_bytes().contains(&b'=') {
        let name = name.to_owned();
        return Err(SpawnError::Variable { name });
    }
    let mut pair = name.to_owned();
    pair.push("=");
    pair.push(value);
    terminated(&pair, "environment variable")
}

fn terminated(text: &OsStr, what: &'static str) -> Result<CString, SpawnError> {
    CString::new(text.as_bytes()).map_err(|_| SpawnError::Nul { what })
}
