//! One connection to the daemon's socket: its first line, then MCP with a server, or questions about the daemon.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcparley::pool::attach::protocol::{
    ATTACH_PROTOCOL, AttachRequest, AttachedCopy, ClientHello, DaemonLine, HelloHead, RefusalReason,
};
use mcparley_model::limits::ATTACH_LINE_BYTES;
use mcparley_wire::transport::served::serve_client;
use mcparley_wire::transport::stdio::StderrFollower;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::channel::{ChannelClient, serve_channel};
use crate::control::DaemonControl;
use crate::copy_table::GrantedCopy;
use crate::server_copy::{CopyPhase, ServerCopy};
use crate::share_facts::ShareFacts;
use crate::shared_state::DaemonShared;

/// The time for a client to send its first line.
const HELLO_TIME: Duration = Duration::from_secs(5);

/// Serves one connection until it ends.
pub(crate) async fn serve_connection(shared: &Arc<DaemonShared>, stream: UnixStream) {
    // Other users cannot enter the folder of the socket; root can.
    if !stream.peer_cred().is_ok_and(|peer| peer.uid() == shared.owner) {
        return;
    }
    let (input, mut output) = stream.into_split();
    let mut input = BufReader::new(input);
    let hello = match tokio::time::timeout(HELLO_TIME, read_hello(&mut input)).await {
        Ok(Ok(hello)) => hello,
        Ok(Err(_)) => return refuse_client(shared, &mut output, RefusalReason::Malformed).await,
        Err(_) => return,
    };
    let (head, line) = hello;
    if head.is_control() {
        if send_line(&mut output, &welcome_line()).await.is_ok() {
            serve_client(input, output, Arc::new(DaemonControl::new(shared))).await;
        }
        return;
    }
    if head.is_newer_than(env!("CARGO_PKG_VERSION")) {
        // A newer program is installed: it starts its own daemon once this one has no more clients.
        shared.begin_drain();
    }
    let refused = match serde_json::from_slice(&line) {
        _ if head.wire != ATTACH_PROTOCOL => RefusalReason::Wire,
        Ok(ClientHello::Attach(_)) if shared.is_draining() => RefusalReason::Draining,
        Ok(ClientHello::Attach(request)) => return attach_client(shared, *request, input, output).await,
        Ok(ClientHello::Control { .. }) | Err(_) => RefusalReason::Malformed,
    };
    refuse_client(shared, &mut output, refused).await;
}

/// Refuses a client because there are too many, without waiting for it.
pub(crate) fn refuse_at_limit(stream: &UnixStream) {
    let line = DaemonLine::Refused { reason: RefusalReason::Full };
    let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
    bytes.push(b'\n');
    // A new stream has room for the line.
    let _gone = stream.try_write(&bytes);
}

/// Gives a client its server, and serves it.
async fn attach_client(
    shared: &Arc<DaemonShared>,
    request: AttachRequest,
    mut input: BufReader<OwnedReadHalf>,
    mut output: OwnedWriteHalf,
) {
    let Some(facts) = ShareFacts::from_request(&request).map(Arc::new) else {
        return refuse_client(shared, &mut output, RefusalReason::Malformed).await;
    };
    if send_line(&mut output, &welcome_line()).await.is_err() {
        return;
    }
    let _client = shared.count_client();
    let starting = async {
        let granted = shared.table.copy_for(request, &facts).await;
        let stderr = report_start(&granted, &mut output).await;
        (granted, stderr)
    };
    // A client that leaves while its server starts does not wait for it any more.
    let (granted, stderr) = tokio::select! {
        started = starting => started,
        () = wait_until_gone(&mut input) => return,
    };
    let GrantedCopy { copy, mut usage, client, .. } = granted;
    let lists = copy.surface_digest();
    let line = match &*copy.follow_phase().borrow() {
        CopyPhase::Ready(_) => DaemonLine::Attached(AttachedCopy {
            copy: copy.number,
            process: copy.hosted.process.id(),
            logs: *usage.logs.borrow_and_update(),
            lists: lists.clone(),
        }),
        CopyPhase::Failed(reason) => DaemonLine::Failed { reason: reason.to_string() },
        CopyPhase::Starting | CopyPhase::Ended(_) => DaemonLine::Failed { reason: "it has ended".to_owned() },
    };
    let is_attached = matches!(line, DaemonLine::Attached(_));
    if send_line(&mut output, &line).await.is_ok() && is_attached {
        let (table, logs) = (Arc::clone(&shared.table), usage.logs.clone());
        let client = ChannelClient { id: client, facts, table, stderr, logs, lists };
        serve_channel(&copy, client, input, output).await;
    }
}

/// Reports the start of a server to the client that waits for it: its process and its standard error.
async fn report_start(granted: &GrantedCopy, output: &mut OwnedWriteHalf) -> Option<StderrFollower> {
    let copy = &granted.copy;
    let mut starts = copy.hosted.process.follow_starts();
    let mut stderr = None;
    tokio::select! {
        () = copy.wait_until_ready() => {}
        // The client may have gone, which is noticed elsewhere.
        _ = send_start(copy, &mut starts, output, &mut stderr) => std::future::pending::<()>().await,
    }
    let mut stderr = stderr.or_else(|| Some(copy.hosted.process.stderr_record()?.follow()));
    if !granted.is_new {
        stderr.as_mut().into_iter().for_each(StderrFollower::skip_to_end);
    } else if let Some(text) = stderr.as_mut().and_then(StderrFollower::take_new) {
        let _gone = send_line(output, &DaemonLine::Stderr { text }).await;
    }
    stderr
}

/// Sends the process id and the standard error of each process that is started, until the client is gone.
async fn send_start(
    copy: &ServerCopy,
    starts: &mut tokio::sync::watch::Receiver<u64>,
    output: &mut OwnedWriteHalf,
    follower: &mut Option<StderrFollower>,
) -> io::Result<()> {
    loop {
        if *starts.borrow_and_update() > 0
            && let (Some(process), Some(stderr)) =
                (copy.hosted.process.id(), copy.hosted.process.stderr_record())
        {
            send_line(output, &DaemonLine::Started { process }).await?;
            *follower = Some(stderr.follow());
        }
        let said = async {
            match follower.as_mut() {
                Some(stderr) => stderr.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // The sender lives as long as the copy.
            _ = starts.changed() => {}
            text = said => send_line(output, &DaemonLine::Stderr { text }).await?,
        }
    }
}

/// Waits until the client has closed its stream. A client sends nothing before it is attached.
async fn wait_until_gone(input: &mut BufReader<OwnedReadHalf>) {
    if input.fill_buf().await.is_ok_and(|bytes| !bytes.is_empty()) {
        std::future::pending::<()>().await;
    }
}

async fn refuse_client(shared: &DaemonShared, output: &mut OwnedWriteHalf, reason: RefusalReason) {
    // A client that is gone needs no reason.
    let _gone = send_line(output, &DaemonLine::Refused { reason }).await;
    shared.log.record_event(format!("refused a client, because {}", reason.as_str())).await;
}

fn welcome_line() -> DaemonLine {
    DaemonLine::Welcome { wire: ATTACH_PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned() }
}

async fn send_line(output: &mut OwnedWriteHalf, line: &DaemonLine) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    output.write_all(&bytes).await
}

/// Reads the first line: the part that never changes, and the whole.
async fn read_hello(input: &mut BufReader<OwnedReadHalf>) -> io::Result<(HelloHead, Vec<u8>)> {
    let mut line = Vec::new();
    input.take(ATTACH_LINE_BYTES).read_until(b'\n', &mut line).await?;
    Ok((serde_json::from_slice(&line)?, line))
}
