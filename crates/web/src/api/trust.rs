//! Items of the project folder that wait for approval, to approve or reject.

use std::sync::Arc;

use hyper::StatusCode;
use mcparley::config::change::{
    ApprovalEntry, PendingApprovals, approval_entries, approve_items, reject_items,
};
use mcparley::model::approval::ApprovalItem;
use mcparley::model::explain::Explain as _;
use mcparley_door::PageRequest;
use mcparley_platform::thread::run_blocking;
use serde::Deserialize;
use serde_json::{Value, json};

use super::actions::unwritten_response;
use super::parse_body;
use crate::page_state::PageState;
use crate::response::{ErrorResponse, error_response};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustRequest {
    decision: TrustDecision,
    /// The ids of the items, which contain the hashes of their contents.
    items: Vec<String>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum TrustDecision {
    Approve,
    Reject,
}

/// The items that wait, each in full. Reads files, so it runs aside.
pub(crate) async fn list_items(state: &PageState) -> Value {
    let (folder, entries) = find_entries(state).await;
    let items: Vec<Value> = entries
        .iter()
        .map(|entry| {
            json!({
                "id": item_id(&entry.item), "kind": entry.kind, "summary": entry.summary, "runs": entry.runs,
                "origin": entry.origin, "fields": entry.fields, "cautions": entry.cautions,
            })
        })
        .collect();
    json!({ "folder": folder, "items": items })
}

/// Approves or rejects items as the page showed them: an item that has changed since is not found.
pub(crate) async fn decide_items(
    state: &Arc<PageState>,
    request: &PageRequest,
) -> Result<Value, ErrorResponse> {
    let TrustRequest { decision, items } = parse_body(request)?;
    let (_, entries) = find_entries(state).await;
    let chosen: Vec<ApprovalItem> = entries
        .into_iter()
        .filter(|entry| items.contains(&item_id(&entry.item)))
        .map(|entry| entry.item)
        .collect();
    if chosen.is_empty() || chosen.len() < items.len() {
        let changed = "an item has changed since the page showed it; look at it again";
        return Err(error_response(StatusCode::CONFLICT, changed, None));
    }
    let (paths, count) = (state.host.paths(), chosen.len());
    let written = run_blocking(move || match decision {
        TrustDecision::Approve => approve_items(&paths, &chosen),
        TrustDecision::Reject => reject_items(&paths, &chosen),
    });
    match written.await {
        Some(Ok(_)) => {}
        Some(Err(error)) => {
            return Err(error_response(StatusCode::CONFLICT, &error.to_string(), error.hint().as_deref()));
        }
        None => return Err(unwritten_response()),
    }
    state.host.reload().await;
    state.refresh_pages();
    let word = if decision == TrustDecision::Approve { "Approved" } else { "Rejected" };
    let noun = if count == 1 { "item" } else { "items" };
    Ok(json!({ "message": format!("{word} {count} {noun}") }))
}

async fn find_entries(state: &PageState) -> (String, Vec<ApprovalEntry>) {
    let (paths, run_options) = (state.host.paths(), state.options.run_options.clone());
    let found = run_blocking(move || {
        let waiting = PendingApprovals::find_in_project(&paths, &run_options);
        (waiting.folder.to_string_lossy().into_owned(), approval_entries(&waiting))
    });
    found.await.unwrap_or_default()
}

/// The id of an item: its kind, its name and the hash of its content.
fn item_id(item: &ApprovalItem) -> String {
    format!("{}/{}/{}", item.kind.store_key(), item.name, item.content)
}
