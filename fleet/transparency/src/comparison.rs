//! Compares recordings item by item, and reports each difference.

use std::fmt;

use crate::allowed::{erase_allowed_differences, is_bridged, is_compared};
use crate::client::RecordedMessage;
use crate::recording::Recording;
use crate::tree::TokenTree;

/// The most characters of a value that a report shows.
const SHOWN: usize = 160;

/// One item of a comparison.
#[derive(Debug)]
pub struct ComparedItem {
    /// The item, such as `call echo`.
    pub name: String,
    /// The first difference; none if the item is the same.
    pub difference: Option<String>,
}

/// The result of a comparison. Prints as a table of its items.
#[derive(Debug)]
pub struct Comparison {
    /// The items, in the order of the server.
    pub items: Vec<ComparedItem>,
}

impl Comparison {
    /// Compares two recordings of a server with a recording of the gateway before it.
    #[must_use]
    pub fn new(direct: [&Recording; 2], gateway: &Recording) -> Self {
        let is_crossed = direct.iter().any(|direct| direct.era != gateway.era);
        let prepare =
            |name: &str, messages: &[RecordedMessage]| erase_allowed_differences(name, messages, is_crossed);
        let find = |recording: &Recording, name: &str| {
            let found = recording.items.iter().find(|(found, _)| found == name);
            found.map(|(name, messages)| prepare(name, messages))
        };
        let [first, second] = direct;
        let mut items = Vec::new();
        for (name, messages) in first.items.iter().filter(|(name, _)| is_compared(name, is_crossed)) {
            let (ours, again) = (prepare(name, messages), find(second, name));
            let difference = match find(gateway, name) {
                Some(_) if is_crossed && is_bridged(&ours) => None,
                None => Some("is missing behind the gateway".to_owned()),
                Some(theirs) => compare_messages(&ours, again.as_deref(), &theirs),
            };
            items.push(ComparedItem { name: name.clone(), difference });
        }
        let is_new = |name: &String| first.items.iter().all(|(known, _)| known != name);
        let added = gateway.items.iter().filter(|(name, _)| is_new(name) && is_compared(name, is_crossed));
        items.extend(added.map(|(name, _)| ComparedItem {
            name: name.clone(),
            difference: Some("exists only behind the gateway".to_owned()),
        }));
        Self { items }
    }

    /// The number of items that are the same.
    #[must_use]
    pub fn same(&self) -> usize {
        self.items.iter().filter(|item| item.difference.is_none()).count()
    }

    /// The items that differ, one per line.
    #[must_use]
    pub fn differences(&self) -> String {
        let differing = self.items.iter().filter_map(|item| Some((&item.name, item.difference.as_ref()?)));
        differing.map(|(name, difference)| format!("{name}: {difference}\n")).collect()
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| item | behind the gateway |\n|---|---|")?;
        for item in &self.items {
            let verdict = item.difference.as_ref().map_or("same".to_owned(), |it| format!("different: {it}"));
            writeln!(f, "| {} | {} |", item.name, verdict.replace('|', "\\|"))?;
        }
        writeln!(f, "\n{} of {} the same", self.same(), self.items.len())
    }
}

/// The first difference between the messages of an item.
fn compare_messages(
    ours: &[RecordedMessage],
    again: Option<&[RecordedMessage]>,
    theirs: &[RecordedMessage],
) -> Option<String> {
    let again = again.unwrap_or(ours);
    if ours.len() != again.len() {
        // The server itself sends another number of messages each time: the answers are left to compare.
        let last = |messages: &[RecordedMessage]| messages.last().cloned().into_iter().collect::<Vec<_>>();
        return compare_messages(&last(ours), None, &last(theirs));
    }
    if ours.len() != theirs.len() {
        let kinds = |messages: &[RecordedMessage]| {
            messages.iter().map(|message| message.kind()).collect::<Vec<_>>().join(", ")
        };
        return Some(format!("messages [{}] became [{}]", kinds(ours), kinds(theirs)));
    }
    ours.iter().zip(again).zip(theirs).find_map(|((ours, again), theirs)| {
        if ours.kind() != theirs.kind() {
            let shown = |message: &RecordedMessage| shorten(&message.tree().to_string());
            return Some(format!("{} became {}: {}", ours.kind(), theirs.kind(), shown(theirs)));
        }
        compare_trees(ours.kind(), ours.tree(), again.tree(), theirs.tree())
    })
}

/// The first difference between two trees. Tokens in which two runs of the server differ are not compared.
fn compare_trees(path: &str, ours: &TokenTree, again: &TokenTree, theirs: &TokenTree) -> Option<String> {
    use TokenTree::{Array, Object, Scalar};
    match (ours, again, theirs) {
        (Object(one), Object(again), Object(other)) if has_same_keys(one, again) => {
            let keys = |members: &[(String, TokenTree)]| {
                members.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(",")
            };
            if keys(one) != keys(other) {
                return Some(format!("members of {path}: {} became {}", keys(one), keys(other)));
            }
            one.iter().zip(again).zip(other).find_map(|(((key, one), (_, again)), (_, other))| {
                compare_trees(&format!("{path}.{}", key.trim_matches('"')), one, again, other)
            })
        }
        (Array(one), Array(again), Array(other)) if one.len() == again.len() => {
            if one.len() != other.len() {
                return Some(format!("{path} has {} elements in place of {}", other.len(), one.len()));
            }
            one.iter().zip(again).zip(other).enumerate().find_map(|(place, ((one, again), other))| {
                compare_trees(&format!("{path}[{place}]"), one, again, other)
            })
        }
        (Scalar(one), Scalar(again), Scalar(other)) if one != again => {
            let kind = |token: &str| token.bytes().next().map(|byte| byte.is_ascii_digit() || byte == b'-');
            (kind(one) != kind(other)).then(|| format!("{path}: {} became {}", shorten(one), shorten(other)))
        }
        // Two runs of the server have nothing in common here.
        (one, again, _) if one != again => None,
        (one, _, other) if one == other => None,
        (one, _, other) => {
            Some(format!("{path}: {} became {}", shorten(&one.to_string()), shorten(&other.to_string())))
        }
    }
}

fn has_same_keys(one: &[(String, TokenTree)], other: &[(String, TokenTree)]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|((one, _), (other, _))| one == other)
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl RecordedMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Notification(_) => "notification",
            Self::Question(_) => "question",
            Self::Result(_) => "result",
            Self::Error(_) => "error",
        }
    }

    fn tree(&self) -> &TokenTree {
        match self {
            Self::Notification(tree) | Self::Question(tree) | Self::Result(tree) | Self::Error(tree) => tree,
        }
    }
}

#[cfg(test)]
mod tests {
    //! Differences that must be found.
    use super::*;

    fn recording(text: &str) -> Recording {
        let tree = TokenTree::parse(text).unwrap();
        Recording { era: None, items: vec![("call x".to_owned(), vec![RecordedMessage::Result(tree)])] }
    }

    fn difference(ours: &str, again: &str, theirs: &str) -> Option<String> {
        let compared = Comparison::new([&recording(ours), &recording(again)], &recording(theirs));
        compared.items.into_iter().next().unwrap().difference
    }

    // G7
    #[test]
    fn order_digits_escapes_and_missing_members_are_differences() {
        let text = r#"{"a":1.0,"b":["\u00e9"]}"#;
        assert_eq!(difference(text, text, text), None);
        let changed = [
            r#"{"b":["\u00e9"],"a":1.0}"#,
            r#"{"a":1,"b":["\u00e9"]}"#,
            r#"{"a":1.0,"b":["é"]}"#,
            r#"{"a":1.0}"#,
        ];
        for changed in changed {
            assert!(difference(text, text, changed).is_some(), "{changed}");
        }
    }

    // G7
    #[test]
    fn only_tokens_that_differ_in_each_run_may_differ() {
        let times = |one: &str, two: &str| format!(r#"{{"time":"{one}","text":"{two}"}}"#);
        assert_eq!(difference(&times("1", "x"), &times("2", "x"), &times("3", "x")), None);
        assert!(difference(&times("1", "x"), &times("2", "x"), &times("3", "y")).is_some());
        assert!(difference(&times("1", "x"), &times("2", "x"), r#"{"time":3,"text":"x"}"#).is_some());
    }
}
