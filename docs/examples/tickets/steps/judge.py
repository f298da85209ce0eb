"""Judges one batch of tickets: a JSON object on stdin, one on stdout; standard error is the log."""

import json
import os
import sys

given = json.load(sys.stdin)
urgent_words = os.environ["URGENT_WORDS"].split(",")
# What a gate said of the last try; empty in the first one.
was_refused = len(given["feedback"]) > 0


def priority(ticket):
    text = (ticket["subject"] + " " + ticket["text"]).lower()
    if any(word in text for word in urgent_words):
        return "urgent"
    if "?" in text:
        return "low"
    # In the first try it leaves some of them open, which the gate does not allow.
    if "perhaps" in text and not was_refused:
        return "unsure"
    return "normal"


judged = [{"id": ticket["id"], "priority": priority(ticket)} for ticket in given["inputs"]["batch"]]
urgent = sum(1 for ticket in judged if ticket["priority"] == "urgent")
print(f"{len(judged)} tickets, {urgent} of them urgent", file=sys.stderr)
json.dump({"judged": judged, "urgent": urgent}, sys.stdout)
