//! Exit codes, for scripts: each says who has to do something.

use std::process::ExitCode;

/// One exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The number.
    pub number: u8,
    /// A short name.
    pub name: &'static str,
    /// When it is used.
    pub meaning: &'static str,
}

const fn code(number: u8, name: &'static str, meaning: &'static str) -> Code {
    Code { number, name, meaning }
}

/// It worked.
pub const OK: Code = code(0, "ok", "It worked.");
/// Something else went wrong.
pub const FAILED: Code = code(1, "failed", "Something went wrong that no other code names.");
/// The command line makes no sense.
pub const USAGE: Code =
    code(2, "usage", "The command line makes no sense: an unknown option, a missing value.");
/// A file or entry cannot be used.
pub const CONFIG: Code =
    code(3, "config", "A configuration file, or an entry that was given, cannot be used as it is written.");
/// A rule forbids it.
pub const BLOCKED: Code =
    code(4, "blocked", "The policy forbids it, or a managed file cannot be read and therefore nothing runs.");
/// There is no such thing.
pub const NOT_FOUND: Code = code(5, "not-found", "There is no server of that name.");
/// It contradicts what is there.
pub const CONFLICT: Code = code(
    6,
    "conflict",
    "The name is taken, stands in several scopes, or the server changed in the meantime.",
);
/// A file cannot be read or written.
pub const FILE: Code =
    code(7, "file", "A file cannot be read or written: permission, space, a lock that stays.");

/// All of them, in order.
pub const ALL: [Code; 8] = [OK, FAILED, USAGE, CONFIG, BLOCKED, NOT_FOUND, CONFLICT, FILE];

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.number)
    }
}
