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

    /// Forgets every Ctrl-C so far.
    pub(crate) async fn forget_presses(&mut self) {
        self.ignore_during(std::future::ready(())).await;
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

#[cfg(test)]
mod tests {
    use super::Interrupts;
    use futures_util::FutureExt as _;

    // U4
    #[tokio::test]
    async fn ctrl_c_of_the_past_cancels_nothing_later() {
        let (mut interrupts, mut witness) = (Interrupts::listen().unwrap(), Interrupts::listen().unwrap());
        mcparley_platform::terminal::interrupt_self();
        witness.next_press().await;
        interrupts.forget_presses().await;
        assert!(interrupts.next_press().now_or_never().is_none());
    }
}
