//! The three files of the page, embedded in the program.

/// A file of the page.
#[derive(Debug)]
pub(crate) struct PageAsset {
    /// The path below `/ui/`.
    path: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) text: &'static str,
}

/// All files of the page.
static ASSETS: [PageAsset; 3] = [
    PageAsset {
        path: "",
        content_type: "text/html; charset=utf-8",
        text: include_str!("../assets/index.html"),
    },
    PageAsset {
        path: "ui.css",
        content_type: "text/css; charset=utf-8",
        text: include_str!("../assets/ui.css"),
    },
    PageAsset {
        path: "ui.js",
        content_type: "text/javascript; charset=utf-8",
        text: include_str!("../assets/ui.js"),
    },
];

/// The file at this path below `/ui/`.
pub(crate) fn find_asset(path: &str) -> Option<&'static PageAsset> {
    ASSETS.iter().find(|asset| asset.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The maximum size of all files together.
    const MOST_BYTES: usize = 150_000;

    // U6
    #[test]
    fn files_of_the_page_are_small() {
        let size: usize = ASSETS.iter().map(|asset| asset.text.len()).sum();
        assert!(size < MOST_BYTES, "{size} bytes");
    }

    // U6
    #[test]
    fn page_has_no_inline_script_or_style_and_no_foreign_address() {
        for asset in &ASSETS {
            for word in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "https://"]
            {
                assert!(!asset.text.contains(word), "`{word}` in {}", asset.path);
            }
        }
        let html = find_asset("").unwrap().text;
        for word in ["<style", " style=", " onclick", "javascript:"] {
            assert!(!html.contains(word), "`{word}`");
        }
        assert_eq!(html.matches("<script").count(), 1);
    }
}
