#!/usr/bin/env python3
"""A hook for mcparley that denies calls, changes arguments, replaces results and answers forms.

Put this into your settings to use it:

    {"hooks": {
      "PreToolUse":  [{"matcher": "mcp__files__.*", "hooks": [{"type": "command", "command": "guard-hook.py"}]}],
      "PostToolUse": [{"matcher": "mcp__.*",        "hooks": [{"type": "command", "command": "guard-hook.py"}]}],
      "Elicitation": [{"matcher": "deploy",         "hooks": [{"type": "command", "command": "guard-hook.py"}]}]
    }}
"""

import json
import sys


def pre_tool_use(call):
    """Denies paths outside the project, and adds a missing newline at the end of written content."""
    arguments = call["tool_input"]
    if ".." in arguments.get("path", ""):
        return {"permissionDecision": "deny", "permissionDecisionReason": "paths stay inside the project"}
    if "content" in arguments and not arguments["content"].endswith("\n"):
        return {"updatedInput": {**arguments, "content": arguments["content"] + "\n"}}
    return {}


def post_tool_use(call):
    """Replaces a result that mentions a password."""
    result = json.dumps(call["tool_response"])
    if "password" in result.lower():
        return {"updatedMCPToolOutput": "[withheld: it mentions a password]"}
    return {}


def elicitation(request):
    """Accepts a form if every field has a default; leaves pages to the user."""
    if request["mode"] != "form":
        return {}
    fields = request["requested_schema"]["properties"]
    defaults = {name: field["default"] for name, field in fields.items() if "default" in field}
    if len(defaults) < len(fields):
        return {}
    return {"action": "accept", "content": defaults}


HANDLERS = {"PreToolUse": pre_tool_use, "PostToolUse": post_tool_use, "Elicitation": elicitation}

hook_input = json.load(sys.stdin)
event = hook_input["hook_event_name"]
output = HANDLERS[event](hook_input)
if output:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": event, **output}}))
