//! The API of a model that follows a script: HTTP on loopback, one request after the other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::dialects::check;

/// The model's answer to a request; the error describes unexpected content of the request.
pub(crate) type Step = Box<dyn Fn(&Seen) -> Result<Vec<Value>, String> + Send>;

/// The content of a request, as a model sees it.
pub(crate) struct Seen {
    /// The names of its tools.
    pub(crate) tools: Vec<String>,
    /// The results of the calls it wished for last, in their order: text, and whether it is an error.
    pub(crate) results: Vec<(String, bool)>,
}

/// The server behind which it sits.
pub(crate) struct Scripted {
    port: u16,
    play: Arc<Mutex<Play>>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Play {
    steps: VecDeque<Step>,
    listed: Vec<String>,
    complaints: Vec<String>,
}

impl Scripted {
    pub(crate) async fn start(steps: Vec<Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let play = Arc::new(Mutex::new(Play { steps: steps.into(), ..Play::default() }));
        let shared = Arc::clone(&play);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                answer(stream, &shared).await;
            }
        });
        Self { port, play, serving }
    }

    pub(crate) fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn complaints(&self) -> Vec<String> {
        self.play.lock().unwrap().complaints.clone()
    }

    pub(crate) fn steps_left(&self) -> usize {
        self.play.lock().unwrap().steps.len()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Reads one request and answers it.
async fn answer(stream: TcpStream, play: &Mutex<Play>) {
    let mut stream = BufReader::new(stream);
    let (mut length, mut head) = (0, String::new());
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let said = play.lock().unwrap().next(&head, &serde_json::from_slice(&body).unwrap());
    let (status, body) = match said {
        Ok(message) => ("200 OK", message),
        Err(what) => {
            play.lock().unwrap().complaints.push(what.clone());
            ("400 Bad Request", json!({ "type": "error", "error": { "message": what } }))
        }
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
}

impl Play {
    /// The next message of the script, for a request as the API documents it.
    fn next(&mut self, head: &str, request: &Value) -> Result<Value, String> {
        let head = head.to_ascii_lowercase();
        for wanted in ["post /v1/messages http/1.1", "anthropic-version: 2023-06-01", "x-api-key: none"] {
            head.contains(wanted).then_some(()).ok_or_else(|| format!("no `{wanted}` in {head}"))?;
        }
        let refused = check::complaints("anthropic", &request["tools"]);
        refused.is_empty().then_some(()).ok_or_else(|| refused.join("; "))?;
        let seen = Seen {
            tools: check::schemas("anthropic", &request["tools"]).into_iter().map(|(name, _)| name).collect(),
            results: results(&request["messages"])?,
        };
        // A provider's cache lives by this.
        let grows = seen.tools.starts_with(&self.listed);
        grows
            .then_some(())
            .ok_or_else(|| format!("{:?} does not begin with {:?}", seen.tools, self.listed))?;
        self.listed.clone_from(&seen.tools);
        let step = self.steps.pop_front().ok_or("nothing more was expected")?;
        let content = step(&seen)?;
        let wishes = content.iter().any(|block| block["type"] == "tool_use");
        let stop_reason = if wishes { "tool_use" } else { "end_turn" };
        Ok(
            json!({ "id": "msg", "type": "message", "role": "assistant", "content": content, "stop_reason": stop_reason }),
        )
    }
}

/// The results in the last message: one for every wish of the message before it, in order.
fn results(messages: &Value) -> Result<Vec<(String, bool)>, String> {
    let messages = messages.as_array().ok_or("no messages")?;
    let [.., wished, given] = messages.as_slice() else { return Ok(Vec::new()) };
    let ids = |message: &Value, kind: &str, field: &str| -> Vec<Value> {
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        blocks.iter().filter(|block| block["type"] == kind).map(|block| block[field].clone()).collect()
    };
    let wanted = ids(wished, "tool_use", "id");
    let answered = ids(given, "tool_result", "tool_use_id");
    (wanted == answered).then_some(()).ok_or_else(|| format!("{answered:?} for {wanted:?}"))?;
    let blocks = given["content"].as_array().cloned().unwrap_or_default();
    let result =
        |block: &Value| (block["content"].as_str().unwrap_or_default().to_owned(), block["is_error"] == true);
    Ok(blocks.iter().map(result).collect())
}
