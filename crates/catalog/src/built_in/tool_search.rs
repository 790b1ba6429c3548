//! Definition of `ToolSearch` for models.

use mcparley_model::limits::{SEARCH_RESULTS, SEARCH_RESULTS_MOST};
use serde_json::{Value, json};

pub(super) fn tool_search_definition() -> Value {
    json!({
        "name": "ToolSearch",
        "title": "Search for tools",
        "description": "Finds tools of the connected MCP servers that are not in your list, and returns their names, \
            signatures and what they do. A tool it returns can be called at once, by the name it gives.\n\n\
            Search with a few words for what you want to do (`create pull request`), with `+word` for a word that must \
            be part of the tool's or the server's name (`+slack send message`), or name tools you know exactly \
            (`select:mcp__github__create_issue,mcp__github__list_issues`), which returns their whole definitions with \
            input schemas. The answer also says which servers are missing, and why; more tools may come with them.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "Words to search for, or `select:` and names" },
                "max_results": {
                    "type": "integer",
                    "description": "How many tools to return at most",
                    "minimum": 1,
                    "maximum": SEARCH_RESULTS_MOST,
                    "default": SEARCH_RESULTS,
                },
            },
            "required": ["query"],
            "additionalProperties": false,
        },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
    })
}
