//! Reads answers in the two forms in which almost all are written, without looking at each member.
//!
//! Anything else (other members, other orders, damage) is none of its business and is read as a whole.

use crate::json::is_plain;

/// Id and result of an answer that has just the three members it needs, in one of the usual orders.
pub(super) fn answer(line: &[u8]) -> Option<(u64, &[u8])> {
    let (id, result) = id_first(line).or_else(|| result_first(line))?;
    let id = number(id)?;
    // Only one whole value between the two ends makes them the ends of one message.
    is_plain(result).then_some((id, result.trim_ascii()))
}

/// As most libraries write it.
fn id_first(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(br#"{"jsonrpc":"2.0","id":"#)?.strip_suffix(b"}")?;
    let (id, rest) = rest.split_at_checked(digits(rest.iter()))?;
    Some((id, rest.strip_prefix(br#","result":"#)?))
}

/// As the TypeScript SDK writes it.
fn result_first(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(br#"{"result":"#)?.strip_suffix(b"}")?;
    let (rest, id) = rest.split_at_checked(rest.len() - digits(rest.iter().rev()))?;
    Some((id, rest.strip_suffix(br#","jsonrpc":"2.0","id":"#)?))
}

fn digits<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    bytes.take_while(|byte| byte.is_ascii_digit()).count()
}

/// A whole number as JSON writes it, so without zeros in front.
fn number(digits: &[u8]) -> Option<u64> {
    match digits {
        [b'0', _, ..] => None,
        _ => std::str::from_utf8(digits).ok()?.parse().ok(),
    }
}
