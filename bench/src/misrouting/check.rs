//! Checks every message that a client gets against the call that it makes.

use serde_json::Value;

use super::report::MessageCounts;

/// The call that a client makes now.
#[derive(Clone, Debug)]
pub(crate) struct CurrentCall {
    /// The id of the request, which is its progress token too.
    pub(crate) id: u64,
    pub(crate) nonce: String,
    /// The expected text of the result.
    pub(crate) text: String,
}

/// The checks of one client.
#[derive(Debug, Default)]
pub(crate) struct MessageCheck {
    /// The number of the client.
    pub(crate) client: u64,
    /// The nonces of canceled and failed calls, whose messages may still come.
    pub(crate) canceled: Vec<String>,
    /// Whether servers are killed: messages of a call that was sent twice may still come.
    pub(crate) is_under_kills: bool,
    pub(crate) counts: MessageCounts,
}

/// The number of canceled calls that are remembered: later messages of them are wrong.
const REMEMBERED: usize = 64;

impl MessageCheck {
    /// Remembers that a call was canceled, or failed.
    pub(crate) fn remember_canceled(&mut self, call: &CurrentCall) {
        if self.canceled.len() >= REMEMBERED {
            self.canceled.remove(0);
        }
        self.canceled.push(call.nonce.clone());
    }

    /// Checks a notification or a request; returns whether it belongs to the current call.
    pub(crate) fn check_message(&mut self, message: &Value, call: Option<&CurrentCall>) -> bool {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        match method {
            "notifications/progress" => self.counts.progress += 1,
            "notifications/message" => self.counts.logs += 1,
            "elicitation/create" => self.counts.questions += 1,
            "notifications/cancelled" | "notifications/tools/list_changed" => return false,
            _ => {
                self.counts.note_wrong(&format!("unexpected message: {message}"));
                return false;
            }
        }
        if !self.check_nonce(&message.to_string(), call) {
            return false;
        }
        let token = message.pointer("/params/progressToken").and_then(Value::as_u64);
        if method == "notifications/progress" && token != call.map(|call| call.id) {
            self.counts.note_wrong(&format!("progress with another token: {message}"));
        }
        true
    }

    /// Checks that a text holds the nonce of the current call, and no other.
    pub(crate) fn check_nonce(&mut self, text: &str, call: Option<&CurrentCall>) -> bool {
        let Some((client, nonce)) = find_nonce(text) else {
            self.counts.note_wrong(&format!("a message without a nonce: {text}"));
            return false;
        };
        if client != self.client {
            self.counts.note_misrouted(&format!("client {} got {text}", self.client));
            return false;
        }
        let is_current = call.is_some_and(|call| call.nonce == nonce);
        let is_late = self.is_under_kills || self.canceled.iter().any(|known| known == nonce);
        if !is_current && is_late {
            self.counts.late += 1;
        } else if !is_current {
            self.counts.note_wrong(&format!("a message of another call of the client: {text}"));
        }
        is_current
    }

    /// Checks the response to the current call.
    pub(crate) fn check_response(&mut self, response: &Value, call: &CurrentCall) {
        if response.get("id").and_then(Value::as_u64) != Some(call.id) {
            return self.counts.note_wrong(&format!("a response with another id: {response}"));
        }
        let text = response.pointer("/result/content/0/text").and_then(Value::as_str);
        let is_error = response.pointer("/result/isError").and_then(Value::as_bool).unwrap_or(false);
        match text {
            Some(text) if text == call.text => self.counts.answered += 1,
            Some(text) if !is_error && text.ends_with(" unanswered") => self.counts.unasked += 1,
            Some(text) if !is_error => {
                if self.check_nonce(text, Some(call)) {
                    self.counts.note_wrong(&format!("`{text}` instead of `{}`", call.text));
                }
            }
            Some(_) | None => {
                // The server may have sent messages before it was killed.
                self.remember_canceled(call);
                self.counts.note_failed(&response.to_string());
            }
        }
    }
}

/// The nonce of a call: `n`, client, call and a random number.
pub(crate) fn write_nonce(client: u64, call: u64, random: u64) -> String {
    format!("n{client}.{call}.{random:016x}")
}

/// Finds a nonce in a text; returns the client and the whole nonce.
fn find_nonce(text: &str) -> Option<(u64, &str)> {
    let is_nonce = |word: &&str| word.starts_with('n') && word.matches('.').count() == 2;
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    words.filter(is_nonce).find_map(|word| {
        let client = word.strip_prefix('n')?.split('.').next()?.parse().ok()?;
        Some((client, word))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call() -> CurrentCall {
        let nonce = write_nonce(3, 7, 1);
        CurrentCall { id: 7, text: format!("one echo {nonce}"), nonce }
    }

    fn log(nonce: &str) -> Value {
        let params = json!({ "level": "info", "data": nonce });
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
    }

    #[test]
    fn message_with_the_nonce_of_another_client_is_misrouted() {
        let mut check = MessageCheck { client: 3, ..MessageCheck::default() };
        assert!(check.check_message(&log(&call().nonce), Some(&call())));
        assert!(!check.check_message(&log(&write_nonce(4, 7, 1)), Some(&call())));
        assert!(!check.check_message(&log(&write_nonce(3, 6, 1)), Some(&call())));
        assert_eq!((check.counts.logs, check.counts.misrouted, check.counts.wrong), (3, 1, 1));
    }

    #[test]
    fn response_has_the_id_and_the_text_of_its_call() {
        let mut check = MessageCheck { client: 3, ..MessageCheck::default() };
        let response = |id: u64, text: &str| json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } });
        check.check_response(&response(7, &call().text), &call());
        check.check_response(&response(8, &call().text), &call());
        check.check_response(&response(7, &format!("two echo {}", call().nonce)), &call());
        check.check_response(&response(7, &format!("one echo {}", write_nonce(5, 7, 1))), &call());
        let counts = &check.counts;
        assert_eq!((counts.answered, counts.wrong, counts.misrouted), (1, 2, 1), "{counts:?}");
    }
}
