//! The first lines on the daemon's socket, one JSON object each.
//!
//! ```text
//! client: {"mcparley":"attach", …}            or {"mcparley":"control", …}
//! daemon: {"mcparley":"welcome", …}           or {"mcparley":"refused", …}
//! daemon: {"mcparley":"started", "process":7} {"mcparley":"stderr", "text":"…"}, while the server starts
//! daemon: {"mcparley":"attached", …}          or {"mcparley":"failed", …}
//! ```
//!
//! After `attached` both sides speak MCP; after the welcome of `control` they speak JSON-RPC.

use std::ffi::OsString;
use std::path::PathBuf;

use mcparley_platform::process::ProgramLaunch;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::roots::Root;

/// The version of these lines. Client and daemon of different versions do not work together.
pub const ATTACH_PROTOCOL: u32 = 1;

/// The beginning of a session that outlives its client: the next command of the project goes on with it.
pub const COMMAND_SESSION: &str = "command:";

/// The first line of a client.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "mcparley", rename_all = "lowercase")]
pub enum ClientHello {
    /// Asks for a server.
    Attach(Box<AttachRequest>),
    /// Asks about the daemon itself. Answered whatever the version of the lines is, so that every program can show and
    /// end every daemon.
    Control {
        /// The version of the lines.
        wire: u32,
    },
}

/// The part of a client's first line that never changes, so that clients of other versions get a reason.
#[derive(Clone, Debug, Deserialize)]
pub struct HelloHead {
    /// `attach` or `control`.
    pub mcparley: String,
    /// The version of the lines.
    pub wire: u32,
    /// The version of the program; empty for the first ones.
    #[serde(default)]
    pub version: String,
}

impl HelloHead {
    /// Whether the client asks about the daemon itself.
    #[must_use]
    pub fn is_control(&self) -> bool {
        self.mcparley == "control"
    }

    /// Whether the client is newer than a daemon of this version of the program: it was upgraded since.
    #[must_use]
    pub fn is_newer_than(&self, version: &str) -> bool {
        match (parse_version(&self.version), parse_version(version)) {
            _ if self.wire != ATTACH_PROTOCOL => self.wire > ATTACH_PROTOCOL,
            (Some(client), Some(daemon)) => client > daemon,
            (_, _) => false,
        }
    }
}

/// The numbers of a version such as `1.2.3`; a pre-release counts as its release.
fn parse_version(version: &str) -> Option<[u32; 3]> {
    let release = version.split(['-', '+']).next()?;
    let numbers: Vec<u32> = release.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    numbers.try_into().ok()
}

/// A client's request for a server: all that the server would see of the client.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachRequest {
    /// The version of the lines.
    pub wire: u32,
    /// The version of the client's program: a newer one makes the daemon end with its last client.
    #[serde(default)]
    pub version: String,
    /// The process id of the client, for display.
    pub pid: u32,
    /// The name of the server at the client, for display.
    pub server: String,
    /// The signature of the server's entry.
    pub signature: String,
    /// The program to start, with its complete environment.
    pub launch: LaunchRequest,
    /// Whether the entry sets an absolute working directory.
    pub has_own_folder: bool,
    /// Whether the server gets the whole environment of its client (`inheritEnv`).
    pub inherits_env: bool,
    /// The `share` setting of the entry.
    pub share: String,
    /// The era of the server, if it is known: `old`, `new` or `auto`.
    pub era: String,
    /// The capabilities of the client.
    pub capabilities: Value,
    /// The roots of the client, as far as they are known.
    pub roots: Vec<Root>,
    /// The session of the client: servers with state are not shared beyond it.
    pub session: String,
    /// The project of the client, for display.
    pub project: PathBuf,
    /// The largest message that the client accepts.
    pub message_limit: usize,
    /// The time in milliseconds after which the server is stopped when no client uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<u64>,
    /// A copy of the server that the client found broken: another one is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<u64>,
}

/// A program with its complete environment, as text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRequest {
    program: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    cwd: Option<String>,
}

impl LaunchRequest {
    /// The launch as text; `None` if a part of it is not UTF-8, which JSON cannot carry.
    #[must_use]
    pub fn from_launch(launch: &ProgramLaunch) -> Option<Self> {
        let text = |part: &OsString| part.to_str().map(str::to_owned);
        let variable = |(name, value): &(OsString, OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        Some(Self {
            program: text(&launch.program)?,
            args: launch.args.iter().map(text).collect::<Option<_>>()?,
            env: launch.env.iter().map(variable).collect::<Option<_>>()?,
            cwd: match &launch.cwd {
                Some(cwd) => Some(cwd.to_str()?.to_owned()),
                None => None,
            },
        })
    }

    /// The program and its arguments.
    pub fn command_line(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.program).chain(&self.args).map(String::as_str)
    }

    /// The program to start.
    #[must_use]
    pub fn into_launch(self) -> ProgramLaunch {
        ProgramLaunch {
            program: self.program.into(),
            args: self.args.into_iter().map(OsString::from).collect(),
            env: self.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: self.cwd.map(PathBuf::from),
        }
    }
}

impl std::fmt::Debug for LaunchRequest {
    /// Shows the program only: arguments and variables may hold tokens.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LaunchRequest").field("program", &self.program).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for AttachRequest {
    /// Shows no values of the launch: arguments and variables may hold tokens.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AttachRequest")
            .field("server", &self.server)
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}

/// A line of the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mcparley", rename_all = "lowercase")]
pub enum DaemonLine {
    /// The daemon has read the request and works on it.
    Welcome {
        /// The version of the lines.
        wire: u32,
        /// The version of the program.
        version: String,
    },
    /// The daemon does not serve this client.
    Refused {
        /// The reason.
        reason: RefusalReason,
    },
    /// The process of the server has started.
    Started {
        /// Its id.
        process: u32,
    },
    /// New standard error of the server.
    Stderr {
        /// The text.
        text: String,
    },
    /// The server can be used.
    Attached(AttachedCopy),
    /// The server could not be started.
    Failed {
        /// The reason, for the log.
        reason: String,
    },
}

/// The copy of a server that a client is attached to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedCopy {
    /// The number of this copy of the server.
    pub copy: u64,
    /// The process id of the server.
    pub process: Option<u32>,
    /// Whether this client writes the server's standard error to the log; of several clients of one project
    /// only one does.
    pub logs: bool,
    /// The digest of the server's lists: a client that has equal ones does not fetch them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<String>,
}

/// The reason why the daemon does not serve a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusalReason {
    /// The daemon speaks another version of the lines.
    Wire,
    /// The daemon is ending.
    Draining,
    /// The daemon has as many clients as it takes.
    Full,
    /// The request cannot be read.
    Malformed,
}

impl RefusalReason {
    /// The reason in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wire => "it has another version",
            Self::Draining => "it is ending",
            Self::Full => "it has too many clients",
            Self::Malformed => "it cannot read the request",
        }
    }
}
