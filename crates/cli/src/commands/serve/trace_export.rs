//! The export of traces while `serve` runs, as the variables `OTEL_…` of the environment say.

use mcparley_telemetry::{ExportSettings, TraceExporter};
use mcparley_wire::transport::http::{Network, NetworkSettings};
use tokio::sync::mpsc;

use crate::context::Context;
use crate::out::TerminalOutput;

/// The number of warnings that wait to be printed. They are rare, and further ones say the same.
const WARNINGS: usize = 4;

/// The export of traces, if there is one. Dropping it sends what is left, for two seconds at most.
pub(super) struct TraceExport {
    exporter: Option<TraceExporter>,
    warnings: mpsc::Receiver<String>,
}

impl TraceExport {
    /// Starts the export, if the environment names a collector. Without one, and after a mistake in the settings,
    /// which is warned about, nothing is collected.
    pub(super) fn start(context: &Context, out: &mut TerminalOutput) -> Self {
        // Not the variables of the project folder: they could send the traces to another address.
        let variable = |name: &str| context.run_options.env.get(name).map(str::to_owned);
        let (settings, mistakes) = ExportSettings::from_lookup(variable);
        mistakes.iter().for_each(|mistake| out.warn(mistake));
        let (sender, warnings) = mpsc::channel(WARNINGS);
        let warn = move |warning: String| drop(sender.try_send(warning));
        let network = Network::new(NetworkSettings::from_lookup(variable));
        let started = settings.map(|settings| TraceExporter::start(settings, network, warn)).transpose();
        let exporter = started.unwrap_or_else(|error| {
            out.warn(&format!("no traces are exported: {error}"));
            None
        });
        Self { exporter, warnings }
    }

    /// Waits for the next warning; without an export, for ever.
    pub(super) async fn next_warning(&mut self) -> String {
        match self.warnings.recv().await {
            Some(warning) => warning,
            None => std::future::pending().await,
        }
    }
}

impl Drop for TraceExport {
    fn drop(&mut self) {
        if let Some(exporter) = self.exporter.take() {
            exporter.finish();
        }
    }
}
