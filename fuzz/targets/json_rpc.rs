//! JSON-RPC messages and batches.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcparley_fuzz::json_rpc::check_messages(data));
