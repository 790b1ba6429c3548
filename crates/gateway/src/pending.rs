//! The open questions to the users of a gateway's clients, which can also be answered from another terminal.
//!
//! A question is asked at the client of its call. While it is open it is listed here, and the first answer
//! counts: that of the client, or one that a person gives with `mcparley pending`.
//!
//! | module | content |
//! |---|---|
//! | [`PendingQuestion`] | an open question as other processes see it |
//! | [`TerminalAnswer`] | an answer from another terminal, checked against its question |
//! | `listed_route` | asks a question at the client, and lists it meanwhile |
//! | [`ListedCall`] | a call with questions that its caller answers from the list, such as a web page |

mod answer;
mod listed_call;
pub(crate) mod listed_route;
mod question;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley::model::limits::PENDING_QUESTIONS;
use mcparley::pool::principal::Principal;
use mcparley_platform::random::random_number;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

pub use answer::{AnswerError, TerminalAnswer};
pub use listed_call::ListedCall;
pub(crate) use question::QuestionSource;
pub use question::{PendingQuestion, QuestionDetails, QuestionKind};

/// The open questions of a gateway.
#[derive(Debug)]
pub(crate) struct QuestionRegistry {
    /// The part of the ids that tells gateways apart.
    name: String,
    next: AtomicU64,
    open: Mutex<BTreeMap<u64, AnswerableQuestion>>,
    /// The number of changes of the list.
    changes: watch::Sender<u64>,
}

/// A question that has no answer yet.
#[derive(Debug)]
struct AnswerableQuestion {
    source: Arc<QuestionSource>,
    server: Option<String>,
    details: QuestionDetails,
    since: Instant,
    answer: oneshot::Sender<TerminalAnswer>,
}

/// A listed question; no longer listed when this value is dropped.
#[derive(Debug)]
pub(crate) struct ListedQuestion {
    pending: Arc<QuestionRegistry>,
    number: u64,
    pub(crate) answer: oneshot::Receiver<TerminalAnswer>,
}

impl Default for QuestionRegistry {
    fn default() -> Self {
        let name = format!("{:04x}", random_number() & 0xffff);
        Self { name, next: AtomicU64::new(1), open: Mutex::default(), changes: watch::Sender::default() }
    }
}

impl QuestionRegistry {
    /// The part of the ids that tells gateways apart.
    pub(crate) fn gateway_name(&self) -> &str {
        &self.name
    }

    /// Lists a question.
    pub(crate) fn list_question(
        self: &Arc<Self>,
        source: &Arc<QuestionSource>,
        server: Option<String>,
        details: QuestionDetails,
    ) -> ListedQuestion {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        let (source, since) = (Arc::clone(source), Instant::now());
        self.lock_open()
            .insert(number, AnswerableQuestion { source, server, details, since, answer: sender });
        self.announce_change();
        ListedQuestion { pending: Arc::clone(self), number, answer }
    }

    /// The number of open questions.
    pub(crate) fn count_open(&self) -> usize {
        self.lock_open().len()
    }

    /// The open questions, oldest first; their contents only if `with_details`.
    pub(crate) fn list_open(&self, with_details: bool) -> Vec<PendingQuestion> {
        let open = self.lock_open();
        let listed = open.iter().take(PENDING_QUESTIONS);
        listed.map(|(number, question)| self.describe_question(*number, question, with_details)).collect()
    }

    /// The question with this id, with its contents.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn find_question(&self, id: &str) -> Result<PendingQuestion, AnswerError> {
        let number = self.parse_id(id)?;
        let open = self.lock_open();
        let question = open.get(&number).ok_or_else(|| AnswerError::unknown(id))?;
        Ok(self.describe_question(number, question, true))
    }

    /// Answers a question; it takes one answer.
    ///
    /// # Errors
    /// When there is no such question any more, or the answer does not fit it. The question then stays open.
    pub(crate) fn answer_question(&self, id: &str, answer: TerminalAnswer) -> Result<(), AnswerError> {
        let number = self.parse_id(id)?;
        let mut open = self.lock_open();
        let question = open.get(&number).ok_or_else(|| AnswerError::unknown(id))?;
        answer.check_fit(&question.details)?;
        let AnswerableQuestion { answer: sender, source, .. } =
            open.remove(&number).ok_or_else(|| AnswerError::unknown(id))?;
        // Sent under the lock, so that a client whose answer comes too late finds this one.
        sender.send(answer).map_err(|_| AnswerError::unknown(id))?;
        source.note_answer();
        drop(open);
        self.announce_change();
        Ok(())
    }

    /// Subscribes to changes of the list. The value is their number.
    pub(crate) fn subscribe_changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn announce_change(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn describe_question(
        &self,
        number: u64,
        question: &AnswerableQuestion,
        with_details: bool,
    ) -> PendingQuestion {
        let AnswerableQuestion { source, server, details, since, .. } = question;
        PendingQuestion {
            id: format!("{}-{number}", self.name),
            age_seconds: since.elapsed().as_secs(),
            server: server.clone(),
            tool: source.tool.clone(),
            kind: details.kind(),
            principal: principal_name(&source.principal),
            client: source.client.as_deref().map(str::to_owned),
            arguments: if with_details { source.arguments.decode().ok() } else { None },
            details: with_details.then(|| details.clone()),
        }
    }

    fn parse_id(&self, id: &str) -> Result<u64, AnswerError> {
        let number = id.split_once('-').filter(|(name, _)| *name == self.name);
        number.and_then(|(_, number)| number.parse().ok()).ok_or_else(|| AnswerError::unknown(id))
    }

    fn lock_open(&self) -> MutexGuard<'_, BTreeMap<u64, AnswerableQuestion>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ListedQuestion {
    /// Claims the question for the client's answer, or returns the answer from a terminal that came before.
    pub(crate) fn claim_question(&mut self) -> Option<TerminalAnswer> {
        let claimed = self.pending.lock_open().remove(&self.number);
        match claimed {
            Some(_) => {
                self.pending.announce_change();
                None
            }
            None => self.answer.try_recv().ok(),
        }
    }
}

impl Drop for ListedQuestion {
    fn drop(&mut self) {
        let withdrawn = self.pending.lock_open().remove(&self.number);
        if withdrawn.is_some() {
            self.pending.announce_change();
        }
    }
}

/// The name of a principal for people: that of its account if it has one, else its id.
fn principal_name(principal: &Principal) -> String {
    match principal.identity.is_told_apart() {
        true => principal.identity.display_name.to_string(),
        false => principal.id.as_str().to_owned(),
    }
}
