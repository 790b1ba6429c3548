//! Explains why several copies of one server run.

use std::collections::HashSet;
use std::hash::Hash;

use super::SharedKey;
use super::place::PlaceHash;

/// A property of clients that keeps copies apart: its name, and the advice that would join them.
struct CopyDifference {
    name: &'static str,
    advice: &'static str,
}

const FOLDER: CopyDifference =
    CopyDifference { name: "project folder", advice: "`share: always` if it does not use the folder" };
const ENVIRONMENT: CopyDifference =
    CopyDifference { name: "environment", advice: "`share: always` if its variables make no difference" };
const OFFER: CopyDifference = CopyDifference {
    name: "set of client capabilities",
    advice: "`share: always` if it has the same tools for every client",
};
const ROOTS: CopyDifference =
    CopyDifference { name: "set of roots", advice: "`share: always` if it does not use the roots" };
const SESSION: CopyDifference =
    CopyDifference { name: "session", advice: "`share: project` if sessions need not be kept apart" };

/// Explains why there are several copies of a server, from the keys of all its live copies; `None` for fewer
/// than two.
///
/// For example "3 copies, one per project folder; `share: always` if it does not use the folder".
#[must_use]
pub fn explain_copies<'k>(keys: impl IntoIterator<Item = &'k SharedKey>) -> Option<String> {
    let keys: Vec<&SharedKey> = keys.into_iter().collect();
    if keys.len() < 2 {
        return None;
    }
    let count = keys.len();
    let differences = find_differences(&keys);
    let names: Vec<&str> = differences.iter().map(|difference| difference.name).collect();
    Some(match (differences.as_slice(), names.split_last()) {
        ([only], _) => format!("{count} copies, one per {}; {}", only.name, only.advice),
        (_, Some((last, before))) => format!(
            "{count} copies, one per {} and {last}; `share: always` if these make no difference",
            before.join(", ")
        ),
        (_, None) => format!("{count} copies"),
    })
}

/// The properties in which the keys differ.
fn find_differences(keys: &[&SharedKey]) -> Vec<CopyDifference> {
    // A copy per session explains all other differences: each session has its own folder and capabilities.
    let sessions: HashSet<&str> = keys.iter().filter_map(|key| key.session.as_deref()).collect();
    if sessions.len() == keys.len() {
        return vec![SESSION];
    }
    let places: Vec<_> = keys.iter().map(|key| key.place).collect();
    let differ = |is_difference: fn(&PlaceHash, &PlaceHash) -> bool| {
        let placed = || places.iter().flatten();
        placed().any(|one| placed().any(|other| is_difference(one, other)))
    };
    let has_folders = differ(|one, other| !one.has_same_folder(other));
    // Two projects mostly have two environments as well, and the folder is the difference that people know.
    let has_environments =
        differ(|one, other| one.has_same_folder(other) && !one.has_same_environment(other));
    let is_placed_differently = are_different(places.iter().map(Option::is_some));
    let candidates = [
        (FOLDER, has_folders || is_placed_differently),
        (ENVIRONMENT, has_environments),
        (OFFER, are_different(keys.iter().map(|key| key.offer))),
        (ROOTS, are_different(keys.iter().map(|key| key.roots))),
        (SESSION, are_different(keys.iter().map(|key| key.session.as_deref()))),
    ];
    candidates.into_iter().filter_map(|(difference, is_there)| is_there.then_some(difference)).collect()
}

fn are_different<T: Eq + Hash>(values: impl Iterator<Item = T>) -> bool {
    values.collect::<HashSet<_>>().len() > 1
}

#[cfg(test)]
mod tests;
