//! Benchmarks of sanitizing a megabyte of foreign text: plain, and with characters that need context.

use std::borrow::Cow;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use mcparley_model::text::clean_text;

const MEGABYTE: usize = 1_000_000;

fn main() {
    divan::main();
}

#[divan::bench(args = ["plain", "accents", "chinese", "hidden"])]
fn clean_a_megabyte(bencher: Bencher, kind: &str) {
    let line = match kind {
        "accents" => "He said \"naïve café\" and went on with a line of usual length.\n",
        "chinese" => "他说“你好”，然后继续说下去，直到这一行结束。\n",
        "hidden" => "He said \"hello\u{200b}\" and went on with a line of usual length.\n",
        _ => "He said \"hello\" and went on with a line of usual length.\n",
    };
    let text = line.repeat(MEGABYTE / line.len());
    bencher.counter(BytesCount::of_str(&text)).bench(|| match clean_text(black_box(&text)) {
        Cow::Borrowed(text) => text.len(),
        Cow::Owned(text) => text.len(),
    });
}
