//! What was tried on the way to a server, and how long each part of it took.
//!
//! Written while a server is reached and read when that is over, however it ended.

use std::time::{Duration, Instant};

use mcparley_model::text::display;
use mcparley_wire::handshake::Step;
use mcparley_wire::peer::StrayRecord;
use serde::{Serialize, Serializer};

use super::StartedProcess;

/// A part of the way to a server and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Stage {
    /// Its program is looked for.
    Find,
    /// The address of its host is asked for.
    Resolve,
    /// Its port is knocked at.
    Reach,
    /// It is started, or made ready to be talked to.
    Open,
    /// It is asked in the new way, `server/discover`.
    Probe,
    /// It is greeted in the old way, `initialize`.
    Greet,
    /// It is started again, because it ended with the first question.
    Reopen,
    /// The transport of 2024-11-05 is tried.
    Legacy,
    /// It is asked for its tools, prompts and resources.
    List,
    /// It is let go.
    Close,
}

impl Stage {
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

    /// The word `--json` has for it.
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

impl From<Step> for Stage {
    fn from(step: Step) -> Self {
        match step {
            Step::Open => Self::Open,
            Step::Probe => Self::Probe,
            Step::Greet => Self::Greet,
            Step::Reopen => Self::Reopen,
            Step::Legacy => Self::Legacy,
        }
    }
}

/// A part of the way that lies behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Passed {
    /// Which part.
    pub stage: Stage,
    /// How long it took.
    #[serde(rename = "milliseconds", serialize_with = "milliseconds")]
    pub took: Duration,
    /// What was found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// A time as `--json` has it.
pub(crate) fn milliseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// Keeps what was tried.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    marks: Vec<Mark>,
    /// What the process started last wrote to its standard output that was no message.
    pub(super) strays: Option<StrayRecord>,
    /// The process started last.
    pub(super) process: StartedProcess,
}

#[derive(Debug)]
struct Mark {
    stage: Option<Stage>,
    at: Instant,
    found: Option<String>,
}

impl Trace {
    /// A trace whose process others watch.
    pub(crate) fn of_process(process: StartedProcess) -> Self {
        Self { process, ..Self::default() }
    }

    /// From now on this is tried.
    pub(crate) fn begin(&mut self, stage: Stage) {
        self.mark(Some(stage));
    }

    /// What was tried last is over.
    pub(crate) fn end(&mut self) {
        self.mark(None);
    }

    /// Something about what is tried now.
    pub(crate) fn found(&mut self, text: &str) {
        if let Some(mark) = self.marks.last_mut() {
            mark.found = Some(display(text).into_owned());
        }
    }

    /// What was tried, the first first. Read after [`Trace::end`].
    pub(crate) fn passed(&self) -> Vec<Passed> {
        let pairs = self.marks.iter().zip(self.marks.iter().skip(1));
        let passed = pairs.filter_map(|(mark, next)| {
            let took = next.at.saturating_duration_since(mark.at);
            Some(Passed { stage: mark.stage?, took, found: mark.found.clone() })
        });
        passed.collect()
    }

    /// The process of the server, to be watched while it is reached.
    pub(crate) fn process(&self) -> StartedProcess {
        self.process.clone()
    }

    pub(crate) fn strays(&self) -> Option<&StrayRecord> {
        self.strays.as_ref()
    }

    fn mark(&mut self, stage: Option<Stage>) {
        self.marks.push(Mark { stage, at: Instant::now(), found: None });
    }
}
