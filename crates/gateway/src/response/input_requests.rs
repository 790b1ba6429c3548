//! The input requests of servers of the new era, as they pass to clients of that era.

use std::borrow::Cow;

use mcparley::model::name::ServerName;
use mcparley::model::text::{clean_json, display_line};

use crate::json_edit::{JsonEdit, JsonMembers, decode_string, json_string};

/// Whether a result requires input.
pub(crate) fn requires_input(text: &str) -> bool {
    // A cheap test first: results are long, and few of them require input.
    text.contains("input_required")
        && JsonMembers::parse(text).and_then(|it| it.text("resultType")).as_deref() == Some("input_required")
}

/// Puts the name of the server in front of each message to the user, so that no server asks in the name of
/// another one. Other bytes stay.
pub(crate) fn name_questions(server: &ServerName, text: &str) -> String {
    let requests = JsonMembers::parse(text).and_then(|members| members.get("inputRequests"));
    let Some(requests) = requests.and_then(|requests| JsonMembers::parse(requests.get())) else {
        return text.to_owned();
    };
    let mut edit = JsonEdit::new(text);
    for (_, request) in requests.iter() {
        let Some(request) = JsonMembers::parse(request.get()) else { continue };
        if request.text("method").as_deref() != Some("elicitation/create") {
            continue;
        }
        let params = request.get("params").and_then(|params| JsonMembers::parse(params.get()));
        let message = params.and_then(|params| params.get("message"));
        if let Some((place, message)) = message.and_then(|place| Some((place, decode_string(place)?))) {
            edit.replace(place, json_string(&format!("[{}] {message}", display_line(server.as_str()))));
        }
    }
    edit.finish().into_owned()
}

/// A result of a server without hidden characters, if they are removed.
pub(crate) fn clean_result(text: &str, removes_hidden: bool) -> Cow<'_, str> {
    if removes_hidden { clean_json(text) } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G3 X5
    #[test]
    fn messages_to_the_user_begin_with_the_name_of_their_server() {
        let text = r#"{"resultType":"input_required", "inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Who?","n":1.0}},"b":{"method":"roots/list"},"c":{"method":"sampling/createMessage","params":{"message":"m"}}},"requestState":"s"}"#;
        let named = text.replace("\"Who?\"", "\"[one] Who?\"");
        assert!(requires_input(text));
        assert_eq!(name_questions(&ServerName::new("one"), text), named);
        assert_eq!(name_questions(&ServerName::new("one"), r#"{"content":[]}"#), r#"{"content":[]}"#);
        assert!(!requires_input(r#"{"content":[{"type":"text","text":"input_required"}]}"#));
    }
}
