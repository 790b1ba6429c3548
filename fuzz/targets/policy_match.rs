//! Policy patterns for addresses and commands.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcparley_fuzz::policy_match::check_policy(data));
