//! One message and what comes back for it.
//!
//! Whatever goes wrong fails exactly the call it belongs to, at once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::{Response, StatusCode};

use super::body::{self, Kind, Stream};
use super::endpoint::{Endpoint, SESSION};
use super::event::LONGEST_PAUSE;
use super::head::Head;
use super::post::Deliver;
use super::reach::Reach;
use super::refusal::Refusal;
use super::retry;
use crate::failure::Failure;
use crate::peer::{Inbox, Ticket};
use crate::session::Spoken;

/// How long a stream may stay open behind its reply. One that ends leaves a connection that can be used again.
const LINGER: Duration = Duration::from_secs(1);

/// How often in a row a stream is taken up again without anything new on it.
const RESUMES: u32 = 3;

/// The pause before that, unless the server names one.
const RESUME_PAUSE: Duration = Duration::from_secs(1);

/// What every exchange needs.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) inbox: Inbox,
    pub(super) reach: Arc<Reach>,
}

impl Deliver for Exchange {
    /// When nobody waits any more its stream is closed, which takes it back in the new era.
    async fn ask(&self, message: Bytes, ticket: Ticket) {
        let Ticket { id, over, headers } = ticket;
        let answer = tokio::select! {
            // First, because an answer that has come also ends the wait.
            biased;
            answer = self.answer(id, message, headers) => answer,
            _ = over => return,
        };
        match answer {
            Ok(None) => self.reach.answered(),
            Ok(Some(stream)) => {
                self.reach.answered();
                // Whether it ends in time or not, nobody waits for it.
                let _late = tokio::time::timeout(LINGER, self.drain(id, stream)).await;
            }
            Err(failure) => {
                // First, because the end of the conversation would fail it too, in other words.
                self.inbox.fail_call(id, failure.clone());
                self.reach.failed(&failure);
            }
        }
    }

    async fn tell(&self, message: Bytes) -> Result<(), Failure> {
        let head = Head::read(&message);
        // In the new era the closed stream has said it already.
        if head.is("notifications/cancelled") && self.endpoint.spoken() == Some(Spoken::New) {
            return Ok(());
        }
        let told = self.hand_over(&head, message).await;
        self.reach.note(&told);
        told
    }
}

impl Exchange {
    pub(super) fn new(endpoint: Arc<Endpoint>, inbox: Inbox) -> Self {
        let reach = Arc::new(Reach::new(inbox.clone()));
        Self { endpoint, inbox, reach }
    }

    /// Sends what has no answer.
    async fn hand_over(&self, head: &Head, message: Bytes) -> Result<(), Failure> {
        let response = self.endpoint.post(head, message).await?;
        if !response.status().is_success() {
            return Err(self.refusal(None, response).await);
        }
        if head.is("notifications/initialized") {
            self.endpoint.set_listens(true);
        }
        if Kind::of(&response) != Kind::Events {
            // Reading the little there may be lets the connection be used again.
            body::beginning(response).await;
        }
        Ok(())
    }

    /// Gets the answer delivered, asking again where that is in order. The stream it came on may have more to say.
    async fn answer(
        &self,
        call: u64,
        message: Bytes,
        params: Vec<(String, String)>,
    ) -> Result<Option<Stream>, Failure> {
        let head = Head::read(&message).with_params(params);
        let mut tries = 1;
        loop {
            let failure = match self.once(call, &head, message.clone()).await {
                Ok(stream) => return Ok(stream),
                Err(failure) => failure,
            };
            let Some(pause) = retry::pause(&head, &failure, tries) else { return Err(failure) };
            tokio::time::sleep(pause).await;
            tries += 1;
        }
    }

    async fn once(&self, call: u64, head: &Head, message: Bytes) -> Result<Option<Stream>, Failure> {
        let response = self.endpoint.post(head, message).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refusal(Some(call), response).await);
        }
        if head.is("initialize") {
            // Before the answer is delivered, because what follows it needs the session.
            self.endpoint.set_session(response.headers().get(SESSION).cloned());
        }
        if head.is("subscriptions/listen") {
            // Such a stream may be cut again and again by whoever stands between, and the server is still there.
            self.reach.answered();
        }
        match Kind::of(&response) {
            Kind::Events => {
                self.stream(call, Stream::new(response, self.inbox.message_limit())).await.map(Some)
            }
            Kind::Json | Kind::Other if status == StatusCode::ACCEPTED => Err(self.elsewhere().await),
            Kind::Json => self.json(call, response).await.map(|()| None),
            Kind::Other => {
                let text = body::excerpt(&body::beginning(response).await);
                Err(Failure::Protocol(format!("its answer is neither JSON nor events: {text}").into()))
            }
        }
    }

    /// The reply will come on the GET stream, which ends the wait, unless there is none (any more).
    async fn elsewhere(&self) -> Failure {
        self.endpoint.until_listens(false).await;
        Failure::Protocol("it accepted the request and has no stream to answer on".into())
    }

    async fn json(&self, call: u64, response: Response) -> Result<(), Failure> {
        let body = body::bounded(response, self.inbox.message_limit()).await?;
        if !self.inbox.deliver_to(call, &body) {
            return Err(Failure::Protocol("its answer is not to our request".into()));
        }
        Ok(())
    }

    /// Reads until the reply has come.
    async fn stream(&self, call: u64, mut stream: Stream) -> Result<Stream, Failure> {
        let mut resumes = 0;
        loop {
            match stream.next().await {
                Ok(Some(message)) => {
                    resumes = 0;
                    if self.inbox.deliver_to(call, &message) {
                        return Ok(stream);
                    }
                }
                Ok(None) | Err(Failure::Closed { .. }) if resumes < RESUMES => {
                    resumes += 1;
                    stream = self.resume(&stream).await?;
                }
                Ok(None) => return Err(lost()),
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Takes a stream up where it broke off. Only sessions have that, and only events with ids.
    async fn resume(&self, stream: &Stream) -> Result<Stream, Failure> {
        let Some(last_id) = stream.last_id().filter(|_| self.endpoint.listens()) else {
            return Err(lost());
        };
        tokio::time::sleep(stream.retry().unwrap_or(RESUME_PAUSE).min(LONGEST_PAUSE)).await;
        match self.endpoint.get(Some(last_id)).await {
            Ok(response) if response.status().is_success() && Kind::of(&response) == Kind::Events => {
                Ok(stream.taken_up(response))
            }
            Ok(_) => Err(lost()),
            Err(failure) => {
                self.reach.failed(&failure);
                Err(lost())
            }
        }
    }

    async fn drain(&self, call: u64, mut stream: Stream) {
        while let Ok(Some(message)) = stream.next().await {
            self.inbox.deliver_to(call, &message);
        }
    }

    /// What a status that says no means.
    async fn refusal(&self, call: Option<u64>, response: Response) -> Failure {
        let session = self.endpoint.session();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = body::beginning(response).await;
        let session = session.as_ref().map(|session| session.to_str().unwrap_or_default());
        let meaning = Refusal { status, headers: &headers, body, call, session }.meaning();
        if matches!(meaning, Failure::SessionExpired) {
            self.endpoint.expired();
        }
        meaning
    }
}

fn lost() -> Failure {
    Failure::Closed { exit: None, sent: true }
}
