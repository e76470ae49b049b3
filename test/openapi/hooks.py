"""What Schemathesis has to know of a watch, which is a list that goes on, one event of JSON a line; and of users: the version
that a change names is one of this run, and whoever is deleted is not found any more."""

import json
import os
import urllib.parse
import urllib.request

import schemathesis

ORIGIN = os.environ["ORIGIN"]
CALLER = os.environ.get("CALLER")
STAYS = "alice"
GOES = "bob"  # whom the example of a new user makes


@schemathesis.hook
def before_call(context, case, kwargs):
    """Ends a watch after a second of the server's hurried clock; names the version of the user that is changed."""
    if case.query and "watch" in case.query and str(case.query.get("timeoutSeconds", "0")).isdigit():
        case.query["timeoutSeconds"] = "1"
    operation = case.operation.definition.raw.get("operationId")
    user = (case.path_parameters or {}).get("user")
    if operation == "deleteUser" and user == STAYS:
        case.path_parameters["user"] = GOES
    if operation == "setFirstPassword" and user == STAYS and CALLER:
        case.path_parameters["user"] = CALLER
    if operation == "updateUser" and user == STAYS and is_good(case) and CALLER:
        case.body["metadata"].update(name=user, resourceVersion=version_of(user))


def is_good(case):
    """Whether the request is one that the description allows."""
    return case.meta is None or case.meta.generation.mode.is_positive


def version_of(user):
    """The version of the user's object, as somebody reads it who may."""
    form = dict(grant_type="password", client_id="console", client_secret="made-up-secret", username="ada", password="Made-up-1")
    token = answer("/oauth/token", data=urllib.parse.urlencode(form).encode())["access_token"]
    read = answer("/kapis/iam.gatehouse.io/v1alpha2/users/" + user, headers={"Authorization": "Bearer " + token})
    return read["metadata"]["resourceVersion"]


def answer(path, **request):
    with urllib.request.urlopen(urllib.request.Request(ORIGIN + path, **request)) as response:
        return json.load(response)


@schemathesis.deserializer("application/json", "application/x-ndjson")
def read_json(context, response):
    """The document, or the last of the events."""
    lines = [json.loads(line) for line in response.text.split("\n") if line]
    return lines[-1] if lines else json.loads(response.text)
