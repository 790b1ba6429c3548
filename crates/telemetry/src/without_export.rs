//! The exporter of a build without the feature `otlp`: it says so, and exports nothing.

use std::convert::Infallible;

/// The settings of the exporter, which no value of this build has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportSettings(Infallible);

impl ExportSettings {
    /// Warns if the environment names a collector.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> (Option<Self>, Vec<String>) {
        let is_set = |name: &str| lookup(name).is_some_and(|value| !value.trim().is_empty());
        let names = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
        let named = names.into_iter().find(|name| is_set(name));
        let warning =
            |name| format!("no traces are exported: `{name}` needs a build with the feature `otel`");
        (None, named.map(warning).into_iter().collect())
    }
}

/// A running exporter, which no value of this build has.
#[derive(Debug)]
pub struct TraceExporter(Infallible);

impl TraceExporter {
    /// Starts the exporter, in builds with it.
    ///
    /// # Errors
    /// None: there are no settings to call it with.
    pub fn start<N>(settings: ExportSettings, _network: N, _warn: impl Fn(String)) -> std::io::Result<Self> {
        match settings.0 {}
    }

    /// Sends the spans that are left, in builds with the exporter.
    pub fn finish(self) {
        match self.0 {}
    }
}
