//! Starts the scripted model server for a test.
//!
//! A script is `{ "turns": [ … ] }`; each request to the model takes the next turn:
//!
//! | member | meaning |
//! |---|---|
//! | `text` | the text of the answer, streamed in several pieces |
//! | `calls` | tool calls: `[{ "name": …, "arguments": { … } }]` |
//! | `stop` | another stop reason than the usual one |
//! | `thinking` | a thinking block before the answer, which has to come back (Anthropic) |
//! | `expect` | texts that the request must contain, or it is rejected |
//! | `capture` | `{ "NAME": { "after": …, "before": … } }`: finds a text in the request; `${NAME}` in this and later turns stands for it |
//! | `status`, `headers`, `error` | an error response: `{ "type": …, "message": … }` |
//! | `error_event` | an error inside of the stream, after the text |
//! | `break` | closes the connection after the text |
//! | `repeat` | sends the text this many times |
//! | `hang` | sends the text and then nothing, until the client leaves |

use crate::binary::testkit_path;
use crate::browser::Browser;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// A running scripted model server, killed when dropped. It speaks the Anthropic, OpenAI and Gemini APIs on
/// their usual paths, and rejects requests that violate the documented schema.
#[derive(Debug)]
pub struct ModelServer {
    child: Child,
    /// The open stdin of the server, at whose end it exits.
    _stdin: ChildStdin,
    url: String,
}

impl ModelServer {
    /// Starts a server that plays these turns.
    ///
    /// # Panics
    ///
    /// If the server does not start.
    #[expect(clippy::expect_used, reason = "a test without its server cannot say anything else")]
    pub fn start(turns: &Value) -> Self {
        Self::try_start(turns, &[]).expect("the scripted model server starts")
    }

    /// Starts a server like [`ModelServer::start`] that reports invalid requests without rejecting them, and
    /// answers requests without tools with a short text. For programs of others.
    ///
    /// # Panics
    ///
    /// If the server does not start.
    #[expect(clippy::expect_used, reason = "a test without its server cannot say anything else")]
    pub fn start_lenient(turns: &Value) -> Self {
        Self::try_start(turns, &["--lenient"]).expect("the scripted model server starts")
    }

    #[expect(clippy::disallowed_methods, reason = "it is killed on drop, and ends with its input")]
    fn try_start(turns: &Value, options: &[&str]) -> io::Result<Self> {
        let mut command = Command::new(testkit_path());
        command.args(["model", "--script", "-"]).args(options);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        writeln!(stdin, "{}", serde_json::json!({ "turns": turns }))?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        match line.trim_end().strip_prefix("listening ") {
            Some(url) => Ok(Self { child, _stdin: stdin, url: url.to_owned() }),
            None => Err(io::Error::other(format!("not listening: `{line}`"))),
        }
    }

    /// The address, `http://127.0.0.1:<port>`: the base URL of the Anthropic and Gemini APIs. That of the
    /// OpenAI API is `/v1` below it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// All requests so far: `path`, `headers`, `body` and `problems` of each.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    #[expect(clippy::expect_used, reason = "requests that cannot be had must fail the test")]
    pub fn requests(&self) -> Vec<Value> {
        let page = Browser::new().send("GET", &format!("{}/requests", self.url), &[], "");
        serde_json::from_str(&page.text()).expect("the requests are JSON")
    }

    /// The bodies of all requests so far.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub fn bodies(&self) -> Vec<Value> {
        self.requests().into_iter().map(|mut request| request["body"].take()).collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // Killing a process that has already exited fails, which is fine.
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}
