//! Formats bytes as hexadecimal digits.

use std::fmt;

/// Bytes that are displayed as two lowercase hexadecimal digits each.
#[derive(Clone, Copy, Debug)]
pub struct Hex<'b>(pub &'b [u8]);

const DIGITS: &[u8; 16] = b"0123456789abcdef";

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        let digit = |half: u8| DIGITS.get(usize::from(half)).copied().map_or('0', char::from);
        for byte in self.0 {
            f.write_char(digit(byte >> 4))?;
            f.write_char(digit(byte & 0xf))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_two_digits() {
        assert_eq!(Hex(&[0x00, 0x0f, 0xa5, 0xff]).to_string(), "000fa5ff");
    }
}
