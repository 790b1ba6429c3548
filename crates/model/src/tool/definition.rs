//! The definition of a tool as its server sent it, for forwarding.
//!
//! The description and the schemas are most of a definition, and a [`Tool`] holds them anyway. So only the
//! text around them is kept, shortened, and nothing at all for a definition that consists of nothing else.

use serde_json::value::RawValue;

use super::Tool;
use super::entry::RawToolEntry;

/// The text of a definition, with marks for the parts that the tool holds; `None` if it is the plainest one.
///
/// Marks are control characters, which JSON text never contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolDefinition(Option<Box<str>>);

/// The parts of a definition that the tool holds, by their marks.
const PARTS: [(char, HeldPart); 4] = [
    ('\u{1}', HeldPart::Name),
    ('\u{2}', HeldPart::Description),
    ('\u{3}', HeldPart::InputSchema),
    ('\u{4}', HeldPart::OutputSchema),
];

/// The marks of texts that most definitions contain.
const COMMON: [(char, &str); 8] = [
    ('\u{5}', "{\"name\":\u{1},\"description\":\u{2},\"inputSchema\":\u{3}"),
    ('\u{6}', ",\"annotations\":{"),
    ('\u{7}', "\"readOnlyHint\":"),
    ('\u{8}', "\"destructiveHint\":"),
    ('\u{b}', "\"idempotentHint\":"),
    ('\u{c}', "\"openWorldHint\":"),
    ('\u{e}', ",\"execution\":{\"taskSupport\":\"forbidden\"}"),
    ('\u{f}', "\"title\":"),
];

/// The text of the plainest definition: a name, a description and a schema of the arguments.
const PLAINEST: &str = "\u{5}}";

/// A part of a definition that the tool holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeldPart {
    Name,
    Description,
    InputSchema,
    OutputSchema,
}

impl ToolDefinition {
    /// The definition in `entry`, from which `tool` was parsed.
    pub(super) fn from_entry(entry: &RawValue, written: &RawToolEntry<'_>, tool: &Tool) -> Self {
        let text = entry.get();
        let mut cuts: Vec<(usize, usize, char)> = PARTS
            .into_iter()
            .filter_map(|(mark, part)| {
                let raw = part.raw_in(written)?.get();
                // A part that was cleaned or truncated is kept as it was sent.
                let is_held = part.text_in(tool).as_deref() == Some(raw);
                let start = (raw.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
                (is_held && text.get(start..start + raw.len()) == Some(raw)).then_some((
                    start,
                    raw.len(),
                    mark,
                ))
            })
            .collect();
        cuts.sort_by_key(|(start, ..)| *start);
        let (mut frame, mut end) = (String::new(), 0);
        for (start, length, mark) in cuts {
            frame.push_str(text.get(end..start).unwrap_or_default());
            frame.push(mark);
            end = start + length;
        }
        frame.push_str(text.get(end..).unwrap_or_default());
        for (mark, common) in COMMON {
            if frame.contains(common) {
                frame = frame.replace(common, mark.encode_utf8(&mut [0; 4]));
            }
        }
        Self((frame != PLAINEST).then(|| frame.into()))
    }

    /// The definition with the parts that the tool holds.
    fn fill(&self, tool: &Tool) -> String {
        let mut text = self.0.as_deref().unwrap_or(PLAINEST).to_owned();
        for (mark, common) in COMMON {
            if text.contains(mark) {
                text = text.replace(mark, common);
            }
        }
        let mut filled = String::with_capacity(text.len() + tool.input_schema.get().len());
        for piece in text.chars() {
            match PARTS.iter().find(|(mark, _)| *mark == piece) {
                Some((_, part)) => filled.push_str(&part.text_in(tool).unwrap_or_default()),
                None => filled.push(piece),
            }
        }
        filled
    }
}

impl HeldPart {
    /// The part in the entry of the server.
    fn raw_in<'e>(self, written: &RawToolEntry<'e>) -> Option<&'e RawValue> {
        match self {
            Self::Name => written.raw_name(),
            Self::Description => written.raw_description(),
            Self::InputSchema => written.raw_input_schema(),
            Self::OutputSchema => written.raw_output_schema(),
        }
    }

    /// The JSON text of the part, as the tool holds it.
    fn text_in(self, tool: &Tool) -> Option<std::borrow::Cow<'_, str>> {
        match self {
            Self::Name => Some(json_string(tool.name.as_str()).into()),
            Self::Description => Some(json_string(&tool.description).into()),
            Self::InputSchema => Some(tool.input_schema.get().into()),
            Self::OutputSchema => tool.output_schema.as_deref().map(|schema| schema.get().into()),
        }
    }
}

impl Tool {
    /// The definition as the server sent it, byte for byte, with members that are unknown here.
    #[must_use]
    pub fn definition_text(&self) -> String {
        self.definition.fill(self)
    }
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    //! Definitions that are returned byte for byte.
    use super::*;

    fn parse(text: &str) -> Tool {
        Tool::parse(serde_json::from_str(text).unwrap()).unwrap()
    }

    // G7
    #[test]
    fn definition_is_returned_byte_for_byte() {
        let schema = r#"{"type":"object","properties":{"n":{"const":1.0}}}"#;
        let cases = [
            format!(r#"{{"name":"a","description":"Does it","inputSchema":{schema}}}"#),
            format!(r#"{{"name":"a","inputSchema":{schema}}}"#),
            format!(r#"{{"name":"a","description":"","inputSchema":{schema}}}"#),
            format!(r#"{{ "inputSchema" : {schema}, "name":"a", "x-own": [1.50, null] }}"#),
            format!(r#"{{"name":"\u0061","description":"caf\u00e9","inputSchema":{schema}}}"#),
            format!(
                r#"{{"name":"a","outputSchema":{schema},"inputSchema":{schema},"_meta":{{"ui":{{"resourceUri":"ui://a"}}}}}}"#
            ),
            format!(r#"{{"name":"a","description":"{}","inputSchema":{schema}}}"#, "long ".repeat(2_000)),
            format!("{{\"name\":\"a\",\"description\":\"hid\u{200b}den\",\"inputSchema\":{schema}}}"),
        ];
        for text in cases {
            assert_eq!(parse(&text).definition_text(), text);
        }
        let plain = parse(r#"{"name":"a","description":"Does it","inputSchema":{"type":"object"}}"#);
        assert_eq!(plain.definition, ToolDefinition(None), "nothing is kept twice");
    }
}
