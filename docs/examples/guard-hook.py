#!/usr/bin/env python3
"""A hook for mcparley: refuses, rewrites, answers and adds, by the event it is run for.

Settings that use it:

    {"hooks": {
      "PreToolUse":  [{"matcher": "mcp__files__.*", "hooks": [{"type": "command", "command": "guard-hook.py"}]}],
      "PostToolUse": [{"matcher": "mcp__.*",        "hooks": [{"type": "command", "command": "guard-hook.py"}]}],
      "Elicitation": [{"matcher": "deploy",         "hooks": [{"type": "command", "command": "guard-hook.py"}]}]
    }}
"""

import json
import sys


def before(call):
    """Nothing outside the project is written, and nothing is written without a newline at its end."""
    arguments = call["tool_input"]
    if ".." in arguments.get("path", ""):
        return {"permissionDecision": "deny", "permissionDecisionReason": "paths stay inside the project"}
    if "content" in arguments and not arguments["content"].endswith("\n"):
        return {"updatedInput": {**arguments, "content": arguments["content"] + "\n"}}
    return {}


def after(call):
    """A result that mentions a password is replaced whole."""
    result = json.dumps(call["tool_response"])
    if "password" in result.lower():
        return {"updatedMCPToolOutput": "[withheld: it mentions a password]"}
    return {}


def asked(question):
    """Forms are filled in with what the server suggests; pages are left to the person."""
    if question["mode"] != "form":
        return {}
    fields = question["requested_schema"]["properties"]
    suggested = {name: field["default"] for name, field in fields.items() if "default" in field}
    if len(suggested) < len(fields):
        return {}
    return {"action": "accept", "content": suggested}


HEARD = {"PreToolUse": before, "PostToolUse": after, "Elicitation": asked}

told = json.load(sys.stdin)
event = told["hook_event_name"]
said = HEARD[event](told)
if said:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": event, **said}}))
