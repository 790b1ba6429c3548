//! The tool lists that clients of a gateway share.

use std::sync::{Arc, Mutex, PoisonError};

use crate::response::item::ToolListItem;
use crate::view::View;

/// The tool lists of clients that have found no tools of their own. They are selected once for all.
#[derive(Debug, Default)]
pub(crate) struct CommonToolLists(Mutex<Option<CommonLists>>);

/// The lists of one view.
#[derive(Debug)]
struct CommonLists {
    view: Arc<View>,
    lists: Vec<CommonList>,
}

#[derive(Debug)]
struct CommonList {
    /// Whether more tools may join, and whether apps are shown.
    form: (bool, bool),
    items: Arc<Vec<ToolListItem>>,
}

impl CommonToolLists {
    /// The list of a view, selected when it is first needed.
    pub(crate) fn list_of(
        &self,
        view: &Arc<View>,
        form: (bool, bool),
        select: impl FnOnce() -> Vec<ToolListItem>,
    ) -> Arc<Vec<ToolListItem>> {
        let mut common = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let common = match &mut *common {
            Some(common) if Arc::ptr_eq(&common.view, view) => common,
            other => other.insert(CommonLists { view: Arc::clone(view), lists: Vec::new() }),
        };
        if let Some(list) = common.lists.iter().find(|list| list.form == form) {
            return Arc::clone(&list.items);
        }
        let items = Arc::new(select());
        common.lists.push(CommonList { form, items: Arc::clone(&items) });
        items
    }
}
