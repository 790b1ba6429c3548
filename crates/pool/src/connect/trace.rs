//! Trace of a connection attempt: its stages and the time each took.
//!
//! Recorded during the attempt and read afterwards, also if it failed.

use std::time::{Duration, Instant};

use mcparley_model::text::display_line;
use mcparley_model::time::serialize_milliseconds;
use mcparley_wire::handshake::HandshakeStep;
use mcparley_wire::peer::StrayRecord;
use serde::Serialize;

use crate::started_process::StartedProcess;

/// A stage of a connection attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConnectStage {
    /// Finding the program.
    Find,
    /// Resolving the host name.
    Resolve,
    /// Opening a TCP connection to the port.
    Reach,
    /// Starting the process or opening the transport.
    Open,
    /// Probing for the new era with `server/discover`.
    Probe,
    /// The handshake of the old era, `initialize`.
    Greet,
    /// Starting the process again, because the probe made it exit.
    Reopen,
    /// Trying the HTTP+SSE transport of 2024-11-05.
    Legacy,
    /// Fetching the lists of tools, prompts and resources.
    List,
    /// Closing the connection.
    Close,
}

impl ConnectStage {
    /// Every stage.
    pub const ALL: [Self; 10] = [
        Self::Find,
        Self::Resolve,
        Self::Reach,
        Self::Open,
        Self::Probe,
        Self::Greet,
        Self::Reopen,
        Self::Legacy,
        Self::List,
        Self::Close,
    ];

    /// The name of the stage in `--json` output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Find => "find",
            Self::Resolve => "resolve",
            Self::Reach => "reach",
            Self::Open => "open",
            Self::Probe => "probe",
            Self::Greet => "greet",
            Self::Reopen => "reopen",
            Self::Legacy => "legacy",
            Self::List => "list",
            Self::Close => "close",
        }
    }
}

impl From<HandshakeStep> for ConnectStage {
    fn from(step: HandshakeStep) -> Self {
        match step {
            HandshakeStep::Open => Self::Open,
            HandshakeStep::Probe => Self::Probe,
            HandshakeStep::Greet => Self::Greet,
            HandshakeStep::Reopen => Self::Reopen,
            HandshakeStep::Legacy => Self::Legacy,
        }
    }
}

/// A completed stage with its duration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageTiming {
    /// The stage.
    pub stage: ConnectStage,
    /// The duration.
    #[serde(rename = "milliseconds", serialize_with = "serialize_milliseconds")]
    pub duration: Duration,
    /// A detail found in this stage, such as a path or an address.
    #[serde(rename = "found", skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Records the stages of a connection attempt.
#[derive(Debug, Default)]
pub struct ConnectTrace {
    marks: Vec<StageMark>,
    /// Stray output (not MCP messages) on standard output of the process started last.
    pub(super) strays: Option<StrayRecord>,
    /// The digest of the server's lists, if the daemon runs it and knows them.
    pub(super) lists: Option<String>,
    /// The process started last.
    pub(super) process: StartedProcess,
}

/// The start of a stage, or the end of the last one.
#[derive(Debug)]
struct StageMark {
    stage: Option<ConnectStage>,
    at: Instant,
    detail: Option<String>,
}

impl ConnectTrace {
    /// A trace that shares this process record with its watchers.
    pub fn with_process(process: StartedProcess) -> Self {
        Self { process, ..Self::default() }
    }

    /// Starts a stage, which ends the one before.
    pub fn begin_stage(&mut self, stage: ConnectStage) {
        self.push_mark(Some(stage));
    }

    /// Ends the last stage.
    pub fn end_stage(&mut self) {
        self.push_mark(None);
    }

    /// Adds a detail to the current stage.
    pub fn add_detail(&mut self, text: &str) {
        if let Some(mark) = self.marks.last_mut() {
            mark.detail = Some(display_line(text).into_owned());
        }
    }

    /// The completed stages in order. Call it after [`ConnectTrace::end_stage`].
    pub fn stages(&self) -> Vec<StageTiming> {
        let pairs = self.marks.iter().zip(self.marks.iter().skip(1));
        let passed = pairs.filter_map(|(mark, next)| {
            let duration = next.at.saturating_duration_since(mark.at);
            Some(StageTiming { stage: mark.stage?, duration, detail: mark.detail.clone() })
        });
        passed.collect()
    }

    /// The process of the server, to watch it during the attempt.
    pub fn process(&self) -> StartedProcess {
        self.process.clone()
    }

    /// The stray output of the process, if one was started.
    pub fn stray_output(&self) -> Option<&StrayRecord> {
        self.strays.as_ref()
    }

    fn push_mark(&mut self, stage: Option<ConnectStage>) {
        self.marks.push(StageMark { stage, at: Instant::now(), detail: None });
    }
}
