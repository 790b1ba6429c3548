//! Challenges, metadata and callbacks of a sign-in.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcparley_fuzz::sign_in_documents::check_documents(data));
