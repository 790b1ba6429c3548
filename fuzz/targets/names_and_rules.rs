//! Public names and permission rules.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcparley_fuzz::names_and_rules::check_names(data));
