//! Files that others may have written are ignored with a warning (B60).

use std::os::unix::fs::MetadataExt;

use crate::world::{World, chmod, servers};

/// Files in folders that are not the user's own.
const SHARED: [&str; 3] =
    ["home/project/.mcp.json", "home/.mcp.json", "home/project/.claude/settings.local.json"];

// B60
#[test]
fn a_file_that_everyone_may_write_to_is_ignored() {
    for file in SHARED {
        let world = World::with(&[(file, &servers(&["evil"])), ("home/.claude.json", &servers(&["mine"]))]);
        chmod(&world.path(file), 0o666);
        assert_eq!(world.table(), ["user mine ready"]);
        assert_eq!(
            world.problems(),
            [format!("{file}: ignored: every user of this machine may write to it (mode 666)")]
        );
        chmod(&world.path(file), 0o664);
        assert_eq!(world.load().plan.servers.len(), 2);
    }
}

// B60
#[test]
fn a_file_of_another_user_is_ignored() {
    for file in SHARED {
        let world = World::with(&[(file, &servers(&["evil"]))]);
        let is_root = world.path("home").metadata().unwrap().uid() == 0;
        if !is_root {
            // Only root can give a file away; the decision itself is a table in `platform`.
            assert!(std::env::var_os("CI").is_none(), "this test proves nothing unless it is run by root");
            return;
        }
        std::os::unix::fs::chown(world.path(file), Some(65_534), None).unwrap();
        assert!(world.table().is_empty());
        assert_eq!(
            world.problems(),
            [format!("{file}: ignored: it belongs to user 65534, neither you nor root")]
        );
    }
}
