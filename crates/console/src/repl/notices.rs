//! Notices about events that happened while the user typed or waited: servers that failed, notes of hooks.

use std::collections::BTreeMap;

use mcparley::Host;
use mcparley::hooks::HookNote;
use mcparley::pool::connection::{ServerStatus, StatusEvent};
use tokio::sync::broadcast::{self, error::TryRecvError};

use super::known_names::is_built_in;
use super::output::ConsoleOutput;

/// Collects changes of servers between two prompts.
#[derive(Debug)]
pub(crate) struct StatusNotices {
    events: broadcast::Receiver<StatusEvent>,
    /// The last status of each server with a change that was not printed yet.
    pending: BTreeMap<String, ServerStatus>,
}

impl StatusNotices {
    /// Collects the changes from now on.
    pub(crate) fn subscribe_to(host: &Host) -> Self {
        Self { events: host.server_events(), pending: BTreeMap::new() }
    }

    /// Prints one line for each server that failed or needs a sign-in since the last time.
    pub(crate) fn print_new(&mut self, output: &mut ConsoleOutput) {
        self.receive_events();
        for (server, status) in std::mem::take(&mut self.pending) {
            match status {
                ServerStatus::Failed(error) => {
                    output.print_warning(&format!("server `{server}` failed: {error}"));
                }
                ServerStatus::NeedsAuth => {
                    output.print_warning(&format!("server `{server}` needs a sign-in: /mcp login {server}"));
                }
                _ => {}
            }
        }
    }

    /// Forgets the changes of a server so far, because the user has read about them.
    pub(crate) fn skip_server(&mut self, server: &str) {
        self.receive_events();
        self.pending.remove(server);
    }

    fn receive_events(&mut self) {
        loop {
            match self.events.try_recv() {
                Ok(StatusEvent { server, .. }) if is_built_in(server.as_str()) => {}
                Ok(StatusEvent { server, status }) => {
                    self.pending.insert(server.as_str().to_owned(), status);
                }
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }
}

/// The notes of hooks that were printed already.
#[derive(Debug, Default)]
pub(crate) struct SeenHookNotes(Vec<HookNote>);

impl SeenHookNotes {
    /// Prints the notes that are new.
    pub(crate) fn print_new(&mut self, host: &Host, output: &mut ConsoleOutput) {
        let notes = host.hook_notes();
        for note in new_items(&self.0, &notes) {
            match note.is_trouble {
                true => {
                    output.print_warning(&format!("hook `{}` for {}: {}", note.hook, note.event, note.text))
                }
                false => output.print_remark(&format!("{}: {}", note.hook, note.text)),
            }
        }
        self.0 = notes;
    }
}

/// The items at the end of a bounded list that were added since it was last seen.
fn new_items<'n, T: PartialEq>(seen: &[T], now: &'n [T]) -> &'n [T] {
    let overlap = (0..=seen.len()).find_map(|dropped| {
        let kept = seen.get(dropped..)?;
        now.starts_with(kept).then_some(kept.len())
    });
    now.get(overlap.unwrap_or(0)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::new_items;

    // U4
    #[test]
    fn new_items_of_a_bounded_list_are_those_after_the_overlap() {
        assert_eq!(new_items(&[], &[1, 2]), [1, 2]);
        assert_eq!(new_items(&[1, 2], &[1, 2, 3]), [3]);
        assert_eq!(new_items(&[1, 2, 3], &[2, 3, 4]), [4]);
        assert_eq!(new_items(&[1, 2], &[7, 8]), [7, 8]);
        assert_eq!(new_items(&[1, 2], &[1, 2]), [0; 0]);
    }
}
