"""
moto's server with its interpreter of state machines, which `python -m moto.server` leaves out, with somebody who evaluates
JSONata, as it has nobody, and so that more than one execution may be begun: it copies the machine then, and with it every
execution there was, which cannot be copied. argv is the port of the server, and an address that takes an expression and
answers its value as JSON.
"""

import copy
import json
import sys
import urllib.error
import urllib.request

from moto.core.config import default_user_config

default_user_config["stepfunctions"] = {"execute_state_machine": True}

from moto.server import main  # noqa: E402
from moto.stepfunctions.models import StateMachine  # noqa: E402
from moto.stepfunctions.parser.asl.jsonata import jsonata  # noqa: E402

PORT, EVALUATE = sys.argv[1:]


def evaluate(expression):
    request = urllib.request.Request(EVALUATE, data=expression.encode())
    try:
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        raise jsonata.JSONataException("UNKNOWN", error.read().decode()) from error


jsonata._eval_jsonata = evaluate
StateMachine.__deepcopy__ = lambda machine, _: copy.copy(machine)
main(["-H", "127.0.0.1", "-p", PORT])
