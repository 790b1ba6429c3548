//! Tests of the comparison with accepted ratios.

use super::{AcceptedRatios, RatioVerdict};

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
fn written_ratios_are_read_again_and_a_missing_file_accepts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baseline.json");
    assert_eq!(AcceptedRatios::read(&path).unwrap().judge("call", 1.0), RatioVerdict::Unknown);
    let mut accepted = AcceptedRatios::default();
    accepted.insert("call", 3.456);
    accepted.write(&path).unwrap();
    let read = AcceptedRatios::read(&path).unwrap();
    assert_eq!(read.judge("call", 3.0), RatioVerdict::Accepted { accepted: 3.46 });
    std::fs::write(&path, "{\"ratio\": {}}").unwrap();
    assert!(AcceptedRatios::read(&path).is_err());
}
