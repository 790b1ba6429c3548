//! Edits of configuration files on behalf of the user: which file, which key, and which checks come first.
//!
//! Every edit goes through [`mcparley_platform::file::update_file`] and `json_editor`, so it is an atomic write
//! under an advisory lock, and the rest of the file stays unchanged.

mod approval_entry;
mod exclude;
mod hook;
mod identity;
mod pending_approvals;
mod rule;
mod server;
mod server_choice;
mod tools;

pub use crate::approval_store::{approve_items, reject_items};
pub use crate::change_error::ChangeError;
pub use crate::edit_target::{FileChoice, WriteScope};
pub use approval_entry::{ApprovalEntry, approval_entries, hook_fields, review_fields, server_entry};
pub use exclude::GitExclusion;
pub use hook::{HookChoice, approve_hook, pending_hooks, reject_hook};
pub use identity::{remove_identity_provider, set_identity_provider};
pub use pending_approvals::PendingApprovals;
pub use rule::{
    AlwaysAllowScope, RemovedRule, WrittenRule, add_rule, always_allow_file, bind_to_servers,
    bind_typed_rules, is_bound, remove_rule, write_always_allow_rule,
};
pub use server::{AddedServer, NewServer, RemovedServer, SecretExposure, add_server, remove_server};
pub(crate) use server::{check_new_server, with_type};
pub use server_choice::{
    ServerChoice, SwitchedServer, approve_server, disable_server, enable_server, reject_server,
    reset_project_choices,
};
pub use tools::{SwitchedTools, disable_tools, enable_tools};
