//! Sealed values open with the same key and binding only.

use super::*;

// B93
#[test]
fn sealed_value_opens_only_with_its_key_and_binding() {
    let (seal, other) = (Seal::in_memory().unwrap(), Seal::in_memory().unwrap());
    let sealed = seal.seal_value(&["token:a", "/mcp"], b"state").unwrap();
    assert!(sealed.starts_with("mp1."));
    assert_eq!(seal.open_value(&["token:a", "/mcp"], &sealed).as_deref(), Some(b"state".as_slice()));
    for binding in [["token:b", "/mcp"], ["token:a", "/mcp/x"], ["token:a/", "mcp"]] {
        assert_eq!(seal.open_value(&binding, &sealed), None, "{binding:?}");
    }
    assert_eq!(other.open_value(&["token:a", "/mcp"], &sealed), None);
    for damaged in ["", "mp1.", "mp1.AAAA", "mp2.x", &sealed[..sealed.len() - 2]] {
        assert_eq!(seal.open_value(&["token:a", "/mcp"], damaged), None, "{damaged}");
    }
}

#[test]
fn seal_in_a_file_opens_its_values_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state/seal.key");
    let sealed = Seal::from_file(&file).unwrap().seal_value(&["p"], b"v").unwrap();
    assert_eq!(Seal::from_file(&file).unwrap().open_value(&["p"], &sealed).as_deref(), Some(b"v".as_slice()));
}

// B93
#[test]
fn sealed_id_is_always_the_same_and_opens_only_for_its_principal() {
    let seal = Seal::in_memory().unwrap();
    let id = seal.seal_id(&["token:a", "task"], b"task-1").unwrap();
    assert_eq!(seal.seal_id(&["token:a", "task"], b"task-1").unwrap(), id);
    assert_ne!(seal.seal_id(&["token:a", "task"], b"task-2").unwrap(), id);
    assert_eq!(seal.open_id(&["token:a", "task"], &id).as_deref(), Some(b"task-1".as_slice()));
    assert_eq!(seal.open_id(&["token:b", "task"], &id), None);
    assert_eq!(seal.open_value(&["token:a", "task"], &id), None);
    for damaged in ["", "task-1", "mpi1.", "mpi1.AAAA", &id[..id.len() - 2]] {
        assert_eq!(seal.open_id(&["token:a", "task"], damaged), None, "{damaged}");
    }
}

// G9: at midnight the clocks of two gateways may show two days.
#[test]
fn sealed_value_opens_on_the_days_beside_its_own_and_on_no_other() {
    let seal = Seal::in_memory().unwrap();
    let sealed = seal.seal_on_day(&["p"], b"v", 20_000).unwrap();
    for (today, opens) in [(19_998, false), (19_999, true), (20_000, true), (20_001, true), (20_002, false)] {
        assert_eq!(seal.open_on_day(&["p"], &sealed, today).is_some(), opens, "day {today}");
    }
}

// G9
#[test]
fn digest_of_a_name_depends_on_the_key_and_the_purpose_and_hides_the_name() {
    let (seal, other) = (Seal::in_memory().unwrap(), Seal::in_memory().unwrap());
    let digest = seal.digest_name("rate", "token:ada").unwrap();
    assert_eq!(seal.digest_name("rate", "token:ada").unwrap(), digest);
    let others = [seal.digest_name("rate", "token:bob"), seal.digest_name("found", "token:ada")];
    assert!(
        others.iter().chain([&other.digest_name("rate", "token:ada")]).all(|it| it.as_ref() != Some(&digest))
    );
    assert!(!digest.contains("ada"), "{digest}");
}

// B93
#[test]
fn sealed_value_is_in_use_until_its_day_has_passed() {
    let seal = Seal::in_memory().unwrap();
    let today = current_day();
    let sealed = |day: u32| seal.seal_on_day(&["p"], b"v", day).unwrap();
    assert!(Seal::is_in_use(&sealed(today)) && Seal::is_in_use(&seal.seal_id(&["p"], b"v").unwrap()));
    for other in [sealed(today - 3).as_str(), "", "mp1.", "mp1.AA", "state of a server"] {
        assert!(!Seal::is_in_use(other), "{other}");
    }
}
