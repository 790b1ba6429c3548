//! Gives the line editor its completions, and asks servers for values within a short deadline.

use std::sync::mpsc;
use std::time::Duration;

use mcparley::Host;
use mcparley::complete::CompletionTarget;
use mcparley::model::name::ServerName;
use reedline::{Completer, CompletionResult, Span, Suggestion};
use serde_json::Value;
use tokio::runtime::Handle;

use super::completion::{Candidate, LineCompletion, QuestionSubject, ValueQuestion, complete_line};
use super::known_names::KnownNames;
use super::words::quote_word;

/// The time a server has to complete a value while the user waits for the menu.
const VALUE_DEADLINE: Duration = Duration::from_millis(700);

/// The completer of the line editor. Runs on the editor's thread; servers are asked on the runtime.
pub(crate) struct HostCompleter {
    host: Host,
    runtime: Handle,
    has_model: bool,
    /// The answer to the last question, since the menu asks the same again while it is drawn.
    last_answer: Option<(ValueQuestion, Vec<String>)>,
}

impl HostCompleter {
    pub(crate) fn new(host: &Host, runtime: Handle, has_model: bool) -> Self {
        Self { host: host.clone(), runtime, has_model, last_answer: None }
    }

    /// Asks a server for values; none if it does not answer in time.
    fn ask_server(&mut self, question: &ValueQuestion) -> Vec<String> {
        if let Some((asked, values)) = &self.last_answer
            && asked == question
        {
            return values.clone();
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let (host, asked) = (self.host.clone(), question.clone());
        let asking = async move {
            let target = asked.completion_target();
            let completed = host.complete_argument(&target, &asked.argument, &asked.value, &asked.known);
            let values = completed.await.map(|completion| completion.values).unwrap_or_default();
            // The editor may have stopped waiting.
            drop(sender.try_send(values));
        };
        let task = self.runtime.spawn(async move { tokio::time::timeout(VALUE_DEADLINE, asking).await });
        let values = receiver.recv_timeout(VALUE_DEADLINE).unwrap_or_default();
        task.abort();
        self.last_answer = Some((question.clone(), values.clone()));
        values
    }

    fn schema_of(&self, public: &str) -> Option<Value> {
        let catalog = self.host.catalog();
        let entry = catalog.get(public)?;
        serde_json::from_str(entry.tool.input_schema.get()).ok()
    }
}

impl Completer for HostCompleter {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let known = KnownNames::from_host(&self.host, self.has_model);
        let LineCompletion { span, candidates, question } =
            complete_line(line, pos, &known, &|public| self.schema_of(public));
        let values = question.map(|question| {
            let before = question.before.clone();
            let values = self.ask_server(&question).into_iter();
            values.filter_map(move |value| {
                let text = format!("{before}{value}");
                Candidate::whole(&text, "").map(|it| Candidate { text: quote_word(&text).into_owned(), ..it })
            })
        });
        let suggest = |candidate: Candidate| Suggestion {
            value: candidate.text,
            description: Some(candidate.description).filter(|text| !text.is_empty()),
            span: Span { start: span.start, end: span.end },
            append_whitespace: candidate.is_whole,
            ..Suggestion::default()
        };
        let all: Vec<Suggestion> = values.into_iter().flatten().chain(candidates).map(suggest).collect();
        CompletionResult::fresh(all)
    }
}

impl ValueQuestion {
    fn completion_target(&self) -> CompletionTarget {
        let server = ServerName::new(&self.server);
        match &self.subject {
            QuestionSubject::Prompt(name) => CompletionTarget::Prompt { server, name: name.clone() },
            QuestionSubject::Template(uri) => CompletionTarget::Template { server, uri: uri.clone() },
        }
    }
}
