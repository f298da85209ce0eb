import { chance, type PlannedBlock, upTo } from '../integration/random-runs.ts'
import type { Random } from './rng.ts'
import { STEPS } from './simulated-steps.ts'

type Block = Readonly<Record<string, unknown>>

/** Blocks whose work is code of the project, at the end of some documents: alone, and over a list. */
export function planSteps(
  random: Random,
  source: string | undefined,
  without: ReadonlySet<string>,
): readonly (readonly [PlannedBlock, Block])[] {
  const all = [
    ...(chance(random, 0.35) ? [alone(random, source)] : []),
    ...(chance(random, 0.15) ? [overList(random)] : []),
  ]
  return all.filter(([{ id, upstream }]) => !without.has(id) && !upstream.some((other) => without.has(other)))
}

function alone(random: Random, source: string | undefined): readonly [PlannedBlock, Block] {
  const [reads, asks, judged] = [chance(random, 0.3), chance(random, 0.2), chance(random, 0.6)]
  const tries = 1 + upTo(random, 2)
  const upstream = reads && source !== undefined ? [source] : []
  const on_fail = ['retry', 'retry', 'ask'][upTo(random, 2)] ?? 'retry'
  const gate = { name: 'g0', check: { type: 'min_length', port: 'text', min: 4 }, on_fail }
  return [
    { id: 's0', upstream, gates: judged ? 1 : 0, tries },
    {
      ...step('s0', random, tries),
      inputs: Object.fromEntries(upstream.map((id) => [`from_${id}`, { from: `${id}.text` }])),
      ...(judged ? { post_gates: [gate] } : {}),
      ...(asks ? { approval: { prompt: 'Go on?', timeout_sec: 120, on_timeout: 'approve' } } : {}),
    },
  ]
}

function overList(random: Random): readonly [PlannedBlock, Block] {
  const items = { count: 1 + upTo(random, 3), tolerate: upTo(random, 1) }
  const tries = 1 + upTo(random, 1)
  const list = Array.from({ length: items.count }, (_, n) => n)
  const { tolerate } = items
  const fail_fast = chance(random, 0.5)
  return [
    { id: 's1', upstream: [], gates: 0, tries, items },
    {
      ...step('s1', random, tries),
      inputs: {},
      foreach: { items: list, as: 'n', max_concurrency: 2, tolerate, fail_fast },
    },
  ]
}

function step(id: string, random: Random, max_attempts: number): Block {
  const handler = chance(random, 0.5) ? STEPS.once : STEPS.again
  return {
    id,
    mode: 'deterministic',
    deterministic: { handler },
    timeout_ms: [5_000, 60_000, 60_000][upTo(random, 2)] ?? 60_000,
    retry: { max_attempts, backoff: 'none', delay_ms: 0, jitter: 'none' },
  }
}
