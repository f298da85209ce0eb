/** Numbers in [0, 1) from a seed (mulberry32). */
export type Random = () => number

export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const chance = (random: Random, of: number): boolean => random() < of
export const upTo = (random: Random, most: number): number => Math.floor(random() * (most + 1))

/** What the invariants need to know of a block besides its events. */
export interface PlannedBlock {
  readonly id: string
  readonly upstream: readonly string[]
  readonly gates: number
  readonly tries: number
  readonly asks?: 'reject' | 'fail' | 'approve'
}

export interface PlannedRun {
  readonly blocks: readonly PlannedBlock[]
  readonly document: object
  readonly options: { readonly max_parallel: number; readonly fail_fast: boolean }
}

/** A random DAG of 2 to 12 blocks: each reads up to three earlier ones; some ask, some have gates, some may retry. */
export function planRun(random: Random): PlannedRun {
  const blocks: PlannedBlock[] = []
  const written: object[] = []
  const most = 2 + upTo(random, 10)
  for (let i = 0; i < most; i += 1) {
    const wires = new Set(Array.from({ length: upTo(random, Math.min(3, i)) }, () => `b${upTo(random, i - 1)}`))
    const block: PlannedBlock = {
      id: `b${i}`,
      upstream: [...wires],
      gates: chance(random, 0.5) ? 1 + upTo(random, 6) : 0,
      tries: 1 + upTo(random, 3),
      ...(chance(random, 0.25) ? { asks: ON_TIMEOUT[upTo(random, 2)] ?? 'reject' } : {}),
    }
    blocks.push(block)
    written.push(writeBlock(block, random))
  }
  const options = { max_parallel: 1 + upTo(random, 4), fail_fast: chance(random, 0.2) }
  return { blocks, document: { blocks: written }, options }
}

const ON_TIMEOUT = ['reject', 'fail', 'approve'] as const

function writeBlock({ id, upstream, gates, tries, asks }: PlannedBlock, random: Random): object {
  const gate = (n: number) => ({ name: `g${n}`, check: { type: 'min_length', port: 'text', min: 4 } })
  return {
    id,
    inputs: Object.fromEntries(upstream.map((other) => [`from_${other}`, { from: `${other}.text` }])),
    outputs: { text: 'string' },
    agent: { provider: 'probe', model: 'm', prompt: id },
    post_gates: Array.from({ length: gates }, (_, n) => gate(n)),
    retry: { max_attempts: tries, backoff: 'none', delay_ms: 0, jitter: 'none' },
    contract_repair_attempts: 0,
    ...(upstream[0] === undefined || chance(random, 0.8) ? {} : { pre_gates: [preGate(upstream[0])] }),
    ...(asks === undefined
      ? {}
      : { approval: { required: true, on_timeout: asks, timeout_sec: 5 + upTo(random, 60) } }),
  }
}

function preGate(upstream: string): object {
  return { name: 'pre', check: { type: 'contains', port: `from_${upstream}`, values: ['good'] } }
}
