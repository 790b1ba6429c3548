//! The console: a prompt that reads slash commands, tool calls and text for a model.
//!
//! | part | module |
//! |---|---|
//! | the loop: read a line, parse it, carry it out | here |
//! | lines → words → parsed input, pure | `words`, `input`, `slash_command` |
//! | names that a line may use, read from the host | `known_names` |
//! | completion, pure; asking servers for values | `completion`, `completer` |
//! | the line editor on its own thread, history, lines typed ahead | `line_editor`, `typed_ahead` |
//! | a call with progress and Ctrl-C | `tool_call`, `waiting`, `interrupt` |
//! | prompts and resources | `offers`, `result_text` |
//! | `/mcp enable`, `disable`, `reconnect`, `login`, `logout`, `add` | `server_commands` |
//! | commands of the command line, run as a child on the same terminal | `program` |
//! | the conversation with a model, and `/model` | `chat_turn`, `model_command` |
//! | output, folded results, `/calls`, greeting, help | `output`, `fold`, `call_log`, `greeting`, `help` |
//!
//! The runtime goes on while the prompt waits: servers connect, files are watched. Only one of prompt, call
//! and child program uses the terminal at a time.

mod call_log;
mod chat_turn;
mod completer;
mod completion;
mod fold;
mod greeting;
mod help;
mod input;
mod interrupt;
mod known_names;
mod line_editor;
mod model_command;
mod notices;
mod offers;
mod output;
mod program;
mod result_text;
mod server_commands;
mod slash_command;
mod tool_call;
mod typed_ahead;
mod waiting;
mod words;

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;

use mcparley::model::explain::Explain;
use mcparley::{Host, Paths};
use mcparley_conversation::{Conversation, ModelClient, ModelSampler};
use tokio::runtime::Handle;

use crate::dialog::SharedTerminal;
use crate::screen::ScreenOptions;
use call_log::CallLog;
use completer::HostCompleter;
use greeting::{ServerSummary, greeting_text};
use input::{ConsoleInput, ServersCommand, parse_line};
use interrupt::Interrupts;
use known_names::KnownNames;
use line_editor::{EditorOptions, LineEditor, LineEvent};
use model_command::start_conversation;
use notices::{SeenHookNotes, StatusNotices};
use output::{ConsoleOutput, terminal_columns};

pub use model_command::ModelFinder;

/// The settings of a console.
pub struct ConsoleOptions {
    /// The paths of the host: its configuration files, the history, the executable.
    pub paths: Paths,
    /// The global options of this run, for commands that are run as a child.
    pub program_options: Vec<OsString>,
    /// Whether the terminal shows colors.
    pub colors: bool,
    /// The terminal, shared with the dialogs of the host.
    pub terminal: SharedTerminal,
    /// The options of the screen that `/mcp` opens.
    pub screen: ScreenOptions,
    /// Warnings to print below the greeting.
    pub warnings: Vec<String>,
    /// The model that answers, if one is configured.
    pub model: Option<ModelClient>,
    /// The sampler of the host, which follows `/model`.
    pub sampler: Option<ModelSampler>,
    /// Finds the model that `/model` names.
    pub find_model: ModelFinder,
}

impl std::fmt::Debug for ConsoleOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConsoleOptions").field("colors", &self.colors).finish_non_exhaustive()
    }
}

/// Runs the console on the terminal of this process until the user leaves.
///
/// # Errors
/// When the terminal cannot be read.
pub async fn run(host: &Host, mut options: ConsoleOptions) -> io::Result<()> {
    let interrupts = Interrupts::listen()?;
    let completer = HostCompleter::new(host, Handle::current(), options.model.is_some());
    let editor = LineEditor::start(EditorOptions {
        history: options.paths.history.clone(),
        colors: options.colors,
        completer,
    })?;
    let mut output = ConsoleOutput::new(options.colors);
    let model = options.model.take();
    let conversation = model.map(|client| start_conversation(host, client, &mut output));
    let mut console = Console {
        host: host.clone(),
        output,
        conversation,
        interrupts,
        calls: CallLog::default(),
        notices: StatusNotices::subscribe_to(host),
        hook_notes: SeenHookNotes::default(),
        options,
    };
    console.print_greeting();
    console.read_lines(editor).await
}

/// A running console.
struct Console {
    host: Host,
    options: ConsoleOptions,
    output: ConsoleOutput,
    /// The conversation with the model, if one is configured.
    conversation: Option<Conversation>,
    interrupts: Interrupts,
    calls: CallLog,
    notices: StatusNotices,
    hook_notes: SeenHookNotes,
}

impl Console {
    fn print_greeting(&mut self) {
        let servers = ServerSummary::from_host(&self.host);
        let model = self.model_name();
        let line = greeting_text(env!("CARGO_PKG_VERSION"), &servers, model.as_deref(), terminal_columns());
        self.output.print_line(&line);
        for problem in &self.host.loaded_config().problems {
            self.output.print_failure(&problem.to_string(), problem.hint.as_deref());
        }
        for warning in std::mem::take(&mut self.options.warnings) {
            self.output.print_warning(&warning);
        }
    }

    async fn read_lines(&mut self, mut editor: LineEditor) -> io::Result<()> {
        let mut was_interrupted = false;
        loop {
            self.notices.print_new(&mut self.output);
            // Dialogs wait for the prompt, and interrupt it.
            let turn = self.options.terminal.hold().await;
            let event = editor.read_line(&self.options.terminal).await;
            drop(turn);
            match event {
                LineEvent::Line(line) => {
                    // A Ctrl-C in a dialog that interrupted the prompt was meant for that dialog.
                    self.interrupts.forget_presses().await;
                    if self.handle_line(&line).await.is_break() {
                        return Ok(());
                    }
                }
                // The typed text stays, and so does the state.
                LineEvent::Yielded => continue,
                LineEvent::ShowLast => {
                    self.output.clear_below();
                    self.show_last_result();
                }
                LineEvent::Interrupted if was_interrupted => return Ok(()),
                LineEvent::Interrupted => {
                    self.output.print_remark("press Ctrl-C again, or Ctrl-D, to leave");
                    was_interrupted = true;
                    continue;
                }
                LineEvent::EndOfInput => return Ok(()),
                LineEvent::Failed(error) => return Err(error),
            }
            was_interrupted = false;
        }
    }

    /// Carries out one line; breaks when the user leaves.
    async fn handle_line(&mut self, line: &str) -> ControlFlow<()> {
        let known = KnownNames::from_host(&self.host, self.conversation.is_some());
        let input = match parse_line(line, &known) {
            Ok(input) => input,
            Err(error) => {
                self.output.print_error(&error, error.hint().as_deref());
                return ControlFlow::Continue(());
            }
        };
        match input {
            ConsoleInput::Quit => return ControlFlow::Break(()),
            ConsoleInput::Empty => {}
            ConsoleInput::Servers(command) => self.run_servers_command(command).await,
            ConsoleInput::Program(words) => self.run_program(&words).await,
            ConsoleInput::Prompt(line) => self.use_prompt(&line).await,
            ConsoleInput::Call(call) => self.call_tool(&call).await,
            ConsoleInput::Mention(line) => self.read_mention(&line).await,
            ConsoleInput::Text(text) => self.send_text(&text, &known).await,
            ConsoleInput::Calls => self.list_calls(),
            ConsoleInput::LastResult => {
                self.show_last_result();
            }
            ConsoleInput::Model(None) => self.show_model(),
            ConsoleInput::Model(Some(name)) => self.change_model(&name),
            ConsoleInput::Clear => self.clear(),
            ConsoleInput::Help => {
                help::help_lines().iter().for_each(|line| self.output.print_line(line));
            }
        }
        self.output.clear_progress();
        ControlFlow::Continue(())
    }

    async fn run_servers_command(&mut self, command: ServersCommand) {
        match command {
            ServersCommand::OpenScreen => self.open_screen().await,
            ServersCommand::Enable(name) => self.enable_servers(&name).await,
            ServersCommand::Disable(name) => self.disable_servers(&name).await,
            ServersCommand::Reconnect(name) => self.reconnect_server(&name).await,
            ServersCommand::LogIn(name) => self.log_in(&name).await,
            ServersCommand::LogOut(name) => self.log_out(&name).await,
            ServersCommand::Add(words) => {
                let words: Vec<String> = ["add".to_owned()].into_iter().chain(words).collect();
                self.run_program(&words).await
            }
        }
    }

    fn list_calls(&mut self) {
        let lines = self.calls.to_lines();
        if lines.is_empty() {
            self.output.print_remark("no calls yet");
        }
        lines.iter().for_each(|line| self.output.print_line(line));
    }

    fn show_last_result(&mut self) {
        if !self.output.print_last_result() {
            self.output.print_remark("no result yet");
        }
    }

    fn clear(&mut self) {
        if let Some(conversation) = &mut self.conversation {
            conversation.clear();
        }
        self.output.clear_screen();
    }
}
