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
pub const USAGE: Code = code(
    2,
    "usage",
    "The command line makes no sense: an unknown option, a missing value, arguments that do not fit the tool's schema.",
);
/// A file or entry cannot be used.
pub const CONFIG: Code =
    code(3, "config", "A configuration file, or an entry that was given, cannot be used as it is written.");
/// A rule forbids it.
pub const BLOCKED: Code =
    code(4, "blocked", "The policy forbids it, or a managed file cannot be read and therefore nothing runs.");
/// There is no such thing.
pub const NOT_FOUND: Code = code(5, "not-found", "There is no server, no tool, or no agent of that name.");
/// It contradicts what is there.
pub const CONFLICT: Code = code(
    6,
    "conflict",
    "The name is taken, stands in several scopes, the server changed in the meantime, or a tool has changed and waits for review.",
);
/// A file cannot be read or written.
pub const FILE: Code =
    code(7, "file", "A file cannot be read or written: permission, space, a lock that stays.");

/// The tool says it failed.
pub const TOOL_ERROR: Code =
    code(8, "tool-error", "The tool says that it failed, or its server answered the call with an error.");
/// The server is not there.
pub const UNREACHABLE: Code =
    code(9, "unreachable", "A server could not be started or reached, broke off, or answered nonsense.");
/// A permission rule denies it.
pub const DENIED: Code = code(
    10,
    "denied",
    "A permission rule or mode denies the call, or the server waits for approval, was rejected or is switched off.",
);
/// It took too long.
pub const TIMED_OUT: Code =
    code(11, "timed-out", "A server, a call or a person who should sign in took longer than it may.");
/// A sign-in is needed.
pub const NEEDS_AUTH: Code =
    code(12, "needs-auth", "The server wants a sign-in first, or one with more rights, and nobody gave it.");
/// The tools take more than they may.
pub const OVER_BUDGET: Code =
    code(13, "over-budget", "The definitions of the tools take more tokens than `budget --max` allows.");
/// The terminal is gone.
pub const HANGUP: Code = code(129, "hangup", "Ended by `SIGHUP`: 128 and the signal's number.");
/// Somebody pressed Ctrl-C.
pub const INTERRUPTED: Code = code(130, "interrupted", "Ended by `SIGINT`: 128 and the signal's number.");
/// Somebody wants the program to end.
pub const TERMINATED: Code = code(143, "terminated", "Ended by `SIGTERM`: 128 and the signal's number.");

/// All of them, in order.
pub const ALL: [Code; 17] = [
    OK,
    FAILED,
    USAGE,
    CONFIG,
    BLOCKED,
    NOT_FOUND,
    CONFLICT,
    FILE,
    TOOL_ERROR,
    UNREACHABLE,
    DENIED,
    TIMED_OUT,
    NEEDS_AUTH,
    OVER_BUDGET,
    HANGUP,
    INTERRUPTED,
    TERMINATED,
];

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.number)
    }
}
