//! Damaged replies, made from templates or to a given size.

use super::DueFaults;
use crate::raw::RawBytes;
use mcparley_testkit::Name;
use serde_json::{Value, json};

/// The templates: `$id` is the id, `$string` and `$float` its other forms, `$result` the correct result,
/// `$text` a result up to its text, `$end` the rest after the text, `$bad` two bytes that are never UTF-8.
const TEMPLATES: &[(Name, &str)] = &[
    (Name::NotJson, r#"{"jsonrpc":"2.0","id":$id,"result":{oops}}"#),
    (Name::BadUtf8, r#"{"jsonrpc":"2.0","id":$id,"result":$textbad $bad bytes$end}"#),
    (Name::LoneSurrogate, r#"{"jsonrpc":"2.0","id":$id,"result":$textlone \ud800 surrogate$end}"#),
    (
        Name::WrongShape,
        r#"{"jsonrpc":"2.0","id":$id,"result":{"resultType":"complete","content":"no list"}}"#,
    ),
    (
        Name::ResultAndError,
        r#"{"jsonrpc":"2.0","id":$id,"result":$result,"error":{"code":-32603,"message":"both"}}"#,
    ),
    (Name::Neither, r#"{"jsonrpc":"2.0","id":$id}"#),
    (Name::NoJsonrpc, r#"{"id":$id,"result":$result}"#),
    (Name::Jsonrpc1, r#"{"jsonrpc":"1.0","id":$id,"result":$result}"#),
    (Name::JsonrpcNumber, r#"{"jsonrpc":2,"id":$id,"result":$result}"#),
    (Name::DuplicateId, r#"{"jsonrpc":"2.0","id":$id,"id":987654321,"result":$result}"#),
    (Name::DuplicateResult, r#"{"jsonrpc":"2.0","id":$id,"result":$result,"result":$textanother$end}"#),
    (Name::UnknownId, r#"{"jsonrpc":"2.0","id":987654321,"result":$result}"#),
    (Name::StringId, r#"{"jsonrpc":"2.0","id":$string,"result":$result}"#),
    (Name::FloatId, r#"{"jsonrpc":"2.0","id":$float,"result":$result}"#),
    (Name::BoolId, r#"{"jsonrpc":"2.0","id":true,"result":$result}"#),
    (Name::ObjectId, r#"{"jsonrpc":"2.0","id":{"id":$id},"result":$result}"#),
    (Name::CaseKeys, r#"{"jsonrpc":"2.0","ID":$id,"Result":$result}"#),
];

const NULL_ERROR: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no id"}}"#;
const NULL_RESULT: &str = r#"{"jsonrpc":"2.0","id":null,"result":$result}"#;
const TEXT: &str = r#"{"resultType":"complete","content":[{"type":"text","text":""#;
const END: &str = r#""}],"isError":false}"#;

/// The reply, damaged by the first script that applies, or correct.
pub(crate) fn reply_body(due: DueFaults<'_>, id: &Value, result: &Value) -> RawBytes {
    if let Some((_, template)) = TEMPLATES.iter().find(|(name, _)| due.has(*name)) {
        return RawBytes::new(fill_template(template, id, result));
    }
    if let Some(kind) = due.text(Name::NullId) {
        let template = if kind == "result" { NULL_RESULT } else { NULL_ERROR };
        return RawBytes::new(fill_template(template, id, result));
    }
    if let Some(depth) = due.number(Name::Deep) {
        return deep_body(id, depth);
    }
    if let Some(size) = due.number(Name::Huge) {
        let (head, tail) = (format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{TEXT}"#), format!("{END}}}"));
        return sized_body(&head, size, &tail);
    }
    if let Some(size) = due.number(Name::HugeIdLast) {
        let (head, tail) = (format!(r#"{{"jsonrpc":"2.0","result":{TEXT}"#), format!(r#"{END},"id":{id}}}"#));
        return sized_body(&head, size, &tail);
    }
    if let Some(kind) = due.text(Name::NumberBombs) {
        return number_bombs_body(id, kind);
    }
    RawBytes::from(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// A body of exactly `size` bytes, or of the minimum length.
pub(crate) fn sized_body(head: &str, size: u64, tail: &str) -> RawBytes {
    let fixed = (head.len() + tail.len()) as u64;
    RawBytes::new(head).append_fill(b'x', size.saturating_sub(fixed)).append_bytes(tail)
}

fn deep_body(id: &Value, depth: u64) -> RawBytes {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{TEXT}deep"}}],"structuredContent":"#);
    RawBytes::new(head).append_fill(b'[', depth).append_fill(b']', depth).append_bytes("}}")
}

fn number_bombs_body(id: &Value, kind: &str) -> RawBytes {
    let more = if kind == "nan" { r#","nan":NaN"# } else { "" };
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{TEXT}bombs"}}],"structuredContent":"#);
    let bombs = r#"{"exponent":1e999999,"zero":-0,"digits":"#;
    RawBytes::new(format!("{head}{bombs}")).append_fill(b'9', 100_000).append_bytes(format!("{more}}}}}}}"))
}

fn fill_template(template: &str, id: &Value, result: &Value) -> Vec<u8> {
    let values: [(&str, Vec<u8>); 7] = [
        ("id", id.to_string().into()),
        ("string", string_form(id).into()),
        ("float", float_form(id).into()),
        ("result", result.to_string().into()),
        ("text", TEXT.into()),
        ("end", END.into()),
        ("bad", vec![0xff, 0xfe]),
    ];
    let mut pieces = template.split('$');
    let mut bytes: Vec<u8> = pieces.next().unwrap_or_default().into();
    for piece in pieces {
        let found = values.iter().find_map(|(word, value)| Some((value, piece.strip_prefix(word)?)));
        let (value, rest) = found.map_or((&[][..], piece), |(value, rest)| (value.as_slice(), rest));
        bytes.extend_from_slice(value);
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}

/// The id as a string, or as a number if it is a numeric string: the form always differs.
fn string_form(id: &Value) -> String {
    match id.as_str() {
        Some(text) if text.parse::<i64>().is_ok() => text.to_owned(),
        Some(_) => id.to_string(),
        None => json!(id.to_string()).to_string(),
    }
}

fn float_form(id: &Value) -> String {
    match id.as_i64() {
        Some(number) => format!("{number}.0"),
        None => "1.0".to_owned(),
    }
}
