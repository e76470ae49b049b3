"""What Schemathesis has to know of a watch: it is a list that goes on, one event of JSON a line."""

import json

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """Ends a watch after a second of the server's hurried clock."""
    if case.query and "watch" in case.query and str(case.query.get("timeoutSeconds", "0")).isdigit():
        case.query["timeoutSeconds"] = "1"


@schemathesis.deserializer("application/json")
def read_json(context, response):
    """The document, or the last of the events."""
    lines = [json.loads(line) for line in response.text.splitlines() if line]
    return lines[-1] if lines else json.loads(response.text)
