//! Order, filter, and the cursor that stays on its server.

use super::super::server_row::tests::connected_row;
use super::*;

fn rows() -> Vec<ServerRow> {
    let failed = RowState::Failed { reason: "gone".to_owned() };
    vec![
        ServerRow { scope: "user", tools: 3, ..connected_row("git") },
        ServerRow { state: failed, tools: 0, ..connected_row("jira") },
        ServerRow { scope: "user", tools: 9, ..connected_row("files") },
    ]
}

fn names(list: &RowList) -> Vec<&str> {
    (0..list.len()).filter_map(|place| list.visible_row(place)).map(|row| row.name.as_str()).collect()
}

// U4
#[test]
fn servers_are_sorted_by_each_key_in_turn() {
    let mut list = RowList::default();
    list.set_rows(rows());
    let mut orders = Vec::new();
    for _ in 0..4 {
        orders.push((list.sort().label(), names(&list).join(" ")));
        list.sort_by_next_key();
    }
    let expected = [
        ("name", "files git jira"),
        ("state", "jira files git"),
        ("scope", "jira files git"),
        ("tools", "files git jira"),
    ];
    assert_eq!(orders, expected.map(|(key, order)| (key, order.to_owned())));
}

// U4
#[test]
fn order_does_not_depend_on_the_order_of_the_host() {
    let (mut list, mut other) = (RowList::default(), RowList::default());
    list.set_rows(rows());
    other.set_rows(rows().into_iter().rev().collect());
    assert_eq!(names(&list), names(&other));
}

// U4
#[test]
fn cursor_stays_on_its_server_when_rows_come_and_go() {
    let mut list = RowList::default();
    list.set_rows(rows());
    list.cursor.move_by(2, 3);
    assert_eq!(list.selected_row().unwrap().name, "jira");
    let mut more = rows();
    more.push(connected_row("aaa"));
    list.set_rows(more);
    assert_eq!(list.selected_row().unwrap().name, "jira");
    list.set_rows(vec![connected_row("git")]);
    assert_eq!(list.selected_row().unwrap().name, "git");
    list.set_rows(Vec::new());
    assert_eq!(list.selected_row(), None);
}

// U4
#[test]
fn filter_finds_names_and_states_in_any_case() {
    let mut list = RowList::default();
    list.set_rows(rows());
    for (filter, found) in [("GI", "git"), ("failed", "jira"), ("user", "files git"), ("zzz", "")] {
        list.set_filter(filter);
        assert_eq!(names(&list).join(" "), found, "{filter}");
    }
    list.set_filter("");
    assert_eq!(list.totals(), (3, 2));
    assert_eq!(list.len(), 3);
}
