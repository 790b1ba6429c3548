//! Asks until a question has an answer: keys in, controls out, without any terminal.
//!
//! Keys that were meant for the line before must not answer a dialog that has just opened, so keys are accepted
//! only after a pause in typing.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tokio::sync::watch;
use tokio::time::Instant;

use super::key_reader::{DialogInput, KeyReader};
use super::session::{DialogControls, DialogEnd, DialogModel};
use super::styled_line::{StyledLine, Tone};

/// The pause in typing after which a dialog accepts keys.
const TYPING_PAUSE: Duration = Duration::from_millis(400);

/// The last line of a dialog that does not accept keys yet.
const NOT_YET: &str = "…";

/// Debounce of the keys of a new dialog: none is accepted before a pause in typing.
#[derive(Debug, Default)]
pub(super) struct TypingGuard {
    /// The end of the pause, if no key comes before; `None` before the dialog is drawn.
    pause_end: Option<Instant>,
    is_over: bool,
}

impl TypingGuard {
    /// Waits for the end of the pause; never ends once it is over.
    async fn wait_for_pause(&self) {
        match self.pause_end.filter(|_| !self.is_over) {
            Some(end) => tokio::time::sleep_until(end).await,
            None => std::future::pending().await,
        }
    }

    /// Starts the pause when the dialog is drawn for the first time.
    fn start_pause(&mut self) {
        if self.pause_end.is_none() {
            self.restart_pause();
        }
    }

    fn restart_pause(&mut self) {
        self.pause_end = Some(Instant::now() + TYPING_PAUSE);
    }
}

/// Draws the question and handles its inputs until the model has an answer.
pub(super) async fn ask_until_answered<M: DialogModel>(
    keys: &mut KeyReader,
    guard: &mut TypingGuard,
    mut waiting: watch::Receiver<usize>,
    model: &mut M,
    mut draw: impl FnMut(&M, &dyn Fn(&mut DialogControls)),
) -> Result<M::Answer, DialogEnd> {
    loop {
        let (count, is_open) = (*waiting.borrow_and_update(), guard.is_over);
        draw(model, &|controls| {
            controls.lines.extend(waiting_line(count));
            if !is_open {
                NOT_YET.clone_into(&mut controls.keys);
            }
        });
        guard.start_pause();
        let input = tokio::select! {
            biased;
            input = keys.next_input() => input.ok_or(DialogEnd::TerminalClosed)?,
            () = guard.wait_for_pause() => {
                guard.is_over = true;
                continue;
            }
            // The sender lives as long as the terminal, so there is no error.
            Ok(()) = waiting.changed() => continue,
        };
        if is_interrupt(&input) {
            return Err(DialogEnd::Interrupted);
        }
        if !guard.is_over && input != DialogInput::Resize {
            guard.restart_pause();
        } else if let Some(answer) = model.handle_input(&input) {
            return Ok(answer);
        }
    }
}

/// The line about the questions that wait, if there are any.
fn waiting_line(waiting: usize) -> Option<StyledLine> {
    let text = match waiting {
        0 => return None,
        1 => "1 more question waits".to_owned(),
        more => format!("{more} more questions wait"),
    };
    Some(StyledLine::new(Tone::Dim, text))
}

fn is_interrupt(input: &DialogInput) -> bool {
    matches!(
        input,
        DialogInput::Key(KeyEvent { code: KeyCode::Char('c' | 'C'), modifiers, .. })
            if modifiers.contains(KeyModifiers::CONTROL)
    )
}

#[cfg(test)]
mod tests {
    //! A question whose answer is the last key, on a paused clock.

    use super::*;
    use crate::dialog::session::DialogSize;
    use tokio::sync::mpsc;

    /// Answers with the first key that it gets.
    struct FirstKey;

    impl DialogModel for FirstKey {
        type Answer = KeyCode;

        fn handle_input(&mut self, input: &DialogInput) -> Option<KeyCode> {
            match input {
                DialogInput::Key(key) => Some(key.code),
                DialogInput::Paste(_) | DialogInput::Resize => None,
            }
        }

        fn controls(&self, _size: DialogSize) -> DialogControls {
            DialogControls { keys: "any key".to_owned(), ..DialogControls::default() }
        }
    }

    /// The answer to keys that are typed at these times, in milliseconds, and the drawn last lines.
    async fn answer_to(typed: &[(u64, KeyEvent)]) -> (Result<KeyCode, DialogEnd>, Vec<String>) {
        let (sender, inputs) = mpsc::channel(16);
        let waiting = watch::Sender::new(0_usize);
        let start = Instant::now();
        let mut drawn: Vec<String> = Vec::new();
        let typing = async {
            for (time, key) in typed {
                tokio::time::sleep_until(start + Duration::from_millis(*time)).await;
                drop(sender.send(DialogInput::Key(*key)).await);
            }
            std::future::pending().await
        };
        let (mut keys, mut guard) = (KeyReader::from_inputs(inputs), TypingGuard::default());
        let draw = |model: &FirstKey, finish: &dyn Fn(&mut DialogControls)| {
            let mut controls = model.controls(DialogSize { rows: 24, columns: 80 });
            finish(&mut controls);
            drawn.push(controls.keys);
        };
        let mut model = FirstKey;
        let asking = ask_until_answered(&mut keys, &mut guard, waiting.subscribe(), &mut model, draw);
        let answer = tokio::select! {
            answer = asking => answer,
            () = typing => unreachable!(),
        };
        (answer, drawn)
    }

    fn key(letter: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)
    }

    // U4 K1
    #[tokio::test(start_paused = true)]
    async fn keys_typed_before_a_pause_do_not_answer() {
        let typed = [(0, key('y')), (300, key('e')), (650, key('s')), (1_060, key('n'))];
        let (answer, drawn) = answer_to(&typed).await;
        assert_eq!(answer, Ok(KeyCode::Char('n')));
        assert_eq!(drawn, ["…", "…", "…", "…", "any key"], "the keys are shown once they are accepted");
    }

    // U4
    #[tokio::test(start_paused = true)]
    async fn ctrl_c_is_never_ignored() {
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(answer_to(&[(0, key('y')), (10, interrupt)]).await.0, Err(DialogEnd::Interrupted));
    }
}
