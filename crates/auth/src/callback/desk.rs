//! Decides what each visitor is told, and keeps the one answer that counts.
//!
//! Who brought that answer is told how the sign-in ended, and not before it has: a code that was given is not yet a
//! sign-in.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use url::Url;

use super::reply::Reply;
use super::request::Request;
use crate::authorize::{Answer, Expected};

/// The names of this machine that a browser may be sent back to.
pub(super) const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Where visitors are received.
#[derive(Debug)]
pub(super) struct Desk {
    path: String,
    /// The names under which it can be reached honestly. A page of somebody else's whose name suddenly means this machine
    /// comes under another (H03).
    hosts: Vec<String>,
    book: Mutex<Book>,
    arrived: Notify,
    /// How the sign-in ended, once it has.
    verdict: watch::Sender<Option<Reply>>,
    /// How many visitors wait for the verdict or are being told.
    waiting: watch::Sender<usize>,
}

/// What becomes of a visitor.
#[derive(Debug)]
pub(super) enum Received {
    /// It is told this.
    Refused(Reply),
    /// It brought the answer, and is told later.
    Answered(Visitor),
}

/// The visitor that brought the answer, until it has been told how the sign-in ended.
#[derive(Debug)]
pub(super) struct Visitor(Arc<Desk>);

#[derive(Debug, Default)]
struct Book {
    /// The attempt that is waited for; taken by the first who has its mark.
    expected: Option<Arc<Expected>>,
    answer: Option<Answer>,
}

impl Desk {
    pub(super) fn new(redirect: &Url, port: u16) -> Self {
        let mut hosts: Vec<String> = HOSTS.iter().map(|name| format!("{name}:{port}")).collect();
        if port == 80 {
            hosts.extend(HOSTS.map(str::to_owned));
        }
        Self {
            path: redirect.path().to_owned(),
            hosts,
            book: Mutex::default(),
            arrived: Notify::new(),
            verdict: watch::Sender::new(None),
            waiting: watch::Sender::new(0),
        }
    }

    /// From now on the answer to this attempt counts.
    pub(super) fn expect(&self, expected: &Arc<Expected>) {
        let mut book = self.book();
        if !book.answer.as_ref().is_some_and(|answer| expected.is_for(answer)) {
            *book = Book { expected: Some(Arc::clone(expected)), answer: None };
        }
    }

    /// From now on no answer counts.
    pub(super) fn expect_nothing(&self) {
        *self.book() = Book::default();
    }

    /// Waits for the answer.
    pub(super) async fn answer(&self) -> Answer {
        loop {
            let answer = self.book().answer.take();
            match answer {
                Some(answer) => return answer,
                None => self.arrived.notified().await,
            }
        }
    }

    /// What becomes of the visitor. The answer is kept if it is the one.
    pub(super) fn receive(self: &Arc<Self>, request: &Request) -> Received {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        if !self.is_honest(request) {
            return Received::Refused(Reply::Wrong);
        }
        if path != self.path {
            return Received::Refused(Reply::Nowhere);
        }
        if request.method != "GET" {
            return Received::Refused(Reply::Method);
        }
        let Ok(answer) = Answer::from_query(query) else { return Received::Refused(Reply::Wrong) };
        if self.book().expected.take_if(|expected| expected.is_for(&answer)).is_none() {
            return Received::Refused(Reply::Wrong);
        }
        self.waiting.send_modify(|count| *count += 1);
        self.book().answer = Some(answer);
        self.arrived.notify_one();
        Received::Answered(Visitor(Arc::clone(self)))
    }

    /// Tells whoever brought the answer how the sign-in ended; waits until it has been told.
    pub(super) async fn close(&self, verdict: Reply) {
        self.verdict.send_replace(Some(verdict));
        let mut waiting = self.waiting.subscribe();
        // The desk holds the sender, so this ends only when nobody waits.
        let _closed = waiting.wait_for(|count| *count == 0).await;
    }

    /// Whether it was addressed to us, and not by a script of another page. Browsers say `null` after some redirects.
    fn is_honest(&self, request: &Request) -> bool {
        let [host] = request.hosts.as_slice() else { return false };
        let is_ours = |host: &str| self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
        let is_own =
            |origin: &String| origin == "null" || origin.strip_prefix("http://").is_some_and(is_ours);
        is_ours(host) && request.origins.iter().all(is_own)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visitor {
    /// What it is told, as soon as that is known.
    pub(super) async fn verdict(&self) -> Reply {
        let mut verdict = self.0.verdict.subscribe();
        match verdict.wait_for(Option::is_some).await.map(|verdict| *verdict) {
            Ok(Some(reply)) => reply,
            Ok(None) | Err(_) => Reply::Trouble,
        }
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.0.waiting.send_modify(|count| *count -= 1);
    }
}
