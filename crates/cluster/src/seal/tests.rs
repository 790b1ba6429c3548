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
