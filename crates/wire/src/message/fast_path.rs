//! Fast path: parses responses in the two forms in which almost all are written, without visiting each
//! member.
//!
//! All other forms (other members, other orders, malformed input) are left to the full parser.

use mcparley_json::{ResultScan, is_plain_json};

/// Parses id and result of a response that has exactly the three required members, in one of the usual
/// orders. The result comes with the notes of its scan, if it has a usual form.
pub(super) fn parse_plain_response(line: &[u8]) -> Option<(u64, &[u8], Option<ResultScan>)> {
    let (id, result) = split_id_first(line).or_else(|| split_result_first(line))?;
    let (id, result) = (parse_number(id)?, result.trim_ascii());
    // Only a single JSON value between the two ends makes them the ends of one message.
    match ResultScan::of_result(result) {
        Some(scan) => Some((id, result, Some(scan))),
        None => is_plain_json(result).then_some((id, result, None)),
    }
}

/// The form of most libraries.
fn split_id_first(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(br#"{"jsonrpc":"2.0","id":"#)?.strip_suffix(b"}")?;
    let (id, rest) = rest.split_at_checked(count_digits(rest.iter()))?;
    Some((id, rest.strip_prefix(br#","result":"#)?))
}

/// The form of the TypeScript SDK.
fn split_result_first(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(br#"{"result":"#)?.strip_suffix(b"}")?;
    let (rest, id) = rest.split_at_checked(rest.len() - count_digits(rest.iter().rev()))?;
    Some((id, rest.strip_suffix(br#","jsonrpc":"2.0","id":"#)?))
}

fn count_digits<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    bytes.take_while(|byte| byte.is_ascii_digit()).count()
}

/// Parses a whole number as JSON writes it, so without leading zeros.
fn parse_number(digits: &[u8]) -> Option<u64> {
    match digits {
        [b'0', _, ..] => None,
        _ => std::str::from_utf8(digits).ok()?.parse().ok(),
    }
}
