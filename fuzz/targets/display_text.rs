//! Text for a terminal or a model, and redaction.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcparley_fuzz::display_text::check_display(data));
