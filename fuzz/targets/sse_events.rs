//! Server-sent events.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcparley_fuzz::sse_events::check_events(data));
