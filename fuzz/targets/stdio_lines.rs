//! Lines of a local server, and the ids in damaged ones.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcparley_fuzz::stdio_lines::check_lines(data));
