//! Prints denied calls on standard error, each with the command that allows it.
//!
//! The model does not get that command: a model that can run commands would allow itself the denied call.

use std::collections::HashSet;
use std::convert::Infallible;
use std::pin::pin;

use mcparley::Host;
use mcparley::permission::PendingCall;
use mcparley_gateway::control::ControlError;
use mcparley_telemetry::TraceExport;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::out::TerminalOutput;

/// The limit of denied tools that are printed: a full stderr pipe of a client that never reads it must not
/// block calls. The log and `mcparley pending` have all of them.
const TOOLS: usize = 100;

/// Printer of the calls that are denied while the gateway serves.
pub(in crate::commands) struct DenialPrinter {
    calls: Receiver<PendingCall>,
    /// The tools that were printed; each is printed once.
    told: HashSet<String>,
}

impl DenialPrinter {
    /// Subscribes to denied calls of the host.
    pub(in crate::commands) fn subscribe_to(host: &Host) -> Self {
        Self { calls: host.denied_calls(), told: HashSet::new() }
    }

    /// Prints every denied call, and warnings about traces, while the control socket is served; never returns. Without the socket the
    /// gateway serves on.
    pub(super) async fn print_denials(
        &mut self,
        control: impl Future<Output = Result<Infallible, ControlError>>,
        traces: &mut TraceExport,
        out: &mut TerminalOutput,
    ) -> Infallible {
        let (mut control, mut is_served) = (pin!(control), true);
        loop {
            tokio::select! {
                call = self.calls.recv() => match call {
                    Ok(call) => self.print_denial(&call, out),
                    // Missed calls are still listed by `mcparley pending`.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => std::future::pending().await,
                },
                warning = traces.next_warning() => out.warn(&warning),
                Err(error) = &mut control, if is_served => {
                    out.warn(&format!("`mcparley pending` cannot answer questions of this gateway: {error}"));
                    is_served = false;
                }
            }
        }
    }

    /// Prints the calls that were denied just before the end.
    pub(in crate::commands) fn print_remaining(&mut self, out: &mut TerminalOutput) {
        while let Ok(call) = self.calls.try_recv() {
            self.print_denial(&call, out);
        }
    }

    fn print_denial(&mut self, call: &PendingCall, out: &mut TerminalOutput) {
        if self.told.len() < TOOLS && self.told.insert(call.tool.clone()) {
            out.warn(&format!("denied a call of `{}`: {}", call.tool, call.reason));
            out.hint(&format!("run `{}` to allow it", call.allow_command()));
        }
    }
}
