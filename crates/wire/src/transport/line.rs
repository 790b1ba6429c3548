//! Messages as lines of a byte stream, in both directions.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::queue::{Outgoing, Queued};
use crate::frame::Lines;
use crate::peer::Inbox;

/// How much is asked for in one read, and how much is written at once.
const READ_BYTES: usize = 64 * 1024;

/// With less room than this a new buffer is taken. Small messages share one: a fresh buffer for each costs more
/// than reading it.
const LEAST_ROOM: usize = 16 * 1024;

/// How many lines are handed on before others get their turn: whoever was answered may write the next request, and the
/// server works on it while the rest is handed on.
const LINES_IN_A_ROW: usize = 16;

/// After a long message the next may be as long, and finds the room that the last one needed. A server that says nothing
/// for so long does not hold it any longer: the list of its tools may have been its longest message ever.
const QUIET: Duration = Duration::from_millis(250);

/// Writes what is queued until the queue ends. Closes the stream at the end.
///
/// # Errors
/// When the stream does not take it; what was written before may have arrived.
pub(super) async fn write(mut outgoing: Outgoing, mut stream: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    while let Some(first) = outgoing.next().await {
        append(&mut buffer, &first);
        let mut written = vec![first];
        // What waits already goes out in the same write.
        while buffer.len() < READ_BYTES
            && let Some(next) = outgoing.waiting()
        {
            append(&mut buffer, &next);
            written.push(next);
        }
        stream.write_all(&buffer).await?;
        stream.flush().await?;
        buffer.clear();
    }
    // The other side sees the end of its input when the stream is dropped, whether or not this works.
    let _closed = stream.shutdown().await;
    Ok(())
}

fn append(buffer: &mut BytesMut, queued: &Queued) {
    buffer.extend_from_slice(&queued.message);
    buffer.extend_from_slice(b"\n");
}

/// Reads lines and delivers them until the stream ends.
pub(super) async fn read(mut stream: impl AsyncRead + Unpin, inbox: &Inbox) {
    let mut lines = Lines::with_limit(inbox.message_limit());
    loop {
        let buffer = lines.buffer();
        if buffer.capacity() - buffer.len() < LEAST_ROOM {
            buffer.reserve(READ_BYTES);
        }
        match fill(&mut stream, &mut lines).await {
            Ok(Some(0)) | Err(_) => break,
            Ok(Some(_)) => {}
            Ok(None) => lines.give_back(),
        }
        let mut in_a_row = 0;
        while let Some(frame) = lines.next() {
            if in_a_row == LINES_IN_A_ROW {
                tokio::task::yield_now().await;
                in_a_row = 0;
            }
            inbox.deliver_frame(frame);
            in_a_row += 1;
        }
    }
    // Half a line is still worth reading: it may name the call it was meant for.
    if let Some(rest) = lines.rest() {
        inbox.deliver(&rest);
    }
}

/// Reads what comes next; nothing when there is room to give back and nothing comes.
async fn fill(stream: &mut (impl AsyncRead + Unpin), lines: &mut Lines) -> io::Result<Option<usize>> {
    if !lines.is_spacious() {
        return stream.read_buf(lines.buffer()).await.map(Some);
    }
    match tokio::time::timeout(QUIET, stream.read_buf(lines.buffer())).await {
        Ok(read) => read.map(Some),
        Err(_) => Ok(None),
    }
}
