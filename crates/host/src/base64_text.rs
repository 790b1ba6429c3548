//! Base64 as servers write it: in either alphabet, padded or not, over several lines.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Servers pad or not, and leave odd bits; the bytes are clear all the same.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// The bytes that base64 stands for, in either alphabet, padded or not, over one line or several.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let decode = |text: &str| STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok();
    if text.contains(['\r', '\n']) { decode(&text.replace(['\r', '\n'], "")) } else { decode(text) }
}

/// Bytes as text.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Whether [`decode`] can read a text, found out without the memory for its bytes.
pub(crate) fn is_valid(text: &str) -> bool {
    let digits = text.trim_end_matches(['=', '\r', '\n']);
    let padding = text.get(digits.len()..).unwrap_or_default().bytes().filter(|byte| *byte == b'=').count();
    let mut seen = Seen::default();
    // Without a branch for each byte, so that pictures of megabytes are looked at in blocks.
    digits.as_bytes().chunks(64).for_each(|block| block.iter().for_each(|byte| seen.take(*byte)));
    let is_one_alphabet = !(seen.standard && seen.url_safe);
    let is_padded_well = match (digits.len() - seen.breaks) % 4 {
        0 => padding == 0,
        2 => padding <= 2,
        3 => padding <= 1,
        _ => false,
    };
    !seen.foreign && is_one_alphabet && is_padded_well
}

/// What stands in a text.
#[derive(Default)]
struct Seen {
    standard: bool,
    url_safe: bool,
    foreign: bool,
    breaks: usize,
}

impl Seen {
    fn take(&mut self, byte: u8) {
        let (standard, url_safe) = (matches!(byte, b'+' | b'/'), matches!(byte, b'-' | b'_'));
        let is_break = matches!(byte, b'\r' | b'\n');
        self.standard |= standard;
        self.url_safe |= url_safe;
        self.foreign |= !(byte.is_ascii_alphanumeric() | standard | url_safe | is_break);
        self.breaks += usize::from(is_break);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text of at most `length` of these characters.
    fn texts(characters: &[char], length: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..length {
            last =
                last.iter().flat_map(|text| characters.iter().map(move |it| format!("{text}{it}"))).collect();
            all.extend_from_slice(&last);
        }
        all
    }

    // R1 R3
    #[test]
    fn texts_are_valid_exactly_if_they_can_be_decoded() {
        let all = texts(&['A', '+', '-', '=', '\n', ' '], 6);
        assert_eq!(all.len(), 55_987);
        for text in &all {
            assert_eq!(is_valid(text), decode(text).is_some(), "{text:?}");
        }
    }

    // R1
    #[test]
    fn base64_in_every_usual_form_is_decoded() {
        for text in ["-_8", "-_8=", "+/8", "+/8=", "+/\r\n8=\n", "-_\n8"] {
            assert_eq!(decode(text), Some(vec![0xfb, 0xff]), "{text:?}");
        }
        for text in ["A", "A===", "AAAAA", "AA=A", "+_AA", "AAA*", "%PDF", "AAAA="] {
            assert!(!is_valid(text), "{text:?}");
        }
    }
}
