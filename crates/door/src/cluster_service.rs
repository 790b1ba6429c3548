//! Serves the other gateways of a cluster: requests that this gateway owns, streams that clients resume elsewhere,
//! answers of clients, and news about sessions.
//!
//! A message is trusted because it opens with the seal of the cluster: its sender has checked the client.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcparley::auth::CallbackReply;
use mcparley::pool::principal::ClientIdentity;
use mcparley_cluster::{InstanceId, MailboxMessage, MemberStatus};
use mcparley_model::limits::CLUSTER_BEAT;
use mcparley_wire::peer::Handler as _;
use mcparley_wire::{Cause, INVALID_PARAMS, Id, Incoming, JsonPieces, RawJson, Replies, RpcError};
use tokio::task::{AbortHandle, JoinSet};

use crate::event_stream::{DoorStream, StreamKind};
use crate::http_session::HttpSession;
use crate::mcp::apply_notice;
use crate::question::StreamSink;
use crate::shared::DoorShared;
use mcparley_gateway::cluster_link::messages::{
    ClusterMessage, ClusterNews, ForwardedAnswer, ForwardedRedirect, ForwardedRequest, ForwardedResume,
    OwnerReply, RequestOutcome, to_raw_json,
};
use mcparley_gateway::cluster_link::{ClusterLink, unreachable_error};

/// The work for other gateways that runs here. It ends with this value.
#[derive(Debug, Default)]
struct ServedRequests {
    running: HashMap<(InstanceId, u64), AbortHandle>,
    tasks: JoinSet<()>,
}

/// Work for another gateway, counted until it is dropped: a gateway that stops waits for it.
struct ServedEntry(Arc<DoorShared>);

/// Handles the messages of other gateways. Never returns.
pub(crate) async fn handle_messages(shared: Arc<DoorShared>, link: Arc<ClusterLink>) {
    let Some(mut mailbox) = link.take_mailbox() else { return };
    let mut served = ServedRequests::default();
    loop {
        for message in mailbox.receive_messages().await {
            match message {
                MailboxMessage::Direct(sealed) => match link.open_message(&sealed) {
                    Some(message) => handle_message(&shared, &link, &mut served, message),
                    None => tracing::warn!("a message in the mailbox was not sealed by this cluster"),
                },
                MailboxMessage::News(sealed) => {
                    if let Some(news) = link.open_message(&sealed) {
                        handle_news(&shared, &link, &mut served, news);
                    }
                }
            }
        }
    }
}

fn handle_message(
    shared: &Arc<DoorShared>,
    link: &Arc<ClusterLink>,
    served: &mut ServedRequests,
    message: ClusterMessage,
) {
    let (entry, link) = (|| ServedEntry::new(shared), Arc::clone(link));
    match message {
        ClusterMessage::Request(request) if shared.is_draining() => {
            let outcome = RequestOutcome::from_result(&Err(unreachable_error()));
            let (number, reply) = (request.number, OwnerReply::Answer(outcome));
            link.send_later(request.from, &ClusterMessage::Reply { number, reply });
        }
        ClusterMessage::Request(request) => {
            let (key, entry) = ((request.from, request.number), entry());
            served.run_task(key, async move { serve_request(&entry.0, &link, request).await });
        }
        ClusterMessage::Resume(resume) => {
            let (key, entry) = ((resume.from, resume.number), entry());
            served.run_task(key, async move { serve_stream(&entry.0, &link, resume).await });
        }
        ClusterMessage::Redirect(redirect) => {
            let (key, entry) = ((redirect.from, redirect.number), entry());
            served.run_task(key, async move { serve_redirect(&entry.0, &link, redirect).await });
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

fn handle_news(
    shared: &Arc<DoorShared>,
    link: &Arc<ClusterLink>,
    served: &mut ServedRequests,
    news: ClusterNews,
) {
    match news {
        ClusterNews::Deleted { session } => {
            shared.endpoints.iter().for_each(|endpoint| endpoint.sessions.delete_by_key(&session));
        }
        ClusterNews::Changed { from, session, removed } if from != link.instance() => {
            // Also a session that is being loaded: it may have read older values.
            if let Some(session) = shared.endpoints.find_session_by_key(&session) {
                served.spawn_task(async move {
                    if let Err(error) = session.session.reload_values(removed.as_deref()).await {
                        tracing::warn!(%error, "the values of a session cannot be loaded again");
                    }
                });
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
    let sink = StreamSink { stream: Arc::clone(&stream), questions, needs_reader: false };
    let (id, replies) = (to_raw_json(&id), Replies::new(Arc::new(sink)));
    let incoming = Incoming { id, method: method.into(), params, cause: Cause::Connection, replies };
    let answer = session.handle_request_in_pieces(incoming);
    let answer = async { answer.await.map(JsonPieces::into_json) };
    tokio::select! {
        () = relay_answer(&stream, answer, reply) => {}
        () = wait_until_gone(link, from) => {}
    }
}

/// Sends the messages of a request's stream, and then its answer.
async fn relay_answer(
    stream: &DoorStream,
    answer: impl Future<Output = Result<RawJson, RpcError>>,
    reply: impl Fn(OwnerReply),
) {
    let reader = stream.attach_reader();
    let mut answer = std::pin::pin!(answer);
    let outcome = loop {
        tokio::select! {
            biased;
            Some(entry) = stream.next_entry(reader) => {
                entry.message.into_iter().for_each(|message| reply(OwnerReply::Message(message)));
            }
            outcome = &mut answer => break outcome,
        }
    };
    // The poll that ended the request may have added its last messages.
    stream.end();
    while let Some(entry) = stream.next_entry(reader).await {
        entry.message.into_iter().for_each(|message| reply(OwnerReply::Message(message)));
    }
    reply(OwnerReply::Answer(RequestOutcome::from_result(&outcome)));
}

/// Receives the redirect of a browser that has come back at another gateway.
async fn serve_redirect(shared: &DoorShared, link: &ClusterLink, redirect: ForwardedRedirect) {
    let ForwardedRedirect { from, number, query } = redirect;
    let reply = |reply: OwnerReply| link.send_later(from, &ClusterMessage::Reply { number, reply });
    reply(OwnerReply::Accepted);
    let received = match &shared.callback {
        Some(callback) => callback.receive_redirect(&query).await,
        None => CallbackReply::for_lost_gateway(),
    };
    let CallbackReply { status, policy, page } = received;
    reply(OwnerReply::Page { status, policy, page });
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
    let relay = async {
        while let Some(entry) = stream.next_entry(reader).await {
            reply(OwnerReply::Event(entry));
        }
        reply(OwnerReply::End);
    };
    tokio::select! {
        () = relay => {}
        () = wait_until_gone(link, from) => {}
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
    fn run_task(&mut self, key: (InstanceId, u64), work: impl Future<Output = ()> + Send + 'static) {
        self.running.retain(|_, task| !task.is_finished());
        if !self.running.contains_key(&key) {
            let task = self.spawn_task(work);
            self.running.insert(key, task);
        }
    }

    fn spawn_task(&mut self, work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        while let Some(ended) = self.tasks.try_join_next() {
            if ended.is_err_and(|error| error.is_panic()) {
                tracing::error!("the work for another gateway has failed");
            }
        }
        self.tasks.spawn(work)
    }

    fn cancel_task(&mut self, key: &(InstanceId, u64)) {
        if let Some(task) = self.running.remove(key) {
            task.abort();
        }
    }
}

impl ServedEntry {
    fn new(shared: &Arc<DoorShared>) -> Self {
        shared.served.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(shared))
    }
}

impl Drop for ServedEntry {
    fn drop(&mut self) {
        self.0.served.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
