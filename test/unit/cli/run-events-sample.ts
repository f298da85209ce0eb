import type { RunAnswer } from '../../../clients/cli/server/fetch-run.ts'
import type { NewEvent, RunEvent } from '../../../shared/runs/event.ts'

/** GET run of three blocks, nothing started. */
export const ANSWER: RunAnswer = {
  run: { run_id: 'run_x', dag_name: 'brief', state: 'running', tokens: 0, usd: null },
  blocks: {
    load: { state: 'pending', attempt: 0, max_attempts: 1, gates: [] },
    draft: { state: 'pending', attempt: 0, max_attempts: 3, gates: [] },
    publish: { state: 'pending', attempt: 0, max_attempts: 1, gates: [] },
  },
  steps: [],
  approvals: [],
  dag: {
    blocks: [
      { id: 'load', mode: 'deterministic', upstream: [], outputs: { rows: { type: 'json' } } },
      { id: 'draft', mode: 'ai', upstream: ['load'], outputs: { text: { type: 'string' } } },
      { id: 'publish', mode: 'deterministic', upstream: ['draft'], outputs: { note: { type: 'artifact' } } },
    ],
  },
}

const ref = { ref: 'objstore://main/x', sha256: 'x', bytes: 2_048 }
const started = { inputs_hash: 'h', context_version: 0, holder: 'b', lease_until: '2026-01-01T00:01:00.000Z' }
const output = {
  provider: 'local',
  model: 'template',
  params_hash: 'h',
  prompt_hash: 'h',
  tokens_in: 100,
  tokens_out: 20,
}
const gate = {
  gate: 'long-enough',
  type: 'min_length',
  phase: 'post',
  input_hash: 'h',
  facts: {},
  duration_ms: 1,
} as const
const ended = { code: 'completed', reason: 'every block completed' }
const asked = {
  approval_id: 'apr_x',
  digest: 'd',
  prompt_hash: 'h',
  expires_at: '2026-01-02T00:00:00.000Z',
  approvers: [],
}
const decided = {
  approval_id: 'apr_x',
  decision: 'approve',
  by: { kind: 'user', id: 'ana' },
  via: 'cli',
  digest: 'd',
} as const

/** Its events: a first draft that fails its gate, an approval, the end. Milliseconds after the start beside each. */
export const EVENTS: readonly RunEvent[] = sequence([
  [
    0,
    {
      type: 'run:started',
      data: {
        dag_name: 'brief',
        dag_hash: 'h',
        inputs_hash: 'h',
        starter: 'user:ana',
        deadline_at: '2026-01-02T00:00:00.000Z',
        caps: {},
      },
    },
  ],
  [5, { type: 'block:ready', block_id: 'load', data: {} }],
  [10, { type: 'block:started', block_id: 'load', attempt: 1, data: started }],
  [110, { type: 'block:completed', block_id: 'load', attempt: 1, data: {} }],
  [120, { type: 'block:started', block_id: 'draft', attempt: 1, data: started }],
  [
    300,
    {
      type: 'block:output',
      block_id: 'draft',
      attempt: 1,
      data: { ...output, outputs: { text: ref }, latency_ms: 150, finish_reason: 'local' },
    },
  ],
  [
    310,
    {
      type: 'block:gate',
      block_id: 'draft',
      attempt: 1,
      data: { ...gate, status: 'failed', reason: 'has 12 characters, at least 200 wanted' },
    },
  ],
  [
    320,
    {
      type: 'block:retrying',
      block_id: 'draft',
      attempt: 1,
      data: { code: 'gate_failed', reason: 'long-enough failed', due_at: '2026-01-01T00:00:00.400Z' },
    },
  ],
  [400, { type: 'block:started', block_id: 'draft', attempt: 2, data: started }],
  [
    500,
    {
      type: 'block:gate',
      block_id: 'draft',
      attempt: 2,
      data: { ...gate, status: 'passed', reason: 'has 300 characters' },
    },
  ],
  [510, { type: 'block:completed', block_id: 'draft', attempt: 2, data: {} }],
  [520, { type: 'approval:requested', block_id: 'publish', data: { ...asked, quorum: 1 } }],
  [
    900,
    {
      type: 'approval:decided',
      block_id: 'publish',
      data: { ...decided, have: 1, need: 1, waited_ms: 380, policy: 'anyone_allowed' },
    },
  ],
  [910, { type: 'block:started', block_id: 'publish', attempt: 1, data: started }],
  [990, { type: 'block:completed', block_id: 'publish', attempt: 1, data: {} }],
  [1000, { type: 'run:completed', data: ended }],
])

export const START = Date.parse('2026-01-01T00:00:00.000Z')

function sequence(events: readonly (readonly [ms: number, event: NewEvent])[]): readonly RunEvent[] {
  return events.map(([ms, event], index) => ({
    ...event,
    seq: index + 1,
    id: `${event.block_id ?? 'run'}/${(event.attempt ?? 0) * 1_000 + 10}/0`,
    run_id: 'run_x',
    at: new Date(Date.parse('2026-01-01T00:00:00.000Z') + ms).toISOString(),
  }))
}

/** A fan-out of draft over 14 items: the second fails. */
export const ITEM_EVENTS: readonly RunEvent[] = [
  ...EVENTS.slice(0, 1),
  itemEvent({ type: 'block:started', data: { ...started, items: { count: 14, inputs_ref: ref.ref } } }, 0),
  ...Array.from({ length: 14 }, (_, item): readonly RunEvent[] => [
    itemEvent({ type: 'block:started', item, data: started }, 0),
    item === 1
      ? itemEvent({ type: 'block:failed', item, data: { code: 'gate_failed', reason: 'too short' } }, 20)
      : itemEvent({ type: 'block:completed', item, data: {} }, 20),
  ]).flat(),
].map((event, i) => ({ ...event, seq: i + 1 }))

export function itemEvent(event: NewEvent, ms: number): RunEvent {
  const { item } = event
  const lane = item === undefined ? '1' : `1.${item}`
  const phase = event.type === 'block:started' ? 1_010 : 1_090
  const place = { seq: 0, id: `${lane}/${phase}/0`, run_id: 'run_x', at: new Date(START + ms).toISOString() }
  return { ...event, block_id: 'draft', attempt: 1, ...place }
}
