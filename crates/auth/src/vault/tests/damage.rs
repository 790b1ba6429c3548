//! Damage costs only the damaged part, is never overwritten silently, and never stops the program.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// A vault with the entries `a` and `b`.
async fn filled(folder: &Path) -> String {
    let vault = with_file(folder);
    put(&vault, &server("a"), "one").await;
    put(&vault, &server("b"), "two").await;
    fs::read_to_string(file(folder)).unwrap()
}

fn spoil(folder: &Path, content: impl AsRef<[u8]>) {
    fs::write(file(folder), content).unwrap();
}

fn set_aside(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains("vault.damaged-")).collect()
}

fn line(content: &str, start: &str) -> String {
    content.lines().find(|line| line.starts_with(start)).unwrap().to_owned()
}

// B62 H33
#[tokio::test]
async fn damaged_entry_does_not_affect_others() {
    let folder = tempfile::tempdir().unwrap();
    let whole = filled(folder.path()).await;
    let good = line(&whole, "entry server/a ");
    let (start, sealed) = good.rsplit_once(' ').unwrap();
    let flipped = if sealed.starts_with('A') { "B" } else { "A" };
    let other = line(&whole, "entry server/b ");
    let other_sealed = other.rsplit_once(' ').unwrap().1;
    let bad_lines: Vec<Vec<u8>> = vec![
        format!("{start} {flipped}{}", &sealed[1..]).into(),
        format!("{start} {}", &sealed[..sealed.len() / 2]).into(),
        format!("{start} {other_sealed}").into(),
        format!("{start} ").into(),
        format!("{start} =\u{1b}[2J").into(),
        format!("{start} {sealed} more").into(),
        good.replace(" 1 ", " 7 ").into(),
        good.replace(" 1 ", " -1 ").into(),
        b"entry server/a \xff\xfe".to_vec(),
        b"entry server/a".to_vec(),
    ];
    for bad in bad_lines {
        let content = whole.as_bytes().split(|byte| *byte == b'\n');
        let content = content.map(|line| if line == good.as_bytes() { bad.clone() } else { line.to_owned() });
        spoil(folder.path(), content.collect::<Vec<_>>().join(&b'\n'));
        let vault = with_file(folder.path());
        let shown = String::from_utf8_lossy(&bad).into_owned();
        let error = vault.read_entry(&server("a")).await.unwrap_err();
        assert!(matches!(&error, VaultError::Damaged { id } if *id == server("a")), "{shown}: {error:?}");
        assert_eq!(text(&vault, &server("b")).await.unwrap(), "two", "{shown}");
        assert_eq!(vault.list_entries("server").await.unwrap().len(), 1, "{shown}");
        assert_eq!(notices(&vault), ["the entry `server/a` of the vault is damaged: sign in again"]);
        put(&vault, &server("c"), "three").await;
        let kept = fs::read(file(folder.path())).unwrap();
        assert!(kept.windows(bad.len()).any(|window| window == bad), "{shown} was not carried along");
        vault.write_entry(&server("a"), secret("new"), ExpectedEntry::Absent).await.unwrap();
        assert_eq!(text(&vault, &server("a")).await.unwrap(), "new", "{shown}");
    }
}

// H33
#[tokio::test]
async fn value_sealed_for_one_entry_cannot_be_opened_as_another() {
    let folder = tempfile::tempdir().unwrap();
    let whole = filled(folder.path()).await;
    let (a, b) = (line(&whole, "entry server/a "), line(&whole, "entry server/b "));
    let values = |line: &str| line.splitn(3, ' ').nth(2).unwrap().to_owned();
    let swapped = whole.replace(&values(&a), "first").replace(&values(&b), "second");
    spoil(folder.path(), swapped.replace("first", &values(&b)).replace("second", &values(&a)));
    let vault = with_file(folder.path());
    for id in [server("a"), server("b")] {
        assert!(matches!(vault.read_entry(&id).await, Err(VaultError::Damaged { .. })));
    }
}

#[tokio::test]
async fn file_that_is_no_vault_counts_as_empty_and_is_saved_before_a_write() {
    let garbage: [&[u8]; 5] = [b"", b"\0\0\0\0", b"{\"servers\": {}}\n", b"mcparley-vaul", b"\xff\xfe\n\n"];
    for content in garbage {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path()).await;
        spoil(folder.path(), content);
        let vault = with_file(folder.path());
        let path = file(folder.path());
        assert_eq!(text(&vault, &server("a")).await, None);
        let damaged = format!("`{}` is damaged: sign in again where needed", path.display());
        assert_eq!(notices(&vault), [damaged]);
        assert!(!vault.remove_entry(&server("a"), ExpectedEntry::Any).await.unwrap());
        assert_eq!((fs::read(&path).unwrap(), set_aside(folder.path()).len()), (content.to_owned(), 0));
        vault.write_entry(&server("a"), secret("new"), ExpectedEntry::Absent).await.unwrap();
        let aside = set_aside(folder.path());
        assert_eq!(fs::read(&aside[0]).unwrap(), content);
        assert_eq!(notices(&vault), [format!("the damaged vault was saved as `{}`", aside[0].display())]);
        assert_eq!(text(&vault, &server("a")).await.unwrap(), "new");
    }
}

#[tokio::test]
async fn truncated_file_yields_no_wrong_value_and_is_saved_before_a_write() {
    let folder = tempfile::tempdir().unwrap();
    let whole = filled(folder.path()).await;
    for length in 0..whole.len() - 1 {
        spoil(folder.path(), &whole[..length]);
        let vault = with_file(folder.path());
        for (id, value) in [(server("a"), "one"), (server("b"), "two")] {
            match vault.read_entry(&id).await {
                Ok(Some(entry)) => assert_eq!(entry.value, secret(value), "{length}"),
                Ok(None) | Err(VaultError::Damaged { .. }) => {}
                Err(error) => panic!("{length}: {error:?}"),
            }
        }
        assert!(!notices(&vault).is_empty(), "{length}");
    }
    put(&with_file(folder.path()), &server("c"), "three").await;
    assert_eq!(fs::read(&set_aside(folder.path())[0]).unwrap(), whole.as_bytes()[..whole.len() - 2]);
}

#[tokio::test]
async fn vault_of_a_later_version_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let later = filled(folder.path()).await.replace("mcparley-vault 1\n", "mcparley-vault 2\n");
    spoil(folder.path(), &later);
    let vault = with_file(folder.path());
    let errors = [
        vault.read_entry(&server("a")).await.map(drop),
        vault.write_entry(&server("a"), secret("new"), ExpectedEntry::Any).await.map(drop),
        vault.remove_entry(&server("a"), ExpectedEntry::Any).await.map(drop),
    ];
    for error in errors.map(Result::unwrap_err) {
        assert!(matches!(error, VaultError::Newer { version: 2, .. }), "{error:?}");
    }
    assert_eq!(fs::read_to_string(file(folder.path())).unwrap(), later);
}

// A damaged key line costs no entry as long as some place still has the key.
#[tokio::test]
async fn key_with_a_damaged_line_is_searched_in_all_places() {
    let folder = tempfile::tempdir().unwrap();
    let keychain = Fake::new(KeyPlace::SecretService, Manner::Works);
    let whole = filled(folder.path()).await;
    spoil(folder.path(), whole.replace("\nkey ", "\nkeg "));
    let vault = with_fakes(folder.path(), &[&keychain]);
    assert_eq!(text(&vault, &server("a")).await.unwrap(), "one");
}

// H29 B98
#[tokio::test]
async fn vault_with_unsafe_permissions_is_refused() {
    use mcparley_model::explain::Explain as _;
    let folder = tempfile::tempdir().unwrap();
    let whole = filled(folder.path()).await;
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let path = file(folder.path());
    for (spoiled, bad, good) in [(path.as_path(), 0o640, 0o600), (folder.path(), 0o777, 0o700)] {
        mode(spoiled, bad);
        let vault = with_file(folder.path());
        let error = vault.read_entry(&server("a")).await.unwrap_err();
        assert!(error.hint().unwrap().starts_with("`chmod "), "{error}");
        vault.write_entry(&server("a"), secret("new"), ExpectedEntry::Any).await.unwrap_err();
        mode(spoiled, good);
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    }
    assert_eq!(text(&with_file(folder.path()), &server("a")).await.unwrap(), "one");
}

// H29 B100
#[tokio::test]
async fn a_link_in_the_place_of_the_vault_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    filled(elsewhere.path()).await;
    std::os::unix::fs::symlink(file(elsewhere.path()), file(folder.path())).unwrap();
    let vault = with_file(folder.path());
    assert!(matches!(vault.read_entry(&server("a")).await, Err(VaultError::Read(_))));
    let written = vault.write_entry(&server("a"), secret("new"), ExpectedEntry::Any).await;
    assert!(matches!(written, Err(VaultError::Read(_))), "{written:?}");
}
