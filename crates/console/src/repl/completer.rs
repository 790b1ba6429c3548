//! Gives the line editor its completions, and asks servers for values within a short deadline.

use std::sync::mpsc;
use std::time::Duration;

use mcparley::Host;
use mcparley::complete::CompletionTarget;
use mcparley::model::name::ServerName;
use reedline::{Completer, CompletionResult, Span, Suggestion};
use serde_json::Value;
use tokio::runtime::Handle;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::completion::{Candidate, LineCompletion, QuestionSubject, ValueQuestion, complete_line};
use super::known_names::KnownNames;
use super::output::terminal_columns;
use super::words::quote_word;

/// The cells of a row of the menu besides its text: padding, the mark of the selected row, and one cell more,
/// since some terminals wrap a full line.
const MENU_MARGIN: usize = 4;

/// The cells between a candidate and its description.
const COLUMN_GAP: usize = 2;

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
        let all: Vec<Candidate> = values.into_iter().flatten().chain(candidates).collect();
        let rows = menu_rows(&all, terminal_columns().saturating_sub(MENU_MARGIN));
        let suggest = |(candidate, row): (Candidate, String)| Suggestion {
            value: candidate.text,
            display_override: Some(row),
            span: Span { start: span.start, end: span.end },
            append_whitespace: candidate.is_whole,
            ..Suggestion::default()
        };
        let suggestions: Vec<Suggestion> = all.into_iter().zip(rows).map(suggest).collect();
        CompletionResult::fresh(suggestions)
    }
}

/// The rows of the menu: each candidate with its own description, cut to this width.
fn menu_rows(candidates: &[Candidate], width: usize) -> Vec<String> {
    let widest = candidates.iter().map(|candidate| candidate.text.width()).max().unwrap_or_default();
    let row = |candidate: &Candidate| match candidate.description.as_str() {
        "" => candidate.text.clone(),
        description => {
            let gap = " ".repeat(widest - candidate.text.width() + COLUMN_GAP);
            cut_to_width(&format!("{}{gap}{description}", candidate.text), width)
        }
    };
    candidates.iter().map(row).collect()
}

/// Cuts a text to a width in cells; an ellipsis stands for the rest.
fn cut_to_width(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |letter: &char| {
        let cells = letter.width().unwrap_or_default();
        let is_room = cells <= room;
        room = room.saturating_sub(cells);
        is_room
    };
    let cut: String = text.chars().take_while(fits).collect();
    format!("{}…", cut.trim_end())
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

#[cfg(test)]
mod tests {
    use super::{Candidate, menu_rows};

    fn candidate(text: &str, description: &str) -> Candidate {
        Candidate { text: text.into(), description: description.into(), is_whole: true }
    }

    // U4
    #[test]
    fn each_row_of_the_menu_has_its_own_description_cut_to_the_terminal() {
        let candidates = [
            candidate("git.log", "Shows the commits of a branch, newest first"),
            candidate("git.status", "Shows 変更 of the folder"),
            candidate("git.a-name-that-is-wide", ""),
        ];
        let rows = menu_rows(&candidates, 38);
        assert_eq!(
            rows,
            [
                "git.log                  Shows the co…",
                "git.status               Shows 変更 o…",
                "git.a-name-that-is-wide",
            ]
        );
    }
}
