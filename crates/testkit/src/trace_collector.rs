//! An OpenTelemetry collector in the test's own process: it decodes OTLP over HTTP in JSON, and checks what the
//! specification requires of each span.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A running collector. Its threads end with the process.
#[derive(Debug)]
pub struct TraceCollector {
    address: SocketAddr,
    state: Arc<Mutex<CollectorState>>,
}

#[derive(Debug)]
struct CollectorState {
    /// The status of every answer; 0 leaves requests without one.
    status: u16,
    spans: Vec<CollectedSpan>,
    /// The heads of all requests.
    heads: Vec<String>,
    /// The bodies of all requests.
    bodies: Vec<String>,
    /// What was wrong with them.
    problems: Vec<String>,
}

/// A span, as the collector got it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectedSpan {
    /// The service that it is of.
    pub service: String,
    /// The id of its trace, in hexadecimal digits.
    pub trace: String,
    /// Its id.
    pub id: String,
    /// The id of the span that it belongs to; empty without one.
    pub parent: String,
    /// The `tracestate`.
    pub state: String,
    /// The name.
    pub name: String,
    /// 1 internal, 2 server, 3 client.
    pub kind: u64,
    /// The code of its status; 2 is an error.
    pub status: u64,
    /// The attributes as text.
    pub attributes: BTreeMap<String, String>,
}

impl CollectedSpan {
    /// An attribute; empty without it.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

impl TraceCollector {
    /// Starts a collector on a free port.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    #[expect(clippy::expect_used, reason = "a test without its collector cannot say anything else")]
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let state = CollectorState {
            status: 200,
            spans: Vec::new(),
            heads: Vec::new(),
            bodies: Vec::new(),
            problems: Vec::new(),
        };
        let state = Arc::new(Mutex::new(state));
        let collector = Self { address, state: Arc::clone(&state) };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&state);
                std::thread::spawn(move || answer_request(&stream, &state));
            }
        });
        collector
    }

    /// The address, as in `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers every request with this status from now on; 200 is right, and 0 is no answer at all.
    pub fn set_status(&self, status: u16) {
        self.lock_state().status = status;
    }

    /// The number of requests so far.
    pub fn request_count(&self) -> usize {
        self.lock_state().bodies.len()
    }

    /// All bodies so far, for a search for secrets.
    pub fn bodies(&self) -> String {
        self.lock_state().bodies.join("\n")
    }

    /// The heads of all requests so far.
    pub fn heads(&self) -> String {
        self.lock_state().heads.join("\n")
    }

    /// The spans so far, oldest first.
    ///
    /// # Panics
    ///
    /// If one of them is not as the specification requires it.
    #[expect(clippy::panic, reason = "a test whose spans are wrong cannot say anything else")]
    pub fn spans(&self) -> Vec<CollectedSpan> {
        let state = self.lock_state();
        match state.problems.first() {
            None => state.spans.clone(),
            Some(problem) => panic!("{problem}"),
        }
    }

    /// Waits for a span with this name.
    ///
    /// # Panics
    ///
    /// If it does not come within 30 seconds.
    #[expect(clippy::panic, reason = "a test whose span does not come cannot say anything else")]
    pub fn wait_for_span(&self, name: &str) -> CollectedSpan {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let spans = self.spans();
            if let Some(span) = spans.iter().find(|span| span.name == name) {
                return span.clone();
            }
            if Instant::now() > deadline {
                panic!("no span `{name}` in {spans:#?}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, CollectorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers one request of a connection, and closes it.
fn answer_request(mut stream: &TcpStream, state: &Mutex<CollectorState>) {
    let mut input = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    // A body that is cut off is no JSON, which is found out below.
    let _cut = input.read_exact(&mut body);
    let body = String::from_utf8_lossy(&body).into_owned();
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let status = state.status;
    if status == 200 {
        let mut reader = SpanReader::default();
        reader.read_request(&head, &body);
        state.spans.append(&mut reader.spans);
        state.problems.append(&mut reader.problems);
    }
    state.heads.push(head);
    state.bodies.push(body);
    drop(state);
    if status == 0 {
        // Keeps the connection until the client gives up.
        let _gone = input.read(&mut [0]);
        return;
    }
    let answer = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: 2\r\n\r\n{{}}"
    );
    // A client that is gone gets no answer.
    drop(stream.write_all(answer.as_bytes()));
}

/// Reads spans of requests, and notes what is wrong with them.
#[derive(Default)]
struct SpanReader {
    spans: Vec<CollectedSpan>,
    problems: Vec<String>,
}

impl SpanReader {
    fn read_request(&mut self, head: &str, body: &str) {
        let lower = head.to_ascii_lowercase();
        self.check(head.starts_with("POST /v1/traces HTTP/1.1"), "method and path", &json!(head));
        self.check(lower.contains("content-type: application/json"), "content type", &json!(head));
        let request: Value = serde_json::from_str(body).unwrap_or_default();
        let resources = request["resourceSpans"].as_array();
        self.check(resources.is_some_and(|resources| !resources.is_empty()), "resource spans", &json!(body));
        for resource in resources.into_iter().flatten() {
            let attributes = self.read_attributes(&resource["resource"]["attributes"]);
            let service = attributes.get("service.name").cloned().unwrap_or_default();
            self.check(!service.is_empty(), "service.name", resource);
            for scope in resource["scopeSpans"].as_array().into_iter().flatten() {
                self.check(scope["scope"]["name"].is_string(), "scope", scope);
                for span in scope["spans"].as_array().into_iter().flatten() {
                    self.read_span(&service, span);
                }
            }
        }
    }

    fn read_span(&mut self, service: &str, span: &Value) {
        let text = |name: &str| span[name].as_str().unwrap_or_default().to_owned();
        let is_id = |text: &str, length: usize| {
            text.len() == length
                && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
                && text.bytes().any(|digit| digit != b'0')
        };
        let read = CollectedSpan {
            service: service.to_owned(),
            trace: text("traceId"),
            id: text("spanId"),
            parent: text("parentSpanId"),
            state: text("traceState"),
            name: text("name"),
            kind: span["kind"].as_u64().unwrap_or_default(),
            status: span["status"]["code"].as_u64().unwrap_or_default(),
            attributes: self.read_attributes(&span["attributes"]),
        };
        self.check(is_id(&read.trace, 32), "traceId", span);
        self.check(is_id(&read.id, 16), "spanId", span);
        self.check(read.parent.is_empty() || is_id(&read.parent, 16), "parentSpanId", span);
        self.check(!read.name.is_empty(), "name", span);
        self.check((1..=5).contains(&read.kind), "kind", span);
        let nanos = |name: &str| text(name).parse::<u64>().unwrap_or_default();
        let (start, end) = (nanos("startTimeUnixNano"), nanos("endTimeUnixNano"));
        self.check(start > 0 && end >= start, "times", span);
        let is_new = self.spans.iter().all(|known| known.id != read.id);
        self.check(is_new, "unique spanId", span);
        self.spans.push(read);
    }

    fn read_attributes(&mut self, attributes: &Value) -> BTreeMap<String, String> {
        let mut read = BTreeMap::new();
        for attribute in attributes.as_array().into_iter().flatten() {
            let (key, value) = (attribute["key"].as_str(), &attribute["value"]);
            // 64-bit numbers are text in the JSON form of Protocol Buffers.
            let value = value["stringValue"].as_str().or_else(|| value["intValue"].as_str());
            self.check(key.is_some() && value.is_some(), "attribute", attribute);
            let (key, value) = (key.unwrap_or_default().to_owned(), value.unwrap_or_default().to_owned());
            let is_first = read.insert(key, value).is_none();
            self.check(is_first, "unique attribute", attributes);
        }
        read
    }

    fn check(&mut self, is_right: bool, what: &str, context: &Value) {
        if !is_right {
            self.problems.push(format!("{what}: {context}"));
        }
    }
}
