//! The programs and their files.

use super::*;

mod places;

// C16
#[test]
fn every_app_is_found_by_its_word() {
    for app in App::ALL {
        assert_eq!(App::parse(app.as_str()), Some(app));
        assert!(!app.title().is_empty());
    }
    assert_eq!(App::parse("Cursor"), None);
}
