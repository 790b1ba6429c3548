//! Messages as lines of a byte stream, in both directions.

use std::io::{self, IoSlice};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::queue::{OutgoingMessages, QueuedMessage};
use crate::frame::LineDecoder;
use crate::message::response_parts::ResponseParts;
use crate::peer::Inbox;

/// Size of one read, and limit of one batched write.
const READ_BYTES: usize = 64 * 1024;

/// Minimal free capacity; below it a new buffer is allocated. Small messages share one: a fresh buffer for
/// each costs more than reading it.
const LEAST_ROOM: usize = 16 * 1024;

/// A message from this size on is written from its own memory; smaller ones are copied into one write.
const LONG_BYTES: usize = 16 * 1024;

/// Lines delivered before other tasks get their turn: a caller that got its response may write the next
/// request, and the server works on it while the rest is delivered.
const LINES_IN_A_ROW: usize = 16;

/// Idle time after which the buffer of a long message is freed. The next message may be as long and reuse it,
/// but the list of tools may also have been the server's longest message ever.
const QUIET: Duration = Duration::from_millis(250);

/// Writes queued messages until the queue ends, then closes the stream.
///
/// # Errors
/// When the stream fails; earlier messages may have arrived.
pub(super) async fn write_lines(
    mut outgoing: OutgoingMessages,
    mut stream: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    let mut written = Vec::new();
    while let Some(first) = outgoing.next().await {
        let mut next = Some(first);
        // Messages that are queued already go out in the same write.
        while let Some(message) = next {
            if message.parts.total_bytes() >= LONG_BYTES {
                let ResponseParts { head, result, tail } = &message.parts;
                write_all_parts(&mut stream, [&buffer, head, result, tail, b"\n"]).await?;
                buffer.clear();
            } else {
                append_line(&mut buffer, &message);
            }
            written.push(message);
            next = if buffer.len() < READ_BYTES { outgoing.try_next() } else { None };
        }
        if !buffer.is_empty() {
            stream.write_all(&buffer).await?;
        }
        stream.flush().await?;
        buffer.clear();
        written.clear();
    }
    // The other side sees the end of its input when the stream is dropped, whether or not this works.
    let _closed = stream.shutdown().await;
    Ok(())
}

fn append_line(buffer: &mut BytesMut, queued: &QueuedMessage) {
    let ResponseParts { head, result, tail } = &queued.parts;
    [head, result, tail].into_iter().for_each(|part| buffer.extend_from_slice(part));
    buffer.extend_from_slice(b"\n");
}

/// Writes all parts, in as few writes as the stream allows.
async fn write_all_parts<const N: usize>(
    stream: &mut (impl AsyncWrite + Unpin),
    parts: [&[u8]; N],
) -> io::Result<()> {
    let mut slices = parts.map(IoSlice::new);
    let mut left = &mut slices[..];
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match stream.write_vectored(left).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => IoSlice::advance_slices(&mut left, count),
        }
    }
    Ok(())
}

/// Reads lines and delivers them until the stream ends.
pub(super) async fn read_lines(mut stream: impl AsyncRead + Unpin, inbox: &Inbox) {
    let mut lines = LineDecoder::with_limit(inbox.message_limit());
    loop {
        let buffer = lines.buffer();
        if buffer.capacity() - buffer.len() < LEAST_ROOM {
            buffer.reserve(READ_BYTES);
        }
        match fill_buffer(&mut stream, &mut lines).await {
            Ok(Some(0)) | Err(_) => break,
            Ok(Some(_)) => {}
            Ok(None) => lines.release_capacity(),
        }
        let mut in_a_row = 0;
        while let Some(frame) = lines.next_frame() {
            if in_a_row == LINES_IN_A_ROW {
                tokio::task::yield_now().await;
                in_a_row = 0;
            }
            inbox.deliver_frame(frame);
            in_a_row += 1;
        }
    }
    // A partial line is still delivered: it may name the call it was meant for.
    if let Some(rest) = lines.take_rest() {
        inbox.deliver_message(&rest);
    }
}

/// Reads the next bytes; `None` when the buffer has capacity to free and the stream is idle.
async fn fill_buffer(
    stream: &mut (impl AsyncRead + Unpin),
    lines: &mut LineDecoder,
) -> io::Result<Option<usize>> {
    if !lines.has_spare_capacity() {
        return stream.read_buf(lines.buffer()).await.map(Some);
    }
    match tokio::time::timeout(QUIET, stream.read_buf(lines.buffer())).await {
        Ok(read) => read.map(Some),
        Err(_) => Ok(None),
    }
}
