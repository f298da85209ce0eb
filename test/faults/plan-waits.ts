import { chance, type PlannedBlock, upTo } from '../integration/random-runs.ts'
import type { Act } from './acts.ts'
import type { Random } from './rng.ts'

/** The one event that blocks of the simulation wait for. */
export const EVENT = 'sim.go'
/** No wait of the simulation is longer. */
export const MOST_WAIT_MS = 120_000

interface Waiting {
  readonly id: string
  readonly [key: string]: unknown
}

type Pair = readonly [PlannedBlock, Waiting]

/** Blocks that wait: for a time, for an event (items of a list too), for a callback that others were told of, one of which may be asked about. */
export function planWaits(random: Random): readonly Pair[] {
  if (!chance(random, 0.35)) return []
  const timeout = [20, 60, 120][upTo(random, 2)] ?? 60
  const on_timeout = chance(random, 0.5) ? 'fail' : 'complete'
  const retry = { max_attempts: 1 + upTo(random, 1), backoff: 'none', delay_ms: 0 }
  const match = chance(random, 0.5) ? { match: 'event.payload.n > 0.2' } : {}
  const all = [
    pair('wait0', [], { wait: { event: { name: EVENT, ...match }, timeout, on_timeout }, outputs: OPTIONAL, retry }),
    pair('wait1', [], { wait: { for: 1 + upTo(random, 40) } }),
    pair('wait2', [], { wait: { callback: true, timeout, on_timeout }, outputs: OPTIONAL, retry }),
    pair('wait3', [], {
      wait: { event: { name: EVENT, key: '{{inputs.item}}' }, timeout, on_timeout },
      foreach: { items: ['k0', 'k1', 'k2'], max_concurrency: 1 + upTo(random, 2) },
      outputs: OPTIONAL,
    }),
    pair('wait4', ['wait0'], {
      wait: { until: '2026-01-01T00:00:40Z' },
      inputs: { n: { from: 'wait0.n', required: false } },
    }),
  ]
  const told: readonly Pair[] = [
    [
      { id: 'wait_url', upstream: [], gates: 0, tries: 1 },
      {
        id: 'wait_url',
        mode: 'deterministic',
        inputs: URL_INPUT,
        outputs: { url: 'string' },
        deterministic: { handler: 'pass' },
        ...(chance(random, 0.3) ? { approval: { required: true, timeout_sec: 60, on_timeout: 'approve' } } : {}),
      },
    ],
    [
      { id: 'wait_child', upstream: [], gates: 0, tries: 1 },
      {
        id: 'wait_child',
        mode: 'dag',
        inputs: URL_INPUT,
        outputs: { text: 'string' },
        dag: { name: 'child', inputs: { note: '{{inputs.url}}' } },
      },
    ],
  ]
  const sent = {
    id: 'wait_send',
    mode: 'deterministic',
    inputs: {},
    outputs: { woken: 'number' },
    deterministic: { handler: 'send-event', config: { name: EVENT, payload_expression: '{"n": 1}' } },
  }
  const kept = all.filter(() => chance(random, 0.6))
  const sends: readonly Pair[] = chance(random, 0.2)
    ? [[{ id: 'wait_send', upstream: [], gates: 0, tries: 1 }, sent]]
    : []
  const isAsked = kept.some(([{ id }]) => id === 'wait2')
  const isTold = told.filter((_, i) => i === 0 || chance(random, 0.3))
  const ids = new Set(kept.map(([{ id }]) => id))
  const sound = kept.filter(([{ upstream }]) => upstream.every((id) => ids.has(id)))
  return [...sound, ...(isAsked ? isTold : []), ...sends]
}

const URL_INPUT = { url: { from: 'wait2.callback_url' } }
const OPTIONAL = { n: { type: 'number', required: false } }

function pair(id: string, upstream: readonly string[], more: object): Pair {
  return [
    { id, upstream, gates: 0, tries: 1 },
    { id, mode: 'wait', ...more },
  ]
}

const FIRST_WAKE = 10_000

/**
 * Events and answers to callbacks: at any time, before the waits, after them, twice; and at the very moment a wait is
 * recorded, between that and what its writer does next.
 */
export function planWakes(
  random: Random,
  { runs, until }: { readonly runs: number; readonly until: number },
): readonly Act[] {
  if (!chance(random, 0.7)) return []
  return Array.from({ length: 2 + upTo(random, 6) }, (_, i): Act => {
    const dice = [random(), random(), random()] as const
    const drawn = random()
    const kind = drawn < 0.25 ? 'send_event' : drawn < 0.7 ? 'send_at_once' : 'answer_callback'
    const latest = kind === 'send_at_once' ? 1_000 : Math.min(until, 150_000)
    return { id: FIRST_WAKE + i, at: random() ** 2 * latest, kind, run: upTo(random, runs - 1), dice }
  })
}
