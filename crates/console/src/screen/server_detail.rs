//! Detail of the selected server: the rows and texts of its pages.
//!
//! Rows are made when they are drawn, so that a server with thousands of tools costs no more than the rows
//! on the screen. Lists that have to be parsed are parsed once for each [`Surface`].

mod read;
mod tool_text;

pub(super) use read::find_planned;

use std::collections::HashMap;
use std::sync::Arc;

use mcparley::catalog::{Catalog, ToolSwitches};
use mcparley::host::{CallCount, RunningCall};
use mcparley::model::name::{ServerName, ToolName};
use mcparley::model::tool::Tool;
use mcparley::pool::surface::Surface;

use super::detail_item::DetailItem;
use super::page::Page;
use super::popup::Popup;
use super::row_state::RowTone;
use super::server_row::{format_seconds, group_digits};

/// The selected server, with the content of its pages.
#[derive(Debug, Default)]
pub(super) struct ServerDetail {
    /// The line above the tabs: command or URL, origin, protocol version, process.
    pub(super) facts: Vec<String>,
    pub(super) lists: Arc<SurfaceLists>,
    pub(super) tools: ToolStates,
    pub(super) running: Vec<RunningCall>,
    pub(super) log: Vec<LogRow>,
    /// The texts of the page of errors, one paragraph each.
    pub(super) errors: Vec<String>,
    /// The text of the page about the server.
    pub(super) about: String,
}

/// The lists of a server, parsed.
#[derive(Debug, Default)]
pub(super) struct SurfaceLists {
    surface: Arc<Surface>,
    resources: Vec<DetailItem>,
    prompts: Vec<DetailItem>,
}

/// The state of a server's tools: switched on or off, denied, changed, called.
#[derive(Debug, Default)]
pub(super) struct ToolStates {
    pub(super) server: Option<ServerName>,
    pub(super) switches: ToolSwitches,
    pub(super) catalog: Arc<Catalog>,
    pub(super) counts: HashMap<ToolName, CallCount>,
}

/// One line of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LogRow {
    pub(super) source: String,
    pub(super) text: String,
}

/// One row of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DetailRow {
    pub(super) text: String,
    /// The remark at the end of the row.
    pub(super) remark: String,
    pub(super) tone: RowTone,
}

impl SurfaceLists {
    pub(super) fn from_surface(surface: &Arc<Surface>) -> Self {
        let resources = surface.resources.iter().chain(&surface.templates);
        Self {
            surface: Arc::clone(surface),
            resources: resources.map(|raw| DetailItem::from_resource(raw.as_str())).collect(),
            prompts: surface.prompts.iter().map(|raw| DetailItem::from_prompt(raw.as_str())).collect(),
        }
    }
}

impl ServerDetail {
    /// The tools of the server.
    pub(super) fn tools(&self) -> &[Arc<Tool>] {
        &self.lists.surface.tools
    }

    /// The number of rows of a page that is a list; of problems on the page of errors.
    pub(super) fn len(&self, page: Page) -> usize {
        match page {
            Page::Tools => self.tools().len(),
            Page::Resources => self.lists.resources.len(),
            Page::Prompts => self.lists.prompts.len(),
            Page::Calls => self.running.len(),
            Page::Log => self.log.len(),
            Page::Errors => self.errors.len(),
            Page::About => 0,
        }
    }

    /// The tab of a page: its label, and the number of its items.
    pub(super) fn tab(&self, page: Page) -> String {
        match (page, self.len(page)) {
            (Page::Log | Page::About, _) | (Page::Calls | Page::Errors, 0) => page.label().to_owned(),
            (_, count) => format!("{} {count}", page.label()),
        }
    }

    /// The rows of a page that contain the text of a filter, which is in lowercase.
    pub(super) fn find_rows(&self, page: Page, filter: &str) -> Vec<usize> {
        let contains = |text: &str| text.to_lowercase().contains(filter);
        let is_found = |index: &usize| match page {
            Page::Tools => self.tools().get(*index).is_some_and(|tool| contains(tool.name.as_str())),
            Page::Resources => self.lists.resources.get(*index).is_some_and(|item| contains(&item.title)),
            Page::Prompts => self.lists.prompts.get(*index).is_some_and(|item| contains(&item.title)),
            Page::Log => self.log.get(*index).is_some_and(|line| contains(&line.text)),
            Page::Calls => self.running.get(*index).is_some_and(|call| contains(call.tool.as_str())),
            Page::Errors | Page::About => true,
        };
        (0..self.len(page)).filter(|index| filter.is_empty() || is_found(index)).collect()
    }

    /// One row of a page that is a list.
    pub(super) fn row(&self, page: Page, index: usize) -> Option<DetailRow> {
        let of_item = |item: &DetailItem| DetailRow {
            text: item.title.clone(),
            remark: item.remark.clone(),
            tone: RowTone::Plain,
        };
        match page {
            Page::Tools => self.tools().get(index).map(|tool| self.tools.row(tool)),
            Page::Resources => self.lists.resources.get(index).map(of_item),
            Page::Prompts => self.lists.prompts.get(index).map(of_item),
            Page::Calls => self.running.get(index).map(running_row),
            Page::Log => self.log.get(index).map(|line| DetailRow {
                text: format!("{:8}{}", line.source, line.text),
                remark: String::new(),
                tone: RowTone::Plain,
            }),
            Page::Errors | Page::About => None,
        }
    }

    /// The text of a page that is not a list.
    pub(super) fn text(&self, page: Page) -> String {
        match page {
            Page::Errors if self.errors.is_empty() => "No errors.".to_owned(),
            Page::Errors => self.errors.join("\n\n"),
            Page::About => self.about.clone(),
            Page::Tools | Page::Resources | Page::Prompts | Page::Calls | Page::Log => String::new(),
        }
    }

    /// The words in place of the rows of a page without rows.
    pub(super) fn empty_text(page: Page) -> &'static str {
        match page {
            Page::Tools => "No tools.",
            Page::Resources => "No resources.",
            Page::Prompts => "No prompts.",
            Page::Calls => "No call is running.",
            Page::Log => "The log is empty.",
            Page::Errors => "No errors.",
            Page::About => "",
        }
    }

    /// The whole definition behind a row.
    pub(super) fn popup(&self, page: Page, index: usize) -> Option<Popup> {
        let of_item = |item: &DetailItem| Popup::text(&item.title, &item.json);
        match page {
            Page::Tools => self.tools().get(index).map(|tool| self.tools.popup(tool)),
            Page::Resources => self.lists.resources.get(index).map(of_item),
            Page::Prompts => self.lists.prompts.get(index).map(of_item),
            Page::Log => self.log.get(index).map(|line| Popup::text(&line.source, &line.text)),
            Page::Calls => {
                self.running.get(index).map(|call| Popup::text(call.tool.as_str(), &running_row(call).remark))
            }
            Page::Errors | Page::About => None,
        }
    }
}

/// The row of a running call: the tool, its time, and its progress.
fn running_row(call: &RunningCall) -> DetailRow {
    let mut remark = format_seconds(call.since.elapsed());
    if let Some(progress) = &call.progress {
        let share = progress.total.filter(|total| *total > 0.0).map(|total| progress.progress / total);
        remark = match share {
            Some(share) => format!("{:.0} %   {remark}", (share * 100.0).clamp(0.0, 100.0)),
            None => format!("{}   {remark}", group_digits(progress.progress.max(0.0) as u64)),
        };
        if let Some(message) = &progress.message {
            remark = format!("{message}   {remark}");
        }
    }
    DetailRow { text: call.tool.as_str().to_owned(), remark, tone: RowTone::Plain }
}

#[cfg(test)]
pub(super) mod tests;
