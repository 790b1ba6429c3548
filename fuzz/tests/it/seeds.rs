//! Runs the oracles on the seeds, cut and damaged in many places too, so that a rule that was broken once stays
//! mended without a fuzzer.

use std::path::{Path, PathBuf};

use mcparley_fuzz::{
    config_files, display_text, json_rpc, names_and_rules, policy_match, sign_in_documents, sse_events,
    stdio_lines,
};

/// The number of places at which each seed is cut, and a byte of it changed.
const PLACES: usize = 24;

/// The seeds of a target.
fn seeds(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut seeds: Vec<(PathBuf, Vec<u8>)> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let bytes = mcparley_platform::file::read_bytes(&path, 1 << 20).unwrap().unwrap();
            (path, bytes)
        })
        .collect();
    seeds.sort();
    seeds
}

/// Runs an oracle on each seed as it is, on its beginnings, and with single bytes changed.
fn check_target(target: &str, check: impl Fn(&[u8])) {
    let seeds = seeds(target);
    assert!(seeds.len() >= 4, "{target} has {} seeds", seeds.len());
    for (path, seed) in seeds {
        eprintln!("{}", path.display());
        check(&seed);
        for place in 0..PLACES {
            let at = seed.len() * place / PLACES;
            check(&seed[..at]);
            let mut damaged = seed.clone();
            if let Some(byte) = damaged.get_mut(at) {
                *byte = b" \n\"\\{}:*\t\x00\xffa0"[place % 13];
                check(&damaged);
            }
        }
    }
}

// B01 B03 B04 F13 F16 K7
#[test]
fn lines_and_salvaged_ids_keep_their_rules() {
    check_target("stdio_lines", stdio_lines::check_lines);
}

// B05 B06 B07 B08 B09 B10
#[test]
fn messages_keep_their_rules() {
    check_target("json_rpc", json_rpc::check_messages);
}

// F40
#[test]
fn event_streams_keep_their_rules() {
    check_target("sse_events", sse_events::check_events);
}

// C6 C17
#[test]
fn configuration_files_keep_their_rules() {
    check_target("config_files", config_files::check_config);
}

// C9 B31 B32
#[test]
fn policy_patterns_keep_their_rules() {
    check_target("policy_match", policy_match::check_policy);
}

// N1 P3 B34 B35 B36
#[test]
fn names_and_rules_keep_their_rules() {
    check_target("names_and_rules", names_and_rules::check_names);
}

// A1 B65
#[test]
fn documents_of_a_sign_in_keep_their_rules() {
    check_target("sign_in_documents", sign_in_documents::check_documents);
}

// B40 B41 B42 B62 C17
#[test]
fn displayed_text_keeps_its_rules() {
    check_target("display_text", display_text::check_display);
}
