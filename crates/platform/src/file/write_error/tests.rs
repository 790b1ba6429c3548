//! Classification of the system's errors when writing.

use super::*;

// F73 F74 F75
#[test]
fn every_system_error_is_classified() {
    let table = [
        (Errno::NOSPC, "no space left to write `/f`"),
        (Errno::DQUOT, "no space left to write `/f`"),
        (Errno::FBIG, "no space left to write `/f`"),
        (Errno::ACCESS, "no permission to write `/f`"),
        (Errno::PERM, "no permission to write `/f`"),
        (Errno::ROFS, "no permission to write `/f`"),
        (Errno::IO, "cannot write `/f`"),
    ];
    for (errno, expected) in table {
        let error = FileWriteError::from_errno(WriteStep::Write, Path::new("/f"), errno);
        assert_eq!(error.to_string(), expected, "{errno:?}");
        assert_eq!(error.hint().is_some(), errno != Errno::IO, "{errno:?}");
    }
}
