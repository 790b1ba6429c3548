//! The link of a client to the gateway: two byte streams, or HTTP.

use mcparley_gateway::{Gateway, serve};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;

use crate::http_link::HttpLink;

/// The link of a client.
pub(crate) enum ClientLink {
    Streams(StreamLink),
    Http(Box<HttpLink>),
}

/// Two byte streams, one message on each line.
pub(crate) struct StreamLink {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    served: JoinHandle<()>,
}

impl ClientLink {
    pub(crate) fn over_streams(gateway: &Gateway) -> Self {
        let (input, theirs) = tokio::io::duplex(1024 * 1024);
        let (ours, output) = tokio::io::duplex(1024 * 1024);
        let gateway = gateway.clone();
        let served = tokio::spawn(async move { serve(&gateway, theirs, ours).await });
        Self::Streams(StreamLink { input: Some(input), output: BufReader::new(output).lines(), served })
    }

    /// Sends a message as it is.
    pub(crate) async fn send(&mut self, message: &[u8]) {
        match self {
            Self::Streams(link) => {
                let input = link.input.as_mut().unwrap();
                input.write_all(message).await.unwrap();
                input.write_all(b"\n").await.unwrap();
            }
            Self::Http(link) => link.send(message).await,
        }
    }

    /// The next message, or nothing at the end.
    pub(crate) async fn next_message(&mut self) -> Option<String> {
        match self {
            Self::Streams(link) => link.output.next_line().await.unwrap(),
            Self::Http(link) => link.next_message().await,
        }
    }

    /// Closes the stream of a request, where that cancels it; returns whether it does.
    pub(crate) fn close_stream(&mut self, id: &Value) -> bool {
        match self {
            Self::Streams(_) => false,
            Self::Http(link) => link.close_stream(id),
        }
    }

    /// Says that nothing more comes.
    pub(crate) fn end_input(&mut self) {
        if let Self::Streams(link) = self {
            drop(link.input.take());
        }
    }

    /// Hangs up, and waits until the gateway has understood.
    pub(crate) async fn hang_up(mut self) {
        self.end_input();
        if let Self::Streams(link) = &mut self {
            (&mut link.served).await.unwrap();
        }
    }
}

impl Drop for StreamLink {
    fn drop(&mut self) {
        self.served.abort();
    }
}
