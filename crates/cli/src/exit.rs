//! Exit codes for scripts; each code stands for one kind of action that fixes the error.

use std::process::ExitCode;

/// An exit code with its name and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedExitCode {
    /// The number that the process exits with.
    pub number: u8,
    /// A short name, which `--json` reports.
    pub name: &'static str,
    /// The condition, for the reference page.
    pub meaning: &'static str,
}

const fn define_code(number: u8, name: &'static str, meaning: &'static str) -> NamedExitCode {
    NamedExitCode { number, name, meaning }
}

/// Success.
pub const OK: NamedExitCode = define_code(0, "ok", "Success.");
/// A failure that no other code names.
pub const FAILED: NamedExitCode = define_code(1, "failed", "A failure without a code of its own.");
/// The command line is invalid.
pub const USAGE: NamedExitCode = define_code(
    2,
    "usage",
    "The command line is invalid: an unknown option, a missing value, arguments that do not match the tool's schema.",
);
/// A configuration file or entry is invalid.
pub const CONFIG: NamedExitCode =
    define_code(3, "config", "A configuration file, or an entry on the command line, is invalid.");
/// The policy forbids the operation.
pub const BLOCKED: NamedExitCode = define_code(
    4,
    "blocked",
    "The policy forbids it, or a managed file cannot be read, so no server may run.",
);
/// The named server, tool or agent does not exist.
pub const NOT_FOUND: NamedExitCode = define_code(5, "not-found", "No server, tool or agent has that name.");
/// A conflict with the present state.
pub const CONFLICT: NamedExitCode = define_code(
    6,
    "conflict",
    "The name is taken or exists in several scopes, the server changed in the meantime, or a changed tool needs review.",
);
/// A file cannot be read or written.
pub const FILE: NamedExitCode = define_code(
    7,
    "file",
    "A file cannot be read or written: permissions, disk space, a lock that is not released.",
);

/// The tool returned an error.
pub const TOOL_ERROR: NamedExitCode = define_code(
    8,
    "tool-error",
    "The tool returned an error, or its server answered the call with an error.",
);
/// A server could not be reached.
pub const UNREACHABLE: NamedExitCode = define_code(
    9,
    "unreachable",
    "A server could not be started or reached, closed the connection, or sent an invalid response.",
);
/// A permission rule denies the call.
pub const DENIED: NamedExitCode = define_code(
    10,
    "denied",
    "A permission rule or mode denies the call, or the server needs approval, is rejected or disabled.",
);
/// A timeout expired.
pub const TIMED_OUT: NamedExitCode =
    define_code(11, "timed-out", "A server, a call or a sign-in took longer than its timeout.");
/// A sign-in is needed.
pub const NEEDS_AUTH: NamedExitCode =
    define_code(12, "needs-auth", "The server needs a sign-in, or one with more scopes.");
/// The tools take more tokens than allowed.
pub const OVER_BUDGET: NamedExitCode = define_code(
    13,
    "over-budget",
    "The definitions of the tools take more tokens than `budget --max` allows.",
);
/// A model gave no complete answer.
pub const MODEL: NamedExitCode = define_code(
    14,
    "model",
    "No model is configured, or the model's API rejected the request or gave no complete answer.",
);
/// The terminal was closed.
pub const HANGUP: NamedExitCode =
    define_code(129, "hangup", "Ended by `SIGHUP`: 128 and the signal's number.");
/// Ended by Ctrl-C.
pub const INTERRUPTED: NamedExitCode =
    define_code(130, "interrupted", "Ended by `SIGINT`: 128 and the signal's number.");
/// Ended by a request to terminate.
pub const TERMINATED: NamedExitCode =
    define_code(143, "terminated", "Ended by `SIGTERM`: 128 and the signal's number.");

/// All exit codes, in order.
pub const ALL: [NamedExitCode; 18] = [
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
    MODEL,
    HANGUP,
    INTERRUPTED,
    TERMINATED,
];

impl From<NamedExitCode> for ExitCode {
    fn from(code: NamedExitCode) -> Self {
        Self::from(code.number)
    }
}
