//! Sends finished spans to an OpenTelemetry collector: OTLP over HTTP, in JSON.
//!
//! The exporter has a thread and a runtime of its own, so it neither slows down calls nor ends with the runtime
//! that runs them. A collector that is away costs one warning; its spans are sent again a few times, and then
//! dropped and counted.

use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use mcparley_model::limits::{
    TRACE_ATTEMPTS, TRACE_BATCH, TRACE_EXPORT_TIME, TRACE_FLUSH_TIME, TRACE_LINGER, TRACE_PAUSE,
    TRACE_WARNING_INTERVAL,
};
use mcparley_platform::random::random_id;
use mcparley_wire::transport::http::Network;
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::sync::watch;
use tracing::Dispatch;

use crate::export_settings::ExportSettings;
use crate::finished_span::FinishedSpan;
use crate::otlp::{describe_resource, export_request};
use crate::span_collector::SpanCollector;
use crate::span_queue::{SpanReceiver, span_queue};

/// A running exporter. [`TraceExporter::flush_spans`] sends what is left.
#[derive(Debug)]
pub(crate) struct TraceExporter {
    stop: watch::Sender<bool>,
    done: mpsc::Receiver<()>,
}

/// The reason why spans were not taken.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error("{0}")]
    Unreachable(String),
    #[error("it answered with status {0}")]
    Refused(u16),
}

impl ExportError {
    /// Whether the collector may take the same spans later, as the specification of OTLP lists it.
    fn is_temporary(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Refused(429 | 502..=504))
    }
}

impl TraceExporter {
    /// Starts the exporter. From now on the spans of the whole process are collected; `warn` is called when the
    /// collector does not take them.
    ///
    /// # Errors
    /// The system gives no thread, or the process has another subscriber already.
    pub(crate) fn start(
        settings: ExportSettings,
        network: Network,
        warn: impl Fn(String) + Send + 'static,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (queue, spans) = span_queue();
        let collector = SpanCollector::new(settings.sampler, queue);
        let (stop, stopped) = watch::channel(false);
        let (end, done) = mpsc::channel();
        let resource = describe_resource(&settings.service_name, &random_id());
        let exporter = ExportLoop { settings, network, resource, spans, stopped, outage: Outage::new(warn) };
        thread::Builder::new().name("telemetry".to_owned()).spawn(move || {
            runtime.block_on(exporter.export_batches());
            // The receiver is gone if the program did not wait any longer.
            let _late = end.send(());
        })?;
        tracing::dispatcher::set_global_default(Dispatch::new(collector)).map_err(io::Error::other)?;
        Ok(Self { stop, done })
    }

    /// Sends the spans that are left, for two seconds at most.
    pub(crate) fn flush_spans(self) {
        self.stop.send_replace(true);
        // What is not sent by now is lost: the program ends in time in any case.
        let _late = self.done.recv_timeout(TRACE_FLUSH_TIME);
    }
}

/// The loop of the exporter's thread.
struct ExportLoop<W> {
    settings: ExportSettings,
    network: Network,
    resource: Value,
    spans: SpanReceiver,
    stopped: watch::Receiver<bool>,
    outage: Outage<W>,
}

impl<W: Fn(String)> ExportLoop<W> {
    async fn export_batches(mut self) {
        while let Some(batch) = self.next_batch().await {
            let taken = self.send_with_retries(&batch).await;
            if taken { self.spans.count_exported(batch.len()) } else { self.spans.count_dropped(batch.len()) }
        }
    }

    /// The next spans, once there are enough or the first has waited long enough; `None` at the end.
    async fn next_batch(&mut self) -> Option<Vec<FinishedSpan>> {
        let is_stopped = *self.stopped.borrow_and_update();
        let first = match is_stopped {
            true => self.spans.try_next_span()?,
            false => tokio::select! {
                biased;
                span = self.spans.next_span() => span?,
                // The sender is gone only with the whole program.
                _ = self.stopped.changed() => self.spans.try_next_span()?,
            },
        };
        let mut batch = vec![first];
        let linger = tokio::time::sleep(TRACE_LINGER);
        tokio::pin!(linger);
        while batch.len() < TRACE_BATCH {
            if *self.stopped.borrow_and_update() {
                let Some(span) = self.spans.try_next_span() else { break };
                batch.push(span);
                continue;
            }
            tokio::select! {
                biased;
                _ = self.stopped.changed() => {}
                () = &mut linger => break,
                span = self.spans.next_span() => match span {
                    Some(span) => batch.push(span),
                    None => break,
                },
            }
        }
        Some(batch)
    }

    /// Sends a batch until it is taken; returns whether it was. At the end of the program there is one attempt.
    async fn send_with_retries(&mut self, batch: &[FinishedSpan]) -> bool {
        let body = export_request(&self.resource, batch).to_string();
        let mut pause = TRACE_PAUSE;
        for attempt in 1..=TRACE_ATTEMPTS {
            match self.send_once(body.clone()).await {
                Ok(()) => {
                    self.outage.note_success();
                    return true;
                }
                Err(error) => {
                    self.outage.warn_once(&self.settings, &error);
                    let is_last = attempt == TRACE_ATTEMPTS || *self.stopped.borrow_and_update();
                    if is_last || !error.is_temporary() {
                        return false;
                    }
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = self.stopped.changed() => {}
            }
            pause *= 2;
        }
        false
    }

    async fn send_once(&self, body: String) -> Result<(), ExportError> {
        let url = &self.settings.endpoint;
        let client = self.network.client_for(url).await;
        let client = client.map_err(|failure| ExportError::Unreachable(failure.to_string()))?;
        let request =
            client.post(url.clone()).timeout(TRACE_EXPORT_TIME).header("content-type", "application/json");
        let headers = self.settings.headers.iter();
        let request = headers.fold(request, |request, (name, value)| request.header(name, value.expose()));
        let response = request.body(body).send().await.map_err(|error| {
            ExportError::Unreachable(self.network.classify_error(&error, url).to_string())
        })?;
        match response.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(ExportError::Refused(status)),
        }
    }
}

/// Warns once when the collector stops taking spans, and not again for a while.
struct Outage<W> {
    warn: W,
    is_open: bool,
    warned: Option<Instant>,
}

impl<W: Fn(String)> Outage<W> {
    fn new(warn: W) -> Self {
        Self { warn, is_open: false, warned: None }
    }

    fn warn_once(&mut self, settings: &ExportSettings, error: &ExportError) {
        let is_recent = |at: Instant| at.elapsed() < TRACE_WARNING_INTERVAL;
        if !std::mem::replace(&mut self.is_open, true) && !self.warned.is_some_and(is_recent) {
            self.warned = Some(Instant::now());
            (self.warn)(format!(
                "traces are not exported to `{}`: {error}; calls are not affected",
                settings.shown_endpoint()
            ));
        }
    }

    fn note_success(&mut self) {
        self.is_open = false;
    }
}
