//! The export of the traces of a program, as its environment says.

use mcparley_wire::transport::http::{Network, NetworkSettings};
use tokio::sync::mpsc;

use crate::export_settings::ExportSettings;
use crate::trace_exporter::TraceExporter;

/// The number of warnings that wait to be printed. They are rare, and further ones say the same.
const WARNINGS: usize = 4;

/// The export of traces, if the environment names a collector. Dropping it sends what is left, for two seconds at
/// most.
#[derive(Debug)]
pub struct TraceExport {
    exporter: Option<TraceExporter>,
    warnings: mpsc::Receiver<String>,
}

impl TraceExport {
    /// Starts the export, if the variables name a collector. Without one, and after a mistake in the settings,
    /// nothing is collected. The second value are warnings about such mistakes.
    pub fn start(variable: impl Fn(&str) -> Option<String>) -> (Self, Vec<String>) {
        let (settings, mut mistakes) = ExportSettings::from_lookup(&variable);
        let (sender, warnings) = mpsc::channel(WARNINGS);
        let warn = move |warning: String| drop(sender.try_send(warning));
        let network = Network::new(NetworkSettings::from_lookup(variable));
        let started = settings.map(|settings| TraceExporter::start(settings, network, warn)).transpose();
        let exporter = started.unwrap_or_else(|error| {
            mistakes.push(format!("no traces are exported: {error}"));
            None
        });
        (Self { exporter, warnings }, mistakes)
    }

    /// Waits for the next warning that the collector does not take spans; without an export, for ever.
    pub async fn next_warning(&mut self) -> String {
        match self.warnings.recv().await {
            Some(warning) => warning,
            None => std::future::pending().await,
        }
    }
}

impl Drop for TraceExport {
    fn drop(&mut self) {
        if let Some(exporter) = self.exporter.take() {
            exporter.flush_spans();
        }
    }
}
