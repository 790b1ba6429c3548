//! Resumes a stream of another gateway: from that gateway while it runs, or else from the log of its broken connection.

use std::sync::Arc;

use mcparley_cluster::{LogPosition, SharedStoreError};
use mcparley_wire::served_message::ResponseParts;
use mcparley_wire::{INTERNAL, RawJson, RpcError};

use crate::event_stream::{DoorStream, EventId};
use crate::guard::refusal::RequestRefusal;
use crate::http_session::HttpSession;
use mcparley_gateway::cluster_link::ClusterLink;
use mcparley_gateway::cluster_link::forwarding::{OwnedStream, OwnerSign, RequestAtOwner};
use mcparley_gateway::cluster_link::messages::{LoggedEntry, OwnerReply};

/// The mirror of a stream of another gateway. `None` if no gateway has its events.
pub(crate) async fn resume_elsewhere(
    session: &Arc<HttpSession>,
    last: &EventId,
    request: &RawJson,
) -> Result<Option<Arc<DoorStream>>, RequestRefusal> {
    let (Some(link), Some(http)) =
        (session.session.serving_gateway().cluster(), session.session.http_identity())
    else {
        return Ok(None);
    };
    let owner = DoorStream::gateway_of(last.stream);
    if owner == link.instance() {
        return Ok(None);
    }
    let stream = OwnedStream {
        owner,
        principal: &session.principal,
        view: session.session.view_name(),
        session: &session.id,
        stream: last.stream,
        after: last.event,
    };
    let at_owner = link.resume_at_owner(stream).await.map_err(|_| RequestRefusal::unreachable())?;
    let mirror = Arc::new(DoorStream::mirror_of(last.stream, Some(request), last.event));
    match at_owner {
        Some(at_owner) if at_owner.is_over() => Ok(None),
        Some(at_owner) => {
            let (mirror, request) = (Arc::clone(&mirror), request.clone());
            let written = Arc::clone(&mirror);
            // Ends with the mirror, which its session closes.
            tokio::spawn(async move { follow_owner(at_owner, &written, &request).await });
            Ok(Some(mirror))
        }
        None => {
            let entries = read_log(link, &http.key, last.stream).await;
            let entries = entries.map_err(|_| RequestRefusal::unreachable())?;
            Ok(replay_log(entries, &mirror, request).then_some(mirror))
        }
    }
}

/// Copies the events of the owner into the mirror, until the stream ends or its client is gone.
async fn follow_owner(mut at_owner: RequestAtOwner, mirror: &DoorStream, request: &RawJson) {
    loop {
        let sign = tokio::select! {
            sign = at_owner.next_sign() => sign,
            () = mirror.wait_until_gone() => return,
        };
        match sign {
            Ok(OwnerSign::Reply(OwnerReply::Event(entry))) => {
                if mirror.push_entry(&entry).is_err() {
                    return push_lost_response(mirror, request);
                }
            }
            Ok(OwnerSign::Reply(OwnerReply::End)) => return mirror.end(),
            Ok(OwnerSign::Reply(_)) => {}
            Ok(OwnerSign::Gone) | Err(_) => return push_lost_response(mirror, request),
        }
    }
}

/// Reads a log to its end: it may have more entries than one read returns.
async fn read_log(
    link: &ClusterLink,
    session: &str,
    stream: u64,
) -> Result<Vec<LoggedEntry>, SharedStoreError> {
    let log = link.member.keys().event_log(session, stream);
    let (mut entries, mut after) = (Vec::new(), LogPosition::start());
    loop {
        let read = link.member.store().read_logs(vec![(log.clone(), after)], None).await?;
        let Some(last) = read.last() else { return Ok(entries) };
        after = last.position.clone();
        entries.extend(read.into_iter().filter_map(|entry| link.open_message(&entry.content)));
    }
}

/// Fills the mirror of a stream of a dead gateway. Returns whether the log goes on where the client stopped.
fn replay_log(entries: Vec<LoggedEntry>, mirror: &DoorStream, request: &RawJson) -> bool {
    if entries.is_empty() {
        return false;
    }
    for entry in entries {
        match entry {
            LoggedEntry::Event(entry) => {
                if mirror.push_entry(&entry).is_err() {
                    return false;
                }
            }
            LoggedEntry::End => {
                mirror.end();
                return true;
            }
        }
    }
    push_lost_response(mirror, request);
    true
}

/// Ends a stream with the answer that the outcome of its request is unknown.
pub(crate) fn push_lost_response(stream: &DoorStream, request: &RawJson) {
    let error = RpcError::new(INTERNAL, "outcome unknown: the events of this request are gone");
    stream.push_response(ResponseParts::new(request, &Err(error)));
    stream.end();
}

#[cfg(test)]
mod tests;
