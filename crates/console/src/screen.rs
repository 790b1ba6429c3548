//! The `/mcp` screen: all servers with their state, tools and errors.
//!
//! | part | module |
//! |---|---|
//! | the rows of the list, read from the host | `server_row`, `row_state`, `row_list` |
//! | the pages of the selected server | `server_detail`, `detail_item`, `page` |
//! | the content of the screen, and its keys | [`ScreenModel`]: `model`, `popup`, `scroll_cursor` |
//! | rendering | `view`, `theme`, `cell_text` |
//! | commands of the user, executed by the host | `action`, `approval` |
//! | the terminal, and the loop of events | `terminal_guard`, [`run`] |

mod action;
mod approval;
mod cell_text;
mod detail_item;
mod model;
mod page;
mod popup;
mod row_list;
mod row_state;
mod scroll_cursor;
mod server_detail;
mod server_row;
mod terminal_guard;
mod theme;
mod view;

use std::io;
use std::time::Duration;

use crossterm::event::{Event, EventStream, KeyEvent};
use futures_util::StreamExt as _;
use mcparley::Host;
use mcparley::auth::browser::Browser;
use mcparley::pool::log::LogMessage;
use mcparley_platform::terminal;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

use action::{ActionOutcome, ActionRunner};
use model::ScreenCommand;
use popup::PopupQuestion;
use terminal_guard::TerminalGuard;

pub use model::ScreenModel;

/// The shortest time between two frames: at most thirty in a second.
const FRAME_TIME: Duration = Duration::from_millis(33);

/// The time between two frames of a screen that changes without an event, such as a countdown.
const TICK: Duration = Duration::from_millis(500);

/// The capacity of the channel of outcomes. Backpressure: an action waits while it is full.
const OUTCOMES: usize = 16;

/// The options of the screen.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ScreenOptions {
    /// Whether to use colors.
    pub has_colors: bool,
    /// The browser for sign-in pages; without one the user opens them.
    pub browser: Option<Browser>,
}

impl ScreenOptions {
    /// Options with colors or without.
    #[must_use]
    pub fn new(has_colors: bool) -> Self {
        Self { has_colors, browser: None }
    }

    /// Sets the browser for sign-in pages.
    #[must_use]
    pub fn with_browser(mut self, browser: Browser) -> Self {
        self.browser = Some(browser);
        self
    }
}

/// The error of a screen that cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScreenError {
    /// The terminal cannot be used.
    #[error("cannot use the terminal")]
    Terminal(#[source] io::Error),
}

/// Shows the screen on the terminal until the user leaves it. The terminal is restored in every case.
///
/// Dropping the future closes the screen too. Sign-ins that were begun go on.
///
/// # Errors
/// [`ScreenError::Terminal`] if standard input and output are not a terminal, or it is lost.
pub async fn run(host: &Host, options: ScreenOptions) -> Result<(), ScreenError> {
    // Subscribed before the first look, so that no change is missed in between.
    let (sender, outcomes) = mpsc::channel(OUTCOMES);
    let mut events = ScreenEvents::subscribe_to(host, outcomes);
    let runner = ActionRunner { host: host.clone(), browser: options.browser, outcomes: sender };
    let mut guard = TerminalGuard::open().map_err(ScreenError::Terminal)?;
    let shown = show_screen(host, &mut guard, &mut events, &runner, options.has_colors).await;
    drop(events);
    discard_wake_up();
    shown
}

/// Draws frames and handles events until the user leaves.
async fn show_screen(
    host: &Host,
    guard: &mut TerminalGuard,
    events: &mut ScreenEvents,
    runner: &ActionRunner,
    has_colors: bool,
) -> Result<(), ScreenError> {
    let (mut model, mut actions) = (ScreenModel::from_host(host), JoinSet::new());
    let (mut is_dirty, mut is_stale, mut next_frame) = (true, false, Instant::now());
    loop {
        if is_dirty && Instant::now() >= next_frame {
            // Read once for each frame, however many changes there were.
            if std::mem::take(&mut is_stale) {
                model.refresh(host);
            }
            let draw = guard.terminal.draw(|frame| model.draw(frame, has_colors));
            draw.map_err(ScreenError::Terminal)?;
            (is_dirty, next_frame) = (false, Instant::now() + FRAME_TIME);
        }
        let wake_at = if is_dirty { Some(next_frame) } else { model.next_tick() };
        let event = events.next(wake_at).await.map_err(ScreenError::Terminal)?;
        while actions.try_join_next().is_some() {}
        match event {
            ScreenEvent::Frame if is_dirty => continue,
            ScreenEvent::Frame | ScreenEvent::HostChanged => is_stale = true,
            ScreenEvent::Key(key) => match model.handle_key(key) {
                Some(ScreenCommand::Quit) => return Ok(()),
                Some(ScreenCommand::ReadDetail) => model.refresh_detail(host),
                Some(command) => drop(actions.spawn(runner.clone().execute(command))),
                None => {}
            },
            ScreenEvent::Resized => {}
            ScreenEvent::Outcome(outcome) => {
                model.apply_outcome(outcome);
                is_stale = true;
            }
        }
        if let Some(server) = model.unknown_sign_in() {
            model.sign_in = Some((server.clone(), "…".to_owned()));
            actions.spawn(runner.clone().read_sign_in(server));
        }
        is_dirty = true;
    }
}

/// Discards the wake-up that the event stream leaves behind when it is dropped.
///
/// The question of a later prompt for the position of the cursor would end early by it, and each question
/// after that would be given the answer to the one before: the prompt would be drawn over the output.
fn discard_wake_up() {
    for _ in 0..2 {
        // An event that is found stays for the next reader.
        drop(crossterm::event::poll(Duration::ZERO));
    }
}

/// An event that changes the screen.
enum ScreenEvent {
    /// It is time for the next frame.
    Frame,
    Key(KeyEvent),
    Resized,
    /// A server, a call or a log has changed.
    HostChanged,
    Outcome(ActionOutcome),
}

/// The sources of events.
struct ScreenEvents {
    keys: EventStream,
    servers: mcparley::host::ChangeListener,
    calls: tokio::sync::watch::Receiver<u64>,
    messages: broadcast::Receiver<LogMessage>,
    outcomes: mpsc::Receiver<ActionOutcome>,
}

impl ScreenEvents {
    fn subscribe_to(host: &Host, outcomes: mpsc::Receiver<ActionOutcome>) -> Self {
        Self {
            keys: EventStream::new(),
            servers: host.change_listener(),
            calls: host.call_changes(),
            messages: host.log_messages(),
            outcomes,
        }
    }

    /// Waits for the next event, or until it is time for a frame.
    ///
    /// # Errors
    /// The terminal is lost.
    async fn next(&mut self, wake_at: Option<Instant>) -> io::Result<ScreenEvent> {
        loop {
            let event = tokio::select! {
                biased;
                key = self.keys.next() => match key {
                    Some(Ok(Event::Key(key))) => ScreenEvent::Key(key),
                    Some(Ok(Event::Resize(..))) => {
                        terminal::repeat_input_readiness();
                        ScreenEvent::Resized
                    }
                    Some(Ok(_)) => continue,
                    Some(Err(error)) => return Err(error),
                    None => return Err(io::ErrorKind::UnexpectedEof.into()),
                },
                Some(outcome) = self.outcomes.recv() => ScreenEvent::Outcome(outcome),
                () = sleep_until(wake_at) => ScreenEvent::Frame,
                Ok(()) = self.servers.changed() => ScreenEvent::HostChanged,
                Ok(()) = self.calls.changed() => ScreenEvent::HostChanged,
                () = next_message(&mut self.messages) => ScreenEvent::HostChanged,
            };
            return Ok(event);
        }
    }
}

/// Waits for a log message of a server. Lost messages count too: they are in the log.
async fn next_message(messages: &mut broadcast::Receiver<LogMessage>) {
    if let Err(RecvError::Closed) = messages.recv().await {
        std::future::pending().await
    }
}

async fn sleep_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

impl ScreenModel {
    /// The time of the next frame of a screen that changes without an event.
    fn next_tick(&self) -> Option<Instant> {
        (self.is_ticking() || self.shows_log()).then(|| Instant::now() + TICK)
    }

    /// Shows the outcome of an action.
    fn apply_outcome(&mut self, outcome: ActionOutcome) {
        match outcome {
            ActionOutcome::Message(message) => self.message = Some(message),
            ActionOutcome::Show(popup) => self.popup = Some(popup),
            ActionOutcome::SignInState { server, words } => self.sign_in = Some((server, words)),
            ActionOutcome::SignInEnded { server, message } => {
                let is_shown = self.popup.as_ref().is_some_and(|popup| {
                    matches!(&popup.question, PopupQuestion::SignIn { server: shown, .. } if *shown == server)
                });
                if is_shown {
                    self.popup = None;
                }
                self.sign_in = None;
                self.message = Some(message);
            }
        }
    }
}
