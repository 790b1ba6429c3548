//! The oracles of the fuzz targets: what has to hold for any input.
//!
//! Each module checks one parser or filter that meets text from outside, and panics when a rule is broken.
//! Where a rule allows it, the result is compared with a reference that is too simple to be wrong; otherwise
//! with the result for the same input in another form.
//!
//! | target | oracle | code under test |
//! |---|---|---|
//! | `stdio_lines` | [`stdio_lines`] | the line decoder, and the salvage of ids |
//! | `json_rpc` | [`json_rpc`] | the parser and the encoder of messages |
//! | `sse_events` | [`sse_events`] | the decoder of event streams |
//! | `config_files` | [`config_files`] | documents, entries, expansion, the editor |
//! | `policy_match` | [`policy_match`] | policy patterns for addresses and commands |
//! | `names_and_rules` | [`names_and_rules`] | public names, permission rules, decisions |
//! | `sign_in_documents` | [`sign_in_documents`] | challenges, metadata, authorization responses |
//! | `display_text` | [`display_text`] | sanitizing, masking, redaction |
//!
//! `targets/` hands the inputs of libFuzzer to these functions, in a workspace of its own. The tests of this
//! crate run them on the committed `seeds/`, which contain every input that once broke a rule.

mod chunks;
pub mod config_files;
pub mod display_text;
pub mod json_rpc;
mod members;
pub mod names_and_rules;
pub mod policy_match;
pub mod sign_in_documents;
pub mod sse_events;
pub mod stdio_lines;
mod wildcard;
