import { chance, type PlannedBlock, upTo } from '../integration/random-runs.ts'
import type { Random } from './rng.ts'
import { CALL } from './simulated-calls.ts'

type Block = Readonly<Record<string, unknown>>

/** Blocks whose work AWS does itself, at the end of some documents: alone, and over a list. */
export function planCalls(random: Random, without: ReadonlySet<string>): readonly (readonly [PlannedBlock, Block])[] {
  const all = [...(chance(random, 0.3) ? [alone(random)] : []), ...(chance(random, 0.12) ? [overList(random)] : [])]
  return all.filter(([{ id }]) => !without.has(id))
}

function alone(random: Random): readonly [PlannedBlock, Block] {
  const [judged, asks] = [chance(random, 0.6), chance(random, 0.2)]
  const tries = 2 + upTo(random, 2)
  const on_fail = ['retry', 'retry', 'ask'][upTo(random, 2)] ?? 'retry'
  const gate = { name: 'g0', check: { type: 'min_length', port: 'text', min: 4 }, on_fail }
  return [
    { id: 'n0', upstream: [], gates: judged ? 1 : 0, tries },
    {
      ...call('n0', random, tries),
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
  const foreach = { items: list, as: 'n', max_concurrency: 2, tolerate, fail_fast: chance(random, 0.5) }
  return [
    { id: 'n1', upstream: [], gates: 0, tries, items },
    { ...call('n1', random, tries), foreach },
  ]
}

function call(id: string, random: Random, max_attempts: number): Block {
  return {
    id,
    mode: 'deterministic',
    deterministic: { handler: 'aws', config: { ...CALL, parameters: { Detail: id } } },
    inputs: {},
    outputs: { text: 'string', key: 'string' },
    timeout_ms: [3_000, 600_000, 600_000][upTo(random, 2)] ?? 600_000,
    retry: { max_attempts, backoff: 'none', delay_ms: 0, jitter: 'none' },
  }
}
