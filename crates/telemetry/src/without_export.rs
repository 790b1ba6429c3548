//! The export of a build without the feature `otlp`: it says so, and exports nothing.

/// The export of traces, which this build has not.
#[derive(Debug)]
pub struct TraceExport(());

impl TraceExport {
    /// Warns if the variables name a collector.
    pub fn start(variable: impl Fn(&str) -> Option<String>) -> (Self, Vec<String>) {
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.trim().is_empty());
        let names = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
        let named = names.into_iter().find(|name| is_set(name));
        let warning =
            |name| format!("no traces are exported: `{name}` needs a build with the feature `otel`");
        (Self(()), named.map(warning).into_iter().collect())
    }

    /// Waits for a warning, of which there is none.
    pub async fn next_warning(&mut self) -> String {
        std::future::pending().await
    }
}
