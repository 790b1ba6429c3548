//! `mcparley-bench-echo --name NAME --era old|new [--port N]`: a server whose every message carries the nonce
//! of its call.
//!
//! With a port it speaks Streamable HTTP on loopback, otherwise MCP on its standard streams. Either way it
//! exits at the end of its standard input. A message that reaches the wrong client is noticed by its nonce.
//!
//! | part | module |
//! |---|---|
//! | the tools: `echo`, `ask` and `work` | [`tools`] |
//! | Streamable HTTP | [`http`] |

mod http;
mod tools;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use tools::{EchoEra, EchoServer, MessageOutput};

const USAGE: &str = "usage: mcparley-bench-echo --name NAME --era old|new [--port N]";

fn main() -> io::Result<()> {
    let (server, port) = parse_arguments().ok_or_else(|| io::Error::other(USAGE))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match port {
            Some(port) => http::serve_http(Arc::new(server), port).await,
            None => serve_stdio(Arc::new(server)).await,
        }
    })
}

fn parse_arguments() -> Option<(EchoServer, Option<u16>)> {
    let (mut name, mut era, mut port) = (None, None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next()?;
        match (option.as_str(), value.as_str()) {
            ("--name", _) => name = Some(value),
            ("--era", "old") => era = Some(EchoEra::Old),
            ("--era", "new") => era = Some(EchoEra::New),
            ("--port", _) => port = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    Some((EchoServer::new(name?, era?), port))
}

/// Serves on the standard streams; every request has a task of its own.
async fn serve_stdio(server: Arc<EchoServer>) -> io::Result<()> {
    let (output, mut lines) = mpsc::unbounded_channel::<Value>();
    tokio::spawn(async move {
        let mut stdout = tokio::io::stdout();
        while let Some(message) = lines.recv().await {
            let mut text = format!("{message}\n");
            while let Ok(more) = lines.try_recv() {
                text += &format!("{more}\n");
            }
            stdout.write_all(text.as_bytes()).await?;
            stdout.flush().await?;
        }
        io::Result::Ok(())
    });
    let mut running: HashMap<String, AbortHandle> = HashMap::new();
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = input.next_line().await? {
        let message: Value = serde_json::from_str(&line)?;
        if let Some(canceled) = tools::canceled_id(&message) {
            if let Some(task) = running.remove(&canceled) {
                task.abort();
            }
            continue;
        }
        let id = message.get("id").map(Value::to_string);
        let (server, output) = (Arc::clone(&server), MessageOutput::new(output.clone()));
        let task = tokio::spawn(async move {
            if let Some(answer) = server.answer_message(&message, &output).await {
                output.send_message(answer);
            }
        });
        if let Some(id) = id {
            running.retain(|_, task| !task.is_finished());
            running.insert(id, task.abort_handle());
        }
    }
    Ok(())
}
