"""Starts a run that asks, approves it, and reads what came of it: with the generated client alone."""

import json
import sys
import time

sys.path.insert(0, sys.argv[1])
import sluice_client  # noqa: E402

DAG, API = sys.argv[2], sluice_client.DefaultApi(
    sluice_client.ApiClient(sluice_client.Configuration(host=sys.argv[3]))
)


def until(read, what):
    """What `read` answers, as soon as it answers something: for at most a minute."""
    for _ in range(600):
        found = read()
        if found:
            return found
        time.sleep(0.1)
    raise SystemExit("waited a minute for " + what)


def ended(run_id):
    run = API.get_run(run_id).run
    return run if run.state in ("completed", "failed") else None


started = API.start_run({"dag": json.loads(DAG), "inputs": {"text": " hello "}})
asked = until(lambda: API.list_approvals().approvals, "an approval")[0]
API.decide_approval(
    started.run_id,
    {
        "approval_id": asked.approval_id,
        "digest": asked.digest,
        "decision": "approve",
        "feedback": "from Python",
    },
)
run = until(lambda: ended(started.run_id), "the end of the run")
outputs = API.get_outputs(started.run_id, "publish")
try:
    API.get_run("run_" + "0" * 26)
    unknown = None
except sluice_client.ApiException as error:
    unknown = {"status": error.status, **json.loads(error.body)}
print(json.dumps({"run_id": run.run_id, "state": run.state, "outputs": API.api_client.sanitize_for_serialization(outputs), "unknown": unknown}, default=str))
