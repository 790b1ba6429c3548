//! Configuration files, expansion and edits.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcparley_fuzz::config_files::check_config(data));
