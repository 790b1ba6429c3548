//! Serves the other gateways of a cluster: requests that this gateway owns, streams that clients resume elsewhere,
//! answers of clients, and news about sessions.
//!
//! A message is trusted because it opens with the seal of the cluster: its sender has checked the client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley::pool::principal::ClientIdentity;
use mcparley_cluster::{InstanceId, MailboxMessage, MemberStatus};
use mcparley_model::limits::CLUSTER_BEAT;
use mcparley_wire::peer::Handler as _;
use mcparley_wire::{Cause, INVALID_PARAMS, Id, Incoming, JsonPieces, Replies, RpcError};
use tokio::task::AbortHandle;

use crate::doors::DoorShared;
use crate::event_stream::{DoorStream, StreamKind};
use crate::http_session::HttpSession;
use crate::mcp::apply_notice;
use crate::question::StreamSink;
use mcparley_gateway::cluster_link::ClusterLink;
use mcparley_gateway::cluster_link::messages::{
    ClusterMessage, ClusterNews, ForwardedAnswer, ForwardedRequest, ForwardedResume, OwnerReply,
    RequestOutcome, to_raw_json,
};

/// The requests of other gateways that run here.
#[derive(Debug, Default)]
struct ServedRequests(Mutex<HashMap<(InstanceId, u64), AbortHandle>>);

/// A served request in the table, until it is dropped.
struct ServedEntry {
    served: Arc<ServedRequests>,
    key: (InstanceId, u64),
}

/// Handles the messages of other gateways. Never returns.
pub(crate) async fn handle_messages(shared: Arc<DoorShared>, link: Arc<ClusterLink>) {
    let Some(mut mailbox) = link.take_mailbox() else { return };
    let served = Arc::<ServedRequests>::default();
    loop {
        for message in mailbox.receive_messages().await {
            match message {
                MailboxMessage::Direct(sealed) => match link.open_message(&sealed) {
                    Some(message) => handle_message(&shared, &link, &served, message),
                    None => tracing::warn!("a message in the mailbox was not sealed by this cluster"),
                },
                MailboxMessage::News(sealed) => {
                    if let Some(news) = link.open_message(&sealed) {
                        handle_news(&shared, &link, news);
                    }
                }
            }
        }
    }
}

fn handle_message(
    shared: &Arc<DoorShared>,
    link: &Arc<ClusterLink>,
    served: &Arc<ServedRequests>,
    message: ClusterMessage,
) {
    match message {
        ClusterMessage::Request(request) => {
            let (shared, link) = (Arc::clone(shared), Arc::clone(link));
            let key = (request.from, request.number);
            served.run_task(key, async move { serve_request(&shared, &link, request).await });
        }
        ClusterMessage::Resume(resume) => {
            let (shared, link) = (Arc::clone(shared), Arc::clone(link));
            let key = (resume.from, resume.number);
            served.run_task(key, async move { serve_stream(&shared, &link, resume).await });
        }
        ClusterMessage::Cancel { from, number } => served.cancel_task(&(from, number)),
        ClusterMessage::Answer(ForwardedAnswer { principal, view, session, question, outcome }) => {
            let session = find_old_session(shared, (&principal, view.as_deref()), &session);
            if let Some(session) = session {
                session.questions.answer_question(&Id::Number(question), outcome.into_result());
            }
        }
        ClusterMessage::Reply { number, reply } => link.deliver_reply(number, reply),
    }
}

fn handle_news(shared: &Arc<DoorShared>, link: &Arc<ClusterLink>, news: ClusterNews) {
    match news {
        ClusterNews::Deleted { session } => {
            shared.endpoints.iter().for_each(|endpoint| endpoint.sessions.delete_by_key(&session));
        }
        ClusterNews::Changed { from, session } if from != link.instance() => {
            // A session that is not loaded yet gets all values when it is.
            if let Some(session) = shared.endpoints.find_session_by_key(&session)
                && session.loaded.initialized()
            {
                tokio::spawn(async move { session.session.reload_values().await });
            }
        }
        ClusterNews::Notice { from, session, method, params } if from != link.instance() => {
            if let Some(session) = shared.endpoints.find_session_by_key(&session) {
                let params = params.map(|params| to_raw_json(&params));
                apply_notice(&session, method.into(), params);
            }
        }
        ClusterNews::Changed { .. } | ClusterNews::Notice { .. } => {}
    }
}

/// Answers a request of another gateway's client, with the messages of its stream.
async fn serve_request(shared: &Arc<DoorShared>, link: &Arc<ClusterLink>, request: ForwardedRequest) {
    let ForwardedRequest { from, number, principal, view, session, id, method, params } = request;
    let reply = |reply: OwnerReply| link.send_later(from, &ClusterMessage::Reply { number, reply });
    reply(OwnerReply::Accepted);
    let params = params.map(|params| to_raw_json(&params));
    let client = (&*principal, view.as_deref());
    let found = match session {
        Some(id) => find_old_session(shared, client, &id)
            .map(|session| (session.session.clone(), Some(Arc::clone(&session.questions)))),
        None => shared.endpoints.find_endpoint(client.1).map(|endpoint| {
            let identity = Arc::new(ClientIdentity::new(&principal));
            (endpoint.sessions.principal_session(&identity, &method, params.as_ref()), None)
        }),
    };
    let Some((session, questions)) = found else {
        let error = RpcError::new(INVALID_PARAMS, "the session has ended");
        return reply(OwnerReply::Answer(RequestOutcome::from_result(&Err(error))));
    };
    let stream = Arc::new(DoorStream::new(StreamKind::Bound, None));
    let reader = stream.attach_reader();
    let sink = StreamSink { stream: Arc::clone(&stream), questions, needs_reader: false };
    let (id, replies) = (to_raw_json(&id), Replies::new(Arc::new(sink)));
    let incoming = Incoming { id, method: method.into(), params, cause: Cause::Connection, replies };
    let mut answer = session.handle_request_in_pieces(incoming);
    loop {
        tokio::select! {
            // First, so that the answer comes after the messages before it.
            biased;
            Some(entry) = stream.next_entry(reader) => {
                if let Some(message) = entry.message {
                    reply(OwnerReply::Message(message));
                }
            }
            outcome = &mut answer => {
                let outcome = outcome.map(JsonPieces::into_json);
                return reply(OwnerReply::Answer(RequestOutcome::from_result(&outcome)));
            }
            () = wait_until_gone(link, from) => return,
        }
    }
}

/// The session of a principal at the main endpoint or a view.
fn find_old_session(
    shared: &DoorShared,
    (principal, view): (&str, Option<&str>),
    id: &str,
) -> Option<Arc<HttpSession>> {
    let identity = Arc::new(ClientIdentity::new(principal));
    shared.endpoints.find_endpoint(view)?.sessions.find_session(id, &identity).ok()
}

/// Sends the events of a stream to another gateway, where its client reads on.
async fn serve_stream(shared: &Arc<DoorShared>, link: &Arc<ClusterLink>, resume: ForwardedResume) {
    let ForwardedResume { from, number, principal, view, session, stream, after } = resume;
    let reply = |reply: OwnerReply| link.send_later(from, &ClusterMessage::Reply { number, reply });
    let session = find_old_session(shared, (&principal, view.as_deref()), &session);
    let stream = session.and_then(|session| session.find_stream(stream));
    let attached = stream.and_then(|stream| Some((stream.attach_reader_after(after).ok()?, stream)));
    let Some((reader, stream)) = attached else { return reply(OwnerReply::Unknown) };
    let _attached = AttachedReader { stream: Arc::clone(&stream), reader };
    reply(OwnerReply::Accepted);
    loop {
        tokio::select! {
            entry = stream.next_entry(reader) => match entry {
                Some(entry) => reply(OwnerReply::Event(entry)),
                None => return reply(OwnerReply::End),
            },
            () = wait_until_gone(link, from) => return,
        }
    }
}

/// Waits until another gateway is gone.
async fn wait_until_gone(link: &ClusterLink, other: InstanceId) {
    loop {
        tokio::time::sleep(CLUSTER_BEAT).await;
        if link.member.find_status(other).await == MemberStatus::Gone {
            return;
        }
    }
}

/// A reader of a stream, detached when it is dropped.
struct AttachedReader {
    stream: Arc<DoorStream>,
    reader: u64,
}

impl Drop for AttachedReader {
    fn drop(&mut self) {
        self.stream.detach_reader(self.reader);
    }
}

impl ServedRequests {
    /// Runs a request in a task of its own. A message that was sent twice is served once.
    fn run_task(self: &Arc<Self>, key: (InstanceId, u64), work: impl Future<Output = ()> + Send + 'static) {
        let mut served = self.lock_served();
        if served.contains_key(&key) {
            return;
        }
        let entry = ServedEntry { served: Arc::clone(self), key };
        let task = tokio::spawn(async move {
            let _entry = entry;
            work.await;
        });
        served.insert(key, task.abort_handle());
    }

    fn cancel_task(&self, key: &(InstanceId, u64)) {
        let task = self.lock_served().remove(key);
        if let Some(task) = task {
            task.abort();
        }
    }

    fn lock_served(&self) -> MutexGuard<'_, HashMap<(InstanceId, u64), AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ServedEntry {
    fn drop(&mut self) {
        self.served.lock_served().remove(&self.key);
    }
}
