//! The line editor: `reedline` on a thread of its own, which reads only while the console asks for a line.
//!
//! Reading a key blocks, so it must not happen on the runtime's thread, where servers are served. Between two
//! lines the thread waits for a request: dialogs and child programs have the keyboard for themselves then.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc as thread_channel};
use std::thread;
use std::time::Duration;

use crossterm::style::Print;
use crossterm::{cursor, event, execute, terminal};
use mcparley::model::text::display_line;
use mcparley_platform::file;
use reedline::{
    Color, DefaultHinter, EditCommand, Emacs, FileBackedHistory, Highlighter, HistoryItem, IdeMenu, KeyCode,
    KeyModifiers, Keybindings, MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch,
    PromptHistorySearchStatus, Reedline, ReedlineEvent, ReedlineMenu, Signal, StyledText,
    default_emacs_keybindings,
};
use tokio::sync::mpsc;

use super::completer::HostCompleter;
use super::typed_ahead::TypedAhead;
use crate::dialog::SharedTerminal;

/// The lines of the history file.
const HISTORY_LINES: usize = 1_000;

/// The size above which the history file is set aside: the editor reads all of it.
const HISTORY_BYTES: u64 = 4 * 1024 * 1024;

/// The interval at which the waiting prompt looks for dialogs that need the terminal.
const DIALOG_POLL: Duration = Duration::from_millis(250);

/// The name of the completion menu, which the key binding refers to.
const MENU: &str = "completion";

/// The payload of Ctrl-O.
const SHOW_LAST: &str = "last";

/// A line, or another end of reading.
#[derive(Debug)]
pub(crate) enum LineEvent {
    /// A line was entered.
    Line(String),
    /// Ctrl-O: the last result is to be shown. The typed text stays.
    ShowLast,
    /// A dialog needs the terminal. The typed text stays.
    Yielded,
    /// Ctrl-C: the typed text was discarded.
    Interrupted,
    /// Ctrl-D on an empty line.
    EndOfInput,
    /// The terminal cannot be read any more.
    Failed(io::Error),
}

/// The settings of the line editor.
pub(crate) struct EditorOptions {
    /// The history file; without it the history lasts as long as the console.
    pub(crate) history: Option<PathBuf>,
    /// Whether the terminal shows colors.
    pub(crate) colors: bool,
    /// The source of completions.
    pub(crate) completer: HostCompleter,
}

/// The handle to the thread of the line editor. Dropping it restores the terminal.
#[derive(Debug)]
pub(crate) struct LineEditor {
    requests: thread_channel::Sender<()>,
    events: mpsc::Receiver<LineEvent>,
    /// Makes the thread stop reading.
    break_signal: Arc<AtomicBool>,
}

impl LineEditor {
    /// Starts the thread. It reads nothing yet.
    pub(crate) fn start(options: EditorOptions) -> io::Result<Self> {
        let (requests, requested) = thread_channel::channel();
        // One event for each request.
        let (sender, events) = mpsc::channel(1);
        let break_signal = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&break_signal);
        let reading = move || {
            let (mut editor, mut typed) = (build_editor(options, seen), TypedAhead::default());
            while requested.recv().is_ok() {
                let event = take_typed_line(&mut editor, &mut typed);
                let event = event.unwrap_or_else(|| read_event(&mut editor));
                if sender.blocking_send(event).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("prompt".to_owned()).spawn(reading)?;
        Ok(Self { requests, events, break_signal })
    }

    /// Shows the prompt and reads one line, unless a dialog needs the terminal before.
    pub(crate) async fn read_line(&mut self, terminal: &SharedTerminal) -> LineEvent {
        self.break_signal.store(false, Ordering::Relaxed);
        if self.requests.send(()).is_err() {
            return LineEvent::Failed(io::ErrorKind::BrokenPipe.into());
        }
        let mut looks = tokio::time::interval(DIALOG_POLL);
        loop {
            tokio::select! {
                biased;
                event = self.events.recv() => {
                    return event.unwrap_or_else(|| LineEvent::Failed(io::ErrorKind::BrokenPipe.into()));
                }
                _ = looks.tick() => {
                    if terminal.waiting_count() > 0 {
                        self.break_signal.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    }
}

impl Drop for LineEditor {
    fn drop(&mut self) {
        // The thread may still wait for a key, in raw mode, when a signal ends the program. A terminal that is
        // gone needs no restoring.
        if terminal::is_raw_mode_enabled().unwrap_or(false) {
            drop(terminal::disable_raw_mode());
            drop(execute!(io::stderr(), event::DisableBracketedPaste, cursor::Show));
        }
    }
}

/// The next line that was typed while a command ran, shown behind the prompt like any other.
fn take_typed_line(editor: &mut Reedline, typed: &mut TypedAhead) -> Option<LineEvent> {
    if let Err(error) = typed.read_waiting_keys() {
        return Some(LineEvent::Failed(error));
    }
    if let Some(line) = typed.next_line() {
        // A terminal that is gone fails at the next prompt.
        drop(execute!(io::stdout(), Print(format!("> {}\n", display_line(&line)))));
        if !line.starts_with(' ') {
            // A history that cannot be written is lost at the end, which is no reason to stop here.
            drop(editor.history_mut().save(HistoryItem::from_command_line(&line)));
            drop(editor.sync_history());
        }
        return Some(LineEvent::Line(line));
    }
    let rest = typed.take_rest();
    if !rest.is_empty() {
        editor.run_edit_commands(&[EditCommand::InsertString(rest)]);
    }
    None
}

fn read_event(editor: &mut Reedline) -> LineEvent {
    let event = match editor.read_line(&ConsolePrompt) {
        Ok(Signal::Success(line)) => LineEvent::Line(line),
        Ok(Signal::CtrlC) => LineEvent::Interrupted,
        Ok(Signal::CtrlD) => LineEvent::EndOfInput,
        Ok(Signal::HostCommand(_)) => LineEvent::ShowLast,
        Ok(_) => LineEvent::Yielded,
        Err(error) => LineEvent::Failed(error),
    };
    if matches!(event, LineEvent::Line(_)) {
        // A history that cannot be written is lost at the end, which is no reason to stop here.
        drop(editor.sync_history());
    }
    event
}

fn build_editor(options: EditorOptions, break_signal: Arc<AtomicBool>) -> Reedline {
    let menu = IdeMenu::default()
        .with_name(MENU)
        .with_marker("> ")
        .with_max_completion_height(10)
        // Rows are cut to the terminal by the completer.
        .with_max_completion_width(500)
        .with_correct_cursor_pos(true);
    let editor = Reedline::create()
        .with_break_signal(break_signal)
        .with_poll_interval(DIALOG_POLL)
        .with_ansi_colors(options.colors)
        .use_bracketed_paste(true)
        .with_highlighter(Box::new(PlainText))
        .with_hinter(Box::new(DefaultHinter::default().with_style(Color::Default.dimmed())))
        .with_completer(Box::new(options.completer))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
        .with_edit_mode(Box::new(Emacs::new(key_bindings())))
        // A line that begins with a space is not remembered, as in a shell.
        .with_history_exclusion_prefix(Some(" ".to_owned()));
    match options.history.and_then(|path| open_history(&path)) {
        Some(history) => editor.with_history(Box::new(history)),
        None => editor,
    }
}

fn key_bindings() -> Keybindings {
    let mut keys = default_emacs_keybindings();
    let complete =
        ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    let newline = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline);
    let show_last = ReedlineEvent::ExecuteHostCommand(SHOW_LAST.to_owned());
    keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('o'), show_last);
    keys
}

/// Opens the history file, which only its owner may read: typed arguments may be secrets.
fn open_history(path: &Path) -> Option<FileBackedHistory> {
    // Created here, because the editor would create it readable for all.
    file::append_log_lines(path, "", HISTORY_BYTES).ok()?;
    FileBackedHistory::with_file(HISTORY_LINES, path.to_owned()).ok()
}

/// The prompt `> `.
struct ConsolePrompt;

impl Prompt for ConsolePrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let found = match search.status {
            PromptHistorySearchStatus::Passing => "",
            PromptHistorySearchStatus::Failing => "not found: ",
        };
        Cow::Owned(format!("({found}search: {}) ", search.term))
    }
}

/// Shows the typed text as it is.
struct PlainText;

impl Highlighter for PlainText {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        let mut text = StyledText::new();
        text.push((Color::Default.normal(), line.to_owned()));
        text
    }
}
