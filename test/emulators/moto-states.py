"""
moto's server with its interpreter of state machines, which `python -m moto.server` leaves out, with somebody who evaluates
JSONata, as it has nobody, and so that more than one execution may be begun: it copies the machine then, and with it every
execution there was, which cannot be copied. Executions that a state begins are spelled as its client wants them, and as the
machine wants their answer: else every one of them ends at once. argv is the port of the server, and an address that takes an expression and
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
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (  # noqa: E402
    state_task_service_sfn as nested,
)
from moto.stepfunctions.parser.asl.jsonata import jsonata  # noqa: E402

PORT, EVALUATE = sys.argv[1:]


def evaluate(expression):
    request = urllib.request.Request(EVALUATE, data=expression.encode())
    try:
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        raise jsonata.JSONataException("UNKNOWN", error.read().decode()) from error


begin = nested.StateTaskServiceSfn._eval_service_task


def begin_nested(task, env, resource_runtime_part, normalised_parameters, state_credentials):
    given = {key[0].lower() + key[1:]: value for key, value in normalised_parameters.items()}
    begin(task, env, resource_runtime_part, given, state_credentials)
    env.stack.append({key[0].upper() + key[1:]: value for key, value in env.stack.pop().items()})


nested.StateTaskServiceSfn._eval_service_task = begin_nested
jsonata._eval_jsonata = evaluate
StateMachine.__deepcopy__ = lambda machine, _: copy.copy(machine)
main(["-H", "127.0.0.1", "-p", PORT])
