//! The current time as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// The current time in the form of RFC 3339, in UTC with milliseconds.
pub(crate) fn now_text() -> String {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, millis) = (elapsed.as_secs(), elapsed.subsec_millis());
    let (year, month, day) = civil_date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The Gregorian date of a day since 1970, counted in years that begin in March.
fn civil_date(days: u64) -> (u64, u64, u64) {
    const CENTURIES: u64 = 146_097;
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / CENTURIES, shifted % CENTURIES);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}
