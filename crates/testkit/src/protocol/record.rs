//! The record of messages that scripted servers and clients of tests received, and its check after a test run.
//!
//! A scripted server would need too much time to compile the schemas at each start, and its test could not see what it
//! finds. So it appends each message to a file of its own, and `mcparley-testkit check-record` checks all files once.
//! Messages are recorded only while the folder [`FOLDER`] is next to the programs: `cargo xtask test` creates it, checks
//! it and removes it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{client_message_violation, protocol_revisions};

/// The folder of the record, in the folder of the built programs.
const FOLDER: &str = "protocol-record";
/// The size limit of a recorded message; of a longer one only the length is recorded.
const LONGEST: usize = 1024 * 1024;
/// The size limit of a line of the record.
const LINE: u64 = 8 * LONGEST as u64;

/// The receiver of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageReceiver {
    /// A scripted server: mcparley sent the message as a client.
    Server,
    /// A client of a test: the gateway sent the message.
    Client,
}

/// The record of one process, if this test run keeps one.
#[derive(Debug, Default)]
pub struct MessageRecord(Option<File>);

impl MessageRecord {
    /// Opens the record of this process. A process that may not write there keeps none.
    pub fn open() -> Self {
        let name = format!("{}.jsonl", std::process::id());
        let open =
            |folder: PathBuf| OpenOptions::new().create(true).append(true).open(folder.join(name)).ok();
        Self(record_folder().and_then(open))
    }

    /// Records a message that a scripted server received.
    pub fn add_to_server(&self, revision: &str, text: &[u8]) {
        let line = match serde_json::from_slice::<Value>(text) {
            _ if text.len() > LONGEST => {
                json!({ "to": "server", "revision": revision, "length": text.len() })
            }
            Ok(message) => json!({ "to": "server", "revision": revision, "message": message }),
            Err(_) => json!({ "to": "server", "revision": revision, "text": String::from_utf8_lossy(text) }),
        };
        self.write_line(&line);
    }

    /// Records that a client received a valid message, which it has checked itself.
    pub fn add_to_client(&self, revision: &str) {
        self.write_line(&json!({ "to": "client", "revision": revision }));
    }

    /// Writes a line with a single write call, so that a process that is killed leaves at most one incomplete line.
    fn write_line(&self, line: &Value) {
        if let Some(mut file) = self.0.as_ref() {
            // A full disk ends the test run elsewhere; a server must not behave differently because of it.
            file.write_all(format!("{line}\n").as_bytes()).unwrap_or_default();
        }
    }
}

/// The folder of the record, if there is one: programs are in `<profile>`, tests in `<profile>/deps`.
fn record_folder() -> Option<PathBuf> {
    let running = std::env::current_exe().ok()?;
    running.ancestors().skip(1).take(2).map(|folder| folder.join(FOLDER)).find(|folder| folder.is_dir())
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct RecordReport {
    checked: BTreeMap<(MessageReceiver, String), u64>,
    /// Messages above the size limit, which are not recorded.
    too_long: u64,
    /// The violations, each with the number of its occurrences.
    violations: BTreeMap<String, u64>,
}

impl RecordReport {
    /// Checks all files of a record.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn check_folder(folder: &Path) -> io::Result<Self> {
        let mut report = Self::default();
        for entry in std::fs::read_dir(folder)? {
            report.check_file(File::open(entry?.path())?)?;
        }
        Ok(report)
    }

    fn check_file(&mut self, file: File) -> io::Result<()> {
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        while reader.by_ref().take(LINE).read_until(b'\n', &mut line)? > 0 {
            // An incomplete line is that of a server that was killed as it wrote.
            if let (true, Ok(entry)) = (line.ends_with(b"\n"), serde_json::from_slice(&line)) {
                self.check_entry(&entry);
            }
            line.clear();
        }
        Ok(())
    }

    /// Counts one message, and checks it unless its receiver has done so.
    pub(crate) fn check_entry(&mut self, entry: &Value) {
        let revision = entry.get("revision").and_then(Value::as_str).unwrap_or_default().to_owned();
        if entry.get("to") == Some(&json!("client")) {
            *self.checked.entry((MessageReceiver::Client, revision)).or_default() += 1;
            return;
        }
        if entry.get("length").is_some() {
            self.too_long += 1;
            return;
        }
        let violation = match (entry.get("message"), entry.get("text")) {
            (Some(message), _) => client_message_violation(&revision, message),
            (None, text) => Some(format!("no JSON: {}", text.unwrap_or(&Value::Null))),
        };
        *self.checked.entry((MessageReceiver::Server, revision)).or_default() += 1;
        if let Some(violation) = violation {
            *self.violations.entry(violation).or_default() += 1;
        }
    }

    /// Whether all messages are valid, and every revision has messages in both directions.
    pub fn is_complete(&self) -> bool {
        let receivers = [MessageReceiver::Server, MessageReceiver::Client];
        let mut pairs =
            receivers.into_iter().flat_map(|to| protocol_revisions().map(move |it| (to, it.to_owned())));
        self.is_valid() && pairs.all(|pair| self.checked.contains_key(&pair))
    }

    /// Whether all messages are valid.
    pub fn is_valid(&self) -> bool {
        self.violations.is_empty()
    }
}

impl fmt::Display for RecordReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (violation, count) in &self.violations {
            writeln!(f, "invalid, {count} times: {violation}")?;
        }
        for ((receiver, revision), count) in &self.checked {
            let sender = match receiver {
                MessageReceiver::Server => "from a client to a server",
                MessageReceiver::Client => "from the gateway to a client",
            };
            writeln!(f, "{count:>8} messages of {revision} {sender}")?;
        }
        let (all, invalid): (u64, u64) = (self.checked.values().sum(), self.violations.values().sum());
        writeln!(f, "{all:>8} messages checked against the schema of their revision, {invalid} violations")?;
        match self.too_long {
            0 => Ok(()),
            count => writeln!(f, "{count:>8} messages above {LONGEST} bytes not checked"),
        }
    }
}
