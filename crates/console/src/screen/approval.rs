//! Approval of an entry of the project folder: the popup that shows the whole entry first.

use std::fmt::Write as _;

use mcparley::config::LoadedConfig;
use mcparley::model::text::display_line;

use super::popup::{Popup, PopupQuestion};
use super::server_detail::find_planned;
use super::server_row::RowId;

/// The popup that shows an entry as it is written and as it would run, and asks whether to approve it.
///
/// # Errors
/// The reason why the entry cannot be approved.
pub(super) fn approval_popup(loaded: &LoadedConfig, id: &RowId) -> Result<Popup, String> {
    let name = display_line(id.server.as_str());
    let Some(planned) = find_planned(loaded, id) else {
        return Err(format!("{name} is not configured any more"));
    };
    let (Some(raw), Some(definition)) = (&planned.raw, planned.definition) else {
        let reason = planned.status.reason().unwrap_or_default();
        return Err(format!("{name} cannot be approved: {}", display_line(&reason)));
    };
    let mut text = format!("declared in {}\n\n", display_line(&id.origin));
    let fields = raw.review_fields(planned.config.as_ref(), &loaded.env, |name| loaded.is_own_variable(name));
    for field in fields {
        // Writing to a `String` cannot fail.
        writeln!(text, "{}: {}", display_line(&field.name), display_line(&field.written)).unwrap_or_default();
        if let Some(runs) = &field.runs {
            writeln!(text, "  runs as: {}", display_line(runs)).unwrap_or_default();
        }
    }
    let dangerous: Vec<&str> = planned.dangerous_variables().collect();
    if !dangerous.is_empty() {
        let names = display_line(&dangerous.join(", ")).into_owned();
        writeln!(text, "\ncaution: {names} can change the program that runs").unwrap_or_default();
    }
    for caution in &planned.cautions {
        writeln!(text, "\ncaution: {caution}").unwrap_or_default();
    }
    let question = PopupQuestion::Approve { server: id.server.clone(), definition: definition.to_string() };
    Ok(Popup::asking(question, &format!("Approve {name}?"), &text))
}
