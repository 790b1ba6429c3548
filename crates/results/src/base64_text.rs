//! Lenient base64 decoding for data from servers: either alphabet, with or without padding, with line breaks.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The lenient decoder settings: servers omit padding and leave stray trailing bits, but the bytes are
/// unambiguous.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Decodes base64 in either alphabet, with or without padding, on one line or several.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let decode = |text: &str| STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok();
    if text.contains(['\r', '\n']) { decode(&text.replace(['\r', '\n'], "")) } else { decode(text) }
}

/// Encodes bytes as padded base64 in the standard alphabet.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Whether [`decode`] would accept the text, checked without allocating the decoded bytes.
pub(crate) fn is_valid(text: &str) -> bool {
    let digits = text.trim_end_matches(['=', '\r', '\n']);
    let padding = text.get(digits.len()..).unwrap_or_default().bytes().filter(|byte| *byte == b'=').count();
    let mut seen = Base64Scan::default();
    // No branch per byte, so that the compiler can vectorize the scan of images of several megabytes.
    digits.as_bytes().chunks(64).for_each(|block| block.iter().for_each(|byte| seen.scan_byte(*byte)));
    let is_one_alphabet = !(seen.standard && seen.url_safe);
    let is_padded_well = match (digits.len() - seen.breaks) % 4 {
        0 => padding == 0,
        2 => padding <= 2,
        3 => padding <= 1,
        _ => false,
    };
    !seen.foreign && is_one_alphabet && is_padded_well
}

/// The kinds of characters found while scanning a base64 text.
#[derive(Default)]
struct Base64Scan {
    standard: bool,
    url_safe: bool,
    foreign: bool,
    breaks: usize,
}

impl Base64Scan {
    fn scan_byte(&mut self, byte: u8) {
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
    fn is_valid_agrees_with_decode() {
        let all = texts(&['A', '+', '-', '=', '\n', ' '], 6);
        assert_eq!(all.len(), 55_987);
        for text in &all {
            assert_eq!(is_valid(text), decode(text).is_some(), "{text:?}");
        }
    }

    // R1
    #[test]
    fn base64_in_every_common_form_is_decoded() {
        for text in ["-_8", "-_8=", "+/8", "+/8=", "+/\r\n8=\n", "-_\n8"] {
            assert_eq!(decode(text), Some(vec![0xfb, 0xff]), "{text:?}");
        }
        for text in ["A", "A===", "AAAAA", "AA=A", "+_AA", "AAA*", "%PDF", "AAAA="] {
            assert!(!is_valid(text), "{text:?}");
        }
    }
}
