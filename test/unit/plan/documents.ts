import type { Dag } from '../../../shared/dag/dag.ts'
import { parseDag } from '../../../shared/document/parse.ts'

/** Parses a document of a test; one with errors fails it, naming them. */
export function dagOf(text: string): Dag {
  const parsed = parseDag(text, { name: 'test' })
  if (!parsed.ok) throw new Error(parsed.errors.map(({ message }) => message).join('\n'))
  return parsed.dag
}

const PASS = 'mode: deterministic, deterministic: { handler: pass }'

/** plan -> write -> review -> publish; review may send the run back to write three times. */
export const BOUNCING = `
name: bouncing
blocks:
  - { id: plan, ${PASS}, outputs: { text: string }, inputs: { text: string } }
  - { id: write, ${PASS}, outputs: { text: string }, inputs: { text: { from: plan.text } } }
  - id: review
    mode: deterministic
    deterministic: { handler: pass }
    inputs: { text: { from: write.text } }
    outputs: { text: string }
    post_gates: [{ name: good, check: { type: not_empty, port: text }, on_fail: route }]
    on_gate_fail: [{ when_gate: good, route_to: write, max_bounces: 3 }]
  - { id: publish, ${PASS}, outputs: { text: string }, inputs: { text: { from: review.text } } }
`

export const FANNED_OUT = `
name: fanned-out
inputs: { list: json }
blocks:
  - { id: first, ${PASS}, inputs: { list: json }, outputs: { list: json } }
  - id: each
    mode: deterministic
    deterministic: { handler: pass }
    inputs: { list: { from: first.list } }
    outputs: { text: string }
    foreach: { items: "{{inputs.list}}", as: text, max_concurrency: 4 }
  - { id: last, ${PASS}, inputs: { text: { from: each.text } }, outputs: { text: json } }
`

export const CHILD = `
name: parent
blocks:
  - { id: ask, mode: dag, dag: { name: other }, outputs: { text: string } }
  - { id: use, ${PASS}, inputs: { text: { from: ask.text } }, outputs: { text: string } }
`

export const QUESTION = CHILD.replace(
  'mode: dag, dag: { name: other }, outputs: { text: string }',
  'mode: research, research: { topic: t }',
).replace('ask.text', 'ask.synthesis')

/** A fan-out and a join inside what a bounce runs again, and a join outside that waits for it. */
export const ALL = `
name: all
inputs: { list: json }
blocks:
  - { id: a, ${PASS}, inputs: { list: json }, outputs: { list: json } }
  - { id: b, ${PASS}, inputs: { list: json }, outputs: { list: json } }
  - id: each
    mode: deterministic
    deterministic: { handler: pass }
    inputs: { list: { from: a.list } }
    outputs: { text: string }
    foreach: { items: "{{inputs.list}}", as: text }
  - { id: p, ${PASS}, inputs: { t: { from: each.text } }, outputs: { t: json } }
  - { id: q, ${PASS}, inputs: { t: { from: each.text } }, outputs: { t: json } }
  - { id: r, ${PASS}, inputs: { t: { from: p.t } }, outputs: { t: json } }
  - { id: w, ${PASS}, inputs: { t: { from: p.t }, u: { from: q.t } }, outputs: { t: json, u: json } }
  - id: s
    mode: deterministic
    deterministic: { handler: pass }
    inputs: { t: { from: r.t }, u: { from: w.t } }
    outputs: { t: json, u: json }
    approval: true
    post_gates: [{ name: good, check: { type: not_empty, port: t }, on_fail: route }]
    on_gate_fail: [{ when_gate: good, route_to: each, max_bounces: 5 }]
  - { id: c, ${PASS}, inputs: { list: { from: b.list } }, outputs: { list: json } }
  - { id: d, ${PASS}, inputs: { list: { from: b.list }, t: { from: s.t } }, outputs: { t: json } }
`
