//! Decides what each visitor is told, and keeps the one answer that counts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
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
}

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
        Self { path: redirect.path().to_owned(), hosts, book: Mutex::default(), arrived: Notify::new() }
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

    /// What the visitor is told, and the answer it brought if it is the one.
    pub(super) fn receive(&self, request: &Request) -> (Reply, Option<Delivery<'_>>) {
        let refused = |reply| (reply, None);
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        if !self.is_honest(request) {
            return refused(Reply::Wrong);
        }
        if path != self.path {
            return refused(Reply::Nowhere);
        }
        if request.method != "GET" {
            return refused(Reply::Method);
        }
        let Ok(answer) = Answer::from_query(query) else { return refused(Reply::Wrong) };
        let expected = self.book().expected.take_if(|expected| expected.is_for(&answer));
        match expected {
            None => refused(Reply::Wrong),
            Some(expected) => {
                let reply = if expected.judge(&answer).is_ok() { Reply::Done } else { Reply::Trouble };
                (reply, Some(Delivery { desk: self, answer: Some(answer) }))
            }
        }
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

/// An answer on its way to whoever waits. Delivered when dropped: the visitor is to be told first, since the way back may
/// be closed as soon as the answer is known, and the answer must arrive also when the visitor is gone.
#[derive(Debug)]
pub(super) struct Delivery<'d> {
    desk: &'d Desk,
    answer: Option<Answer>,
}

impl Drop for Delivery<'_> {
    fn drop(&mut self) {
        self.desk.book().answer = self.answer.take();
        self.desk.arrived.notify_one();
    }
}
