//! Makes calls at a constant rate, whether earlier ones have ended or not.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley::permission::Consent;
use mcparley::{Call, CallError, CallOutcome, ContentBlock, Host};
use serde_json::json;
use tokio::task::JoinSet;

use super::chance::SeededRandom;
use super::ending::CallEnding;
use super::shooter::DownTimes;
use super::tally::{CallTally, FinishedCall};

/// The limit of concurrent calls, as a multiple of the calls per second: longer than any call's timeout.
const MOST_SECONDS: u32 = 10;
/// The time after its timeout at which a call counts as never ending.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause before a server that does not answer is called again.
const PAUSE: Duration = Duration::from_millis(100);
const LIMITS_MS: (u64, u64) = (2000, 5000);
const BIG: u64 = 100_000;

/// The load generator.
pub(crate) struct LoadGenerator {
    pub(crate) host: Host,
    pub(crate) names: Arc<[String]>,
    pub(crate) locals: usize,
    pub(crate) chance: SeededRandom,
}

/// The tool of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoadTool {
    Echo,
    Note,
    Fail,
    Work { ms: u64 },
    Big,
}

/// A call to make.
struct LoadCall {
    server: usize,
    name: String,
    tool: LoadTool,
    token: u64,
    limit: Duration,
    /// Whether the tool is called by its public name or by its server's own.
    by_public_name: bool,
}

impl LoadGenerator {
    /// Makes calls for the given duration, and waits for the last to end.
    pub(crate) async fn generate_load(
        &mut self,
        lasts: Duration,
        rate: u32,
        wounds: &DownTimes,
    ) -> CallTally {
        let mut tally = CallTally::default();
        let (mut calls, mut token) = (JoinSet::new(), 0);
        let most = (rate * MOST_SECONDS) as usize;
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
        let end = tokio::time::sleep(lasts);
        tokio::pin!(end);
        loop {
            tokio::select! {
                biased;
                () = &mut end => break,
                Some(done) = calls.join_next() => self.record_call(&mut tally, done, wounds),
                due = ticks.tick() => {
                    tally.late_begun.add_time(due.elapsed());
                    if calls.len() >= most {
                        tally.held_back += 1;
                        continue;
                    }
                    token += 1;
                    calls.spawn(self.next_call(token).make_call(self.host.clone()));
                }
            }
        }
        while let Some(done) = calls.join_next().await {
            self.record_call(&mut tally, done, wounds);
        }
        tally
    }

    fn record_call(
        &self,
        tally: &mut CallTally,
        done: Result<FinishedCall, tokio::task::JoinError>,
        wounds: &DownTimes,
    ) {
        match done {
            Ok(done) => tally.add_call(done, wounds, self.locals),
            Err(panic) => tally.count_ending(CallEnding::Never, Some(panic.to_string())),
        }
    }

    fn next_call(&mut self, token: u64) -> LoadCall {
        let chance = &mut self.chance;
        let tool = match chance.number_below(100) {
            0..55 => LoadTool::Echo,
            55..80 => LoadTool::Note,
            80..94 => LoadTool::Work { ms: 1 + chance.number_below(50) },
            94..97 => LoadTool::Big,
            _ => LoadTool::Fail,
        };
        let server = chance.random_index(self.names.len());
        LoadCall {
            server,
            name: self.names.get(server).cloned().unwrap_or_default(),
            tool,
            token,
            limit: Duration::from_millis(LIMITS_MS.0 + chance.number_below(LIMITS_MS.1 - LIMITS_MS.0)),
            by_public_name: chance.number_below(2) == 0,
        }
    }

    /// Calls every server for its largest answer, so that buffers have their size before the measurement.
    pub(crate) async fn fill_buffers(&self) -> io::Result<()> {
        for server in 0..self.names.len() {
            let FinishedCall { ending, said, .. } = self.call_once(server, LoadTool::Big).await;
            if !ending.is_success() {
                return Err(io::Error::other(said.unwrap_or_else(|| ending.as_str().to_owned())));
            }
        }
        Ok(())
    }

    /// The servers that do not answer, after retries for as long as `patience`.
    pub(crate) async fn find_missing_servers(&self, patience: Duration) -> Vec<String> {
        let end = Instant::now() + patience;
        let mut missing = Vec::new();
        for (server, name) in self.names.iter().enumerate() {
            while !self.call_once(server, LoadTool::Echo).await.ending.is_success() {
                if Instant::now() > end {
                    missing.push(name.clone());
                    break;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        missing
    }

    async fn call_once(&self, server: usize, tool: LoadTool) -> FinishedCall {
        let name = self.names.get(server).cloned().unwrap_or_default();
        let limit = Duration::from_millis(LIMITS_MS.1);
        LoadCall { server, name, tool, token: 0, limit, by_public_name: true }
            .make_call(self.host.clone())
            .await
    }
}

impl LoadCall {
    async fn make_call(self, host: Host) -> FinishedCall {
        let began = Instant::now();
        let ended = tokio::time::timeout(self.limit + PATIENCE, host.call(self.build_call())).await;
        let took = began.elapsed();
        let (ending, said) = match &ended {
            Ok(Ok(outcome)) => self.classify_outcome(outcome),
            Ok(Err(error)) => (error.into(), Some(error_line(error))),
            Err(_) => (CallEnding::Never, Some(format!("{:?} of `{}`", self.tool, self.name))),
        };
        FinishedCall { server: self.server, began, took, limit: self.limit, ending, said }
    }

    fn build_call(&self) -> Call {
        let token = self.token.to_string();
        let arguments = match self.tool {
            LoadTool::Echo | LoadTool::Note | LoadTool::Fail => json!({ "token": token }),
            LoadTool::Work { ms } => json!({ "token": token, "ms": ms }),
            LoadTool::Big => json!({ "token": token, "bytes": BIG }),
        };
        let (server, tool) = (self.name.as_str(), self.tool.name());
        let call = match self.by_public_name {
            true => Call::new(&format!("mcp__{server}__{tool}"), arguments),
            false => Call::on_server(server, tool, arguments).with_consent(Consent::Given),
        };
        call.with_limit(self.limit)
    }

    fn classify_outcome(&self, outcome: &CallOutcome) -> (CallEnding, Option<String>) {
        let expected = format!("{} {} {}", self.name, self.tool.name(), self.token);
        let text = match outcome.content.first() {
            Some(ContentBlock::Text(text)) => text.as_str(),
            Some(_) | None => "",
        };
        let is_right = match self.tool {
            LoadTool::Big => text.len() == expected.len() + 1 + BIG as usize && text.starts_with(&expected),
            LoadTool::Echo | LoadTool::Note | LoadTool::Fail | LoadTool::Work { .. } => text == expected,
        };
        let is_failure = self.tool == LoadTool::Fail;
        match (is_right && outcome.is_error == is_failure, is_failure) {
            (true, false) => (CallEnding::Answered, None),
            (true, true) => (CallEnding::ToolFailed, None),
            (false, _) => {
                let came: String = text.chars().take(100).collect();
                (CallEnding::Wrong, Some(format!("`{came}` instead of `{expected}`")))
            }
        }
    }
}

impl LoadTool {
    fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Note => "note",
            Self::Fail => "fail",
            Self::Work { .. } => "work",
            Self::Big => "big",
        }
    }
}

/// The error as one line of bounded length.
fn error_line(error: &CallError) -> String {
    error.to_string().chars().take(200).collect()
}
