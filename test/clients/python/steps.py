"""What the programs of this folder share: they read what to do, and print what came of it."""

import json
import os
import sys
import threading

_told = json.loads(os.environ["CLIENT"])
ISSUER = _told["issuer"]
NODES = _told["nodes"]
KUBECONFIG = _told["kubeconfig"]
CLIENT_ID = _told["clientId"]
CLIENT_SECRET = _told["clientSecret"]
USERNAME = _told["username"]
PASSWORD = _told["password"]
_printing = threading.Lock()


def _print(**line):
    with _printing:
        print(json.dumps(line), flush=True)


def names_of(answer):
    """The names of a list that requests has got."""
    answer.raise_for_status()
    return [item["metadata"]["name"] for item in answer.json()["items"]]


def saw(kind, node):
    """Prints what a watch saw."""
    _print(step="watch", type=kind, node=node)


def take_steps(steps):
    """Does each step that standard input names, one after the other, and prints what came of it; ends with standard input.

    A watch has a thread of its own.
    """
    for text in sys.stdin:
        asked = json.loads(text)
        step = asked.pop("step")
        if step == "watch":
            threading.Thread(target=_watch, args=[steps[step]], daemon=True).start()
            continue
        try:
            _print(step=step, ok=True, **steps[step](**asked))
        except Exception as error:
            _print(step=step, ok=False, error=repr(error))


def _watch(watch):
    try:
        watch()
    except Exception as error:
        _print(step="watch", ok=False, error=repr(error))
