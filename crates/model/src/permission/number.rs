//! Decimal numbers compared by value: `5`, `5.0`, `5e0` and `0.5e1` are equal, with any number of digits.

use serde_json::Number;

/// A decimal number in a canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    is_negative: bool,
    /// The digits without zeros at either end; empty for zero.
    digits: Box<str>,
    /// The power of ten of the last digit.
    exponent: i64,
}

impl Decimal {
    /// Parses a JSON number; `None` for any other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let digits = [whole, fraction].concat();
        let kept = digits.trim_end_matches('0');
        let dropped = i64::try_from(digits.len() - kept.len()).ok()?;
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(dropped)?;
        let kept = kept.trim_start_matches('0');
        if kept.is_empty() {
            return Some(Self { is_negative: false, digits: Box::from(""), exponent: 0 });
        }
        Some(Self { is_negative, digits: Box::from(kept), exponent })
    }

    /// Whether `number` has this value. A floating-point number has it if it is the nearest one.
    pub(super) fn equals_number(&self, number: &Number) -> bool {
        let is_exactly = Self::parse(&number.to_string()).as_ref() == Some(self);
        let is_nearest = || match number.as_f64() {
            Some(value) if number.is_f64() => self.to_string().parse::<f64>().is_ok_and(|own| own == value),
            Some(_) | None => false,
        };
        is_exactly || is_nearest()
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.is_negative { "-" } else { "" };
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        write!(f, "{sign}{digits}e{}", self.exponent)
    }
}
