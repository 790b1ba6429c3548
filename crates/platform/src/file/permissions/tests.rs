//! Table tests of owners and permission bits.

use super::*;

const US: u32 = 1000;
const OTHER: u32 = 1001;
const ROOT: u32 = 0;

fn marks(owner: u32, mode: u32, us: u32) -> FilePermissions {
    FilePermissions { owner, mode, us }
}

// B60
#[test]
fn a_file_is_trusted_by_its_owner_and_its_permission_bits() {
    let table = [
        (US, 0o600, US, Ownership::Trusted),
        (US, 0o664, US, Ownership::Trusted),
        (US, 0o666, US, Ownership::WorldWritable { mode: 0o666 }),
        (US, 0o602, US, Ownership::WorldWritable { mode: 0o602 }),
        (ROOT, 0o644, US, Ownership::Trusted),
        (ROOT, 0o646, US, Ownership::WorldWritable { mode: 0o646 }),
        (OTHER, 0o600, US, Ownership::OtherOwner { uid: OTHER }),
        (OTHER, 0o666, US, Ownership::OtherOwner { uid: OTHER }),
        (ROOT, 0o600, ROOT, Ownership::Trusted),
        (OTHER, 0o644, ROOT, Ownership::OtherOwner { uid: OTHER }),
    ];
    for (owner, mode, us, expected) in table {
        assert_eq!(marks(owner, mode, us).ownership(), expected, "{owner} {mode:o} for {us}");
    }
}

// B100
#[test]
fn folder_is_private_closed_to_others_or_refused() {
    let table = [
        (US, 0o700, US, FolderVerdict::Private),
        (US, 0o500, US, FolderVerdict::Private),
        (US, 0o755, US, FolderVerdict::Close),
        (US, 0o750, US, FolderVerdict::Close),
        (US, 0o701, US, FolderVerdict::Close),
        (US, 0o770, US, FolderVerdict::WritableByOthers),
        (US, 0o702, US, FolderVerdict::WritableByOthers),
        (US, 0o1777, US, FolderVerdict::WritableByOthers),
        (OTHER, 0o700, US, FolderVerdict::Foreign),
        (ROOT, 0o700, US, FolderVerdict::Foreign),
        (OTHER, 0o700, ROOT, FolderVerdict::Foreign),
        (ROOT, 0o700, ROOT, FolderVerdict::Private),
    ];
    for (owner, mode, us, expected) in table {
        assert_eq!(marks(owner, mode, us).folder_verdict(), expected, "{owner} {mode:o} for {us}");
    }
}

// H32
#[test]
fn a_secret_is_private_by_its_permission_bits_and_trusted_by_its_owner() {
    let table = [
        (US, 0o600, true, true, false),
        (US, 0o400, true, true, false),
        (US, 0o640, true, false, false),
        (US, 0o604, true, false, false),
        (US, 0o620, true, false, true),
        (ROOT, 0o600, true, true, false),
        (OTHER, 0o600, false, true, false),
        (OTHER, 0o602, false, false, true),
    ];
    for (owner, mode, is_trusted, is_private, is_writable) in table {
        let marks = marks(owner, mode, US);
        let found = (marks.is_trusted_owner(), marks.is_private(), marks.is_writable_by_others());
        assert_eq!(found, (is_trusted, is_private, is_writable), "{owner} {mode:o}");
    }
}
