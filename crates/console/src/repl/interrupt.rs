//! Ctrl-C while a command runs. At the prompt it is a key, which the line editor reports.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The Ctrl-C presses of the user, while the terminal turns them into signals.
#[derive(Debug)]
pub(crate) struct Interrupts(Signal);

impl Interrupts {
    /// Starts to listen. From now on Ctrl-C does not end the program.
    pub(crate) fn listen() -> io::Result<Self> {
        signal(SignalKind::interrupt()).map(Self)
    }

    /// Waits for the next Ctrl-C.
    pub(crate) async fn next_press(&mut self) {
        if self.0.recv().await.is_none() {
            // No signal can come any more.
            std::future::pending().await
        }
    }

    /// Runs some work, and forgets every Ctrl-C that came meanwhile: it was meant for another program.
    pub(crate) async fn ignore_during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                () = self.next_press() => {}
                done = &mut work => return done,
            }
        }
    }
}
