//! Waits for work of a server, with a line of progress, until it is done or the user presses Ctrl-C.

use std::time::{Duration, Instant};

use mcparley::call::{ProgressStream, ProgressUpdate};
use mcparley::model::text::display_line;
use tokio::time::MissedTickBehavior;

use super::Console;
use super::output::format_duration;

/// The delay before the progress line appears; quicker work shows none.
pub(super) const PATIENCE: Duration = Duration::from_millis(200);

/// The interval between two drawings of the progress line.
pub(super) const TICK: Duration = Duration::from_millis(100);

impl Console {
    /// Waits for the work; `None` if the user canceled it. The work is dropped then, which cancels it at the
    /// server too.
    pub(super) async fn wait_for<T>(
        &mut self,
        label: &str,
        work: impl Future<Output = T>,
        mut progress: Option<ProgressStream>,
    ) -> Option<T> {
        let start = Instant::now();
        let mut ticks = tokio::time::interval_at((start + PATIENCE).into(), TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut work = std::pin::pin!(work);
        let mut last_progress = String::new();
        let done = loop {
            tokio::select! {
                biased;
                () = self.interrupts.next_press() => break None,
                done = &mut work => break Some(done),
                update = next_update(&mut progress) => last_progress = progress_text(&update),
                _ = ticks.tick() => {
                    let elapsed = format_duration(start.elapsed());
                    let line = format!("{label} … {last_progress}{elapsed}");
                    self.options.terminal.draw_if_free(|| self.output.draw_progress(&line));
                }
            }
        };
        self.output.clear_progress();
        done
    }
}

/// The next progress of the server; never, once there is none any more.
async fn next_update(progress: &mut Option<ProgressStream>) -> ProgressUpdate {
    if let Some(stream) = progress {
        if let Some(update) = stream.next().await {
            return update;
        }
        *progress = None;
    }
    std::future::pending().await
}

/// The progress as text: `40 %` or `12`, followed by the message.
fn progress_text(update: &ProgressUpdate) -> String {
    let number = match update.total {
        Some(total) if total > 0.0 => {
            format!("{:.0} %", (update.progress / total * 100.0).clamp(0.0, 100.0))
        }
        Some(_) | None => format!("{}", update.progress),
    };
    match update.message.as_deref().filter(|message| !message.is_empty()) {
        Some(message) => format!("{number} {} · ", display_line(message)),
        None => format!("{number} · "),
    }
}
