//! Layout: divides a screen of any size.

use ratatui::layout::Rect;

use super::super::model::Focus;

/// The rows below which only the pane in focus is shown.
const BOTH_PANES: u16 = 8;

/// The rows of the detail above its body: a line, the facts and the tabs.
const DETAIL_HEAD: u16 = 3;

/// The areas of the screen. An area without room is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScreenLayout {
    pub(super) title: Option<Rect>,
    pub(super) list: Rect,
    pub(super) rule: Option<Rect>,
    pub(super) facts: Option<Rect>,
    pub(super) tabs: Option<Rect>,
    pub(super) body: Rect,
    pub(super) footer: Option<Rect>,
}

impl ScreenLayout {
    /// The layout for a number of servers. The list takes two fifths of the rows at most.
    pub(super) fn new(area: Rect, servers: usize, focus: Focus) -> Self {
        let mut rest = area;
        let title = (area.height >= 6).then(|| take_top(&mut rest, 1));
        let footer = (area.height >= 3).then(|| take_bottom(&mut rest, 1));
        let empty = Self { title, footer, ..Self::default() };
        if rest.height < BOTH_PANES {
            return match focus {
                Focus::Servers => Self { list: rest, ..empty },
                Focus::Detail => empty.with_detail(rest),
            };
        }
        let most = (rest.height * 2 / 5).max(3);
        let list = take_top(&mut rest, u16::try_from(servers.max(1)).unwrap_or(most).min(most));
        let rule = Some(take_top(&mut rest, 1));
        Self { list, rule, ..empty.with_detail(rest) }
    }

    fn with_detail(self, mut rest: Rect) -> Self {
        let facts = (rest.height >= DETAIL_HEAD).then(|| take_top(&mut rest, 1));
        let tabs = (rest.height >= 2).then(|| take_top(&mut rest, 1));
        Self { facts, tabs, body: rest, ..self }
    }
}

fn take_top(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    let top = Rect { height, ..*rest };
    *rest = Rect { y: rest.y + height, height: rest.height - height, ..*rest };
    top
}

fn take_bottom(rest: &mut Rect, height: u16) -> Rect {
    let height = height.min(rest.height);
    *rest = Rect { height: rest.height - height, ..*rest };
    Rect { y: rest.y + rest.height, height, ..*rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    // U4
    #[test]
    fn every_row_belongs_to_one_area_at_every_size() {
        for (height, servers) in (0..60).flat_map(|height| [0, 1, 5, 500].map(|servers| (height, servers))) {
            for focus in [Focus::Servers, Focus::Detail] {
                let area = Rect::new(0, 0, 80, height);
                let layout = ScreenLayout::new(area, servers, focus);
                let parts = [layout.title, layout.rule, layout.facts, layout.tabs, layout.footer];
                let heads: u16 = parts.into_iter().flatten().map(|part| part.height).sum();
                assert_eq!(heads + layout.list.height + layout.body.height, height, "{layout:?}");
            }
        }
    }

    // U4
    #[test]
    fn small_screen_shows_the_pane_in_focus_alone() {
        let area = Rect::new(0, 0, 40, 8);
        let servers = ScreenLayout::new(area, 20, Focus::Servers);
        assert_eq!((servers.list.height, servers.body.height), (6, 0));
        let detail = ScreenLayout::new(area, 20, Focus::Detail);
        assert_eq!((detail.list.height, detail.body.height), (0, 4));
    }
}
