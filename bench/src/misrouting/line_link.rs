//! The connection of a client on pipes: one JSON message per line.

use std::io;

use mcparley_gateway::{Gateway, serve};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;

const PIPE_BYTES: usize = 64 * 1024;

/// A connection on pipes. Dropping it hangs up.
#[derive(Debug)]
pub(crate) struct LineLink {
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
    serving: JoinHandle<()>,
}

impl LineLink {
    pub(crate) fn open_line(gateway: &Gateway) -> Self {
        let (input, theirs) = tokio::io::duplex(PIPE_BYTES);
        let (ours, output) = tokio::io::duplex(PIPE_BYTES);
        let gateway = gateway.clone();
        let serving = tokio::spawn(async move { serve(&gateway, theirs, ours).await });
        Self { input, output: BufReader::new(output).lines(), serving }
    }

    pub(crate) async fn send_line(&mut self, message: &Value) -> io::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes()).await
    }

    pub(crate) async fn receive_line(&mut self) -> io::Result<Value> {
        let line = self.output.next_line().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(serde_json::from_str(&line)?)
    }

    /// Closes the input, and waits until the gateway has ended the session.
    pub(crate) async fn close_line(self) {
        let Self { input, output, serving } = self;
        drop(input);
        drop(output);
        let _ended = serving.await;
    }
}
