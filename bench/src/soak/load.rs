//! Calls at an even rate, whether earlier ones have ended or not.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley::{Block, Call, CallError, Consent, Host, Outcome};
use serde_json::json;
use tokio::task::JoinSet;

use super::chance::Chance;
use super::ending::Ending;
use super::shooter::Wounds;
use super::tally::{Done, Tally};

/// How many calls may be under way, as a multiple of those that begin in a second: longer than any call's limit.
const MOST_SECONDS: u32 = 10;
/// A call that has not ended so long after its limit never will.
const PATIENCE: Duration = Duration::from_secs(30);
/// Before a server that does not answer is asked again.
const PAUSE: Duration = Duration::from_millis(100);
const LIMITS_MS: (u64, u64) = (2000, 5000);
const BIG: u64 = 100_000;

/// What calls are made from.
pub(crate) struct Load {
    pub(crate) host: Host,
    pub(crate) names: Arc<[String]>,
    pub(crate) locals: usize,
    pub(crate) chance: Chance,
}

/// What a call is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Echo,
    Note,
    Fail,
    Work { ms: u64 },
    Big,
}

/// A call that is to be made.
struct Order {
    server: usize,
    name: String,
    tool: Tool,
    token: u64,
    limit: Duration,
    /// Whether the tool is named as the catalogue does, or as its server.
    by_public_name: bool,
}

impl Load {
    /// Calls for as long as it is told, and waits for the last.
    pub(crate) async fn run(&mut self, lasts: Duration, rate: u32, wounds: &Wounds) -> Tally {
        let mut tally = Tally::default();
        let (mut calls, mut token) = (JoinSet::new(), 0);
        let most = (rate * MOST_SECONDS) as usize;
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
        let end = tokio::time::sleep(lasts);
        tokio::pin!(end);
        loop {
            tokio::select! {
                biased;
                () = &mut end => break,
                Some(done) = calls.join_next() => self.take(&mut tally, done, wounds),
                due = ticks.tick() => {
                    tally.late_begun.add(due.elapsed());
                    if calls.len() >= most {
                        tally.held_back += 1;
                        continue;
                    }
                    token += 1;
                    calls.spawn(self.order(token).make(self.host.clone()));
                }
            }
        }
        while let Some(done) = calls.join_next().await {
            self.take(&mut tally, done, wounds);
        }
        tally
    }

    fn take(&self, tally: &mut Tally, done: Result<Done, tokio::task::JoinError>, wounds: &Wounds) {
        match done {
            Ok(done) => tally.add(done, wounds, self.locals),
            Err(panic) => tally.count(Ending::Never, Some(panic.to_string())),
        }
    }

    fn order(&mut self, token: u64) -> Order {
        let chance = &mut self.chance;
        let tool = match chance.below(100) {
            0..55 => Tool::Echo,
            55..80 => Tool::Note,
            80..94 => Tool::Work { ms: 1 + chance.below(50) },
            94..97 => Tool::Big,
            _ => Tool::Fail,
        };
        let server = chance.place(self.names.len());
        Order {
            server,
            name: self.names.get(server).cloned().unwrap_or_default(),
            tool,
            token,
            limit: Duration::from_millis(LIMITS_MS.0 + chance.below(LIMITS_MS.1 - LIMITS_MS.0)),
            by_public_name: chance.below(2) == 0,
        }
    }

    /// Lets every server give its largest answer, so that buffers have their size before anything is measured.
    pub(crate) async fn fill(&self) -> io::Result<()> {
        for server in 0..self.names.len() {
            let Done { ending, said, .. } = self.one(server, Tool::Big).await;
            if !ending.is_success() {
                return Err(io::Error::other(said.unwrap_or_else(|| ending.as_str().to_owned())));
            }
        }
        Ok(())
    }

    /// The servers that do not answer, after each was asked again and again for as long as `patience`.
    pub(crate) async fn missing(&self, patience: Duration) -> Vec<String> {
        let end = Instant::now() + patience;
        let mut missing = Vec::new();
        for (server, name) in self.names.iter().enumerate() {
            while !self.one(server, Tool::Echo).await.ending.is_success() {
                if Instant::now() > end {
                    missing.push(name.clone());
                    break;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        missing
    }

    async fn one(&self, server: usize, tool: Tool) -> Done {
        let name = self.names.get(server).cloned().unwrap_or_default();
        let limit = Duration::from_millis(LIMITS_MS.1);
        Order { server, name, tool, token: 0, limit, by_public_name: true }.make(self.host.clone()).await
    }
}

impl Order {
    async fn make(self, host: Host) -> Done {
        let began = Instant::now();
        let ended = tokio::time::timeout(self.limit + PATIENCE, host.call(self.call())).await;
        let took = began.elapsed();
        let (ending, said) = match &ended {
            Ok(Ok(outcome)) => self.judge(outcome),
            Ok(Err(error)) => (error.into(), Some(told(error))),
            Err(_) => (Ending::Never, Some(format!("{:?} of `{}`", self.tool, self.name))),
        };
        Done { server: self.server, began, took, limit: self.limit, ending, said }
    }

    fn call(&self) -> Call {
        let token = self.token.to_string();
        let arguments = match self.tool {
            Tool::Echo | Tool::Note | Tool::Fail => json!({ "token": token }),
            Tool::Work { ms } => json!({ "token": token, "ms": ms }),
            Tool::Big => json!({ "token": token, "bytes": BIG }),
        };
        let (server, tool) = (self.name.as_str(), self.tool.name());
        let call = match self.by_public_name {
            true => Call::new(&format!("mcp__{server}__{tool}"), arguments),
            false => Call::to(server, tool, arguments).with_consent(Consent::Given),
        };
        call.with_limit(self.limit)
    }

    fn judge(&self, outcome: &Outcome) -> (Ending, Option<String>) {
        let expected = format!("{} {} {}", self.name, self.tool.name(), self.token);
        let text = match outcome.content.first() {
            Some(Block::Text(text)) => text.as_str(),
            Some(_) | None => "",
        };
        let is_right = match self.tool {
            Tool::Big => text.len() == expected.len() + 1 + BIG as usize && text.starts_with(&expected),
            Tool::Echo | Tool::Note | Tool::Fail | Tool::Work { .. } => text == expected,
        };
        let is_failure = self.tool == Tool::Fail;
        match (is_right && outcome.is_error == is_failure, is_failure) {
            (true, false) => (Ending::Answered, None),
            (true, true) => (Ending::ToolFailed, None),
            (false, _) => {
                let came: String = text.chars().take(100).collect();
                (Ending::Wrong, Some(format!("`{came}` instead of `{expected}`")))
            }
        }
    }
}

impl Tool {
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
fn told(error: &CallError) -> String {
    error.to_string().chars().take(200).collect()
}
