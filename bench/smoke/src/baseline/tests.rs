//! Tests of the comparison with accepted ratios.

use std::path::Path;

use super::{AcceptedRatios, BaselineError, RatioVerdict};
use crate::figure::FIGURES;

#[test]
fn ratio_fails_only_above_a_quarter_more_than_accepted() {
    let mut accepted = AcceptedRatios::default();
    accepted.insert("call", 4.0);
    for (ratio, verdict) in [
        (4.0, RatioVerdict::Accepted { accepted: 4.0 }),
        (5.0, RatioVerdict::Accepted { accepted: 4.0 }),
        (5.01, RatioVerdict::TooHigh { accepted: 4.0 }),
        (3.1, RatioVerdict::Better { accepted: 4.0 }),
        (f64::INFINITY, RatioVerdict::TooHigh { accepted: 4.0 }),
        (f64::NAN, RatioVerdict::Unknown),
    ] {
        assert_eq!(accepted.judge("call", ratio), verdict, "{ratio}");
    }
    assert!(!accepted.judge("call", f64::NAN).is_accepted());
    assert!(!accepted.judge("another", 1.0).is_accepted());
}

#[test]
fn written_ratios_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baseline.json");
    let mut accepted = AcceptedRatios::default();
    accepted.insert("call", 3.456);
    accepted.write(&path).unwrap();
    let read = AcceptedRatios::read(&path, ["call"].into_iter()).unwrap();
    assert_eq!(read.judge("call", 3.0), RatioVerdict::Accepted { accepted: 3.46 });
    std::fs::write(&path, "{\"ratio\": {}}").unwrap();
    let error = AcceptedRatios::read(&path, ["call"].into_iter()).unwrap_err();
    assert!(matches!(error, BaselineError::Unreadable(_)), "{error}");
}

#[test]
fn missing_file_and_missing_figure_have_errors_that_say_how_to_accept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baseline.json");
    let missing = AcceptedRatios::read(&path, ["call"].into_iter()).unwrap_err().to_string();
    assert!(missing.starts_with("nothing is accepted yet") && missing.contains("smoke --write"), "{missing}");
    AcceptedRatios::default().write(&path).unwrap();
    let incomplete = AcceptedRatios::read(&path, ["call"].into_iter()).unwrap_err().to_string();
    assert!(incomplete.starts_with("no ratio is accepted for call\n"), "{incomplete}");
}

#[test]
fn committed_file_names_every_figure() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../baseline.json");
    let read = AcceptedRatios::read(&path, FIGURES.iter().map(|figure| figure.name));
    read.unwrap_or_else(|error| panic!("{error}"));
}
