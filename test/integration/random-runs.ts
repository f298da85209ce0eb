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
  /** It may be skipped by its own condition. */
  readonly when?: true
  /** Upstreams that may also have failed; the others must complete. */
  readonly mends?: readonly string[]
  /** It goes over a list. */
  readonly items?: { readonly count: number; readonly tolerate: number }
  /** Which gate sends it back (`g0` if not said), where to, and how often at most. */
  readonly bounce?: { readonly gate?: string; readonly to: string; readonly max: number }
}

export interface PlannedRun {
  readonly blocks: readonly PlannedBlock[]
  readonly document: object
  readonly options: { readonly max_parallel: number; readonly fail_fast: boolean }
}

/**
 * A random DAG of 2 to 2 + `more` blocks: each reads up to three earlier ones; some ask, some have gates, some may retry, some
 * have conditions, some are sent back to a block before them or to themselves, some go over a list.
 */
export function planRun(random: Random, more = 10): PlannedRun {
  const blocks: PlannedBlock[] = []
  const written: object[] = []
  const most = 2 + upTo(random, more)
  for (let i = 0; i < most; i += 1) {
    const wires = new Set(Array.from({ length: upTo(random, Math.min(3, i)) }, () => `b${upTo(random, i - 1)}`))
    const block: PlannedBlock = {
      id: `b${i}`,
      upstream: [...wires],
      gates: chance(random, 0.5) ? 1 + upTo(random, 6) : 0,
      tries: 1 + upTo(random, 3),
      ...(chance(random, 0.25) ? { asks: ON_TIMEOUT[upTo(random, 2)] ?? 'reject' } : {}),
    }
    const planned = { ...block, ...planFlow(block, blocks, random), ...planItems(random) }
    blocks.push(planned)
    written.push(writeBlock(planned, blocks, random))
  }
  const options = { max_parallel: 1 + upTo(random, 4), fail_fast: chance(random, 0.2) }
  return { blocks, document: { blocks: written }, options }
}

function planFlow(
  { id, upstream, gates }: PlannedBlock,
  before: readonly PlannedBlock[],
  random: Random,
): Pick<PlannedBlock, 'when' | 'mends' | 'bounce'> {
  const wired = upstream.length > 0
  const targets = [id, ...ancestorsOf(upstream, before)]
  return {
    ...(wired && chance(random, 0.15) ? { when: true } : {}),
    ...(wired && chance(random, 0.2) ? { mends: upstream.slice(0, 1 + upTo(random, 1)) } : {}),
    ...(gates > 0 && chance(random, 0.6)
      ? { bounce: { to: targets[upTo(random, targets.length - 1)] ?? id, max: 1 + upTo(random, 1) } }
      : {}),
  }
}

/** A fan-out is judged item by item: its own gates would see lists. */
function planItems(random: Random): Pick<PlannedBlock, 'items'> & Partial<Pick<PlannedBlock, 'gates'>> {
  if (chance(random, 0.8)) return {}
  return { items: { count: upTo(random, 5), tolerate: upTo(random, 2) }, gates: 0 }
}

function ancestorsOf(upstream: readonly string[], blocks: readonly PlannedBlock[]): readonly string[] {
  const found = new Set(upstream)
  for (const id of found) for (const other of blocks.find((one) => one.id === id)?.upstream ?? []) found.add(other)
  return [...found]
}

const ON_TIMEOUT = ['reject', 'fail', 'approve'] as const

function writeBlock(block: PlannedBlock, before: readonly PlannedBlock[], random: Random): object {
  const { id, upstream, gates, tries, asks, when, mends = [], bounce, items } = block
  const first = before.find((one) => one.id === upstream[0] && one.items === undefined)
  const gate = (n: number) => ({
    name: `g${n}`,
    check: { type: 'min_length', port: 'text', min: 4 },
    ...(n === 0 && bounce !== undefined && chance(random, 0.9) ? { on_fail: 'route' } : {}),
  })
  const depends = mends.map((other) => `(${other}.succeeded || ${other}.failed)`).join(' && ')
  return {
    id,
    inputs: Object.fromEntries(upstream.map((other) => [`from_${other}`, wire(other, mends)])),
    outputs: { text: 'string' },
    agent: { provider: 'probe', model: 'm', prompt: id },
    post_gates: Array.from({ length: gates }, (_, n) => gate(n)),
    retry: { max_attempts: tries, backoff: 'none', delay_ms: 0, jitter: 'none' },
    contract_repair_attempts: 0,
    ...(when === true ? { when: `inputs.from_${upstream[0]} != "good answer"` } : {}),
    ...(depends === '' ? {} : { depends }),
    ...(bounce === undefined || gates === 0
      ? {}
      : { on_gate_fail: [{ when_gate: 'g0', route_to: bounce.to, max_bounces: bounce.max }] }),
    ...(first === undefined || chance(random, 0.8) ? {} : { pre_gates: [preGate(first.id)] }),
    ...(items === undefined ? {} : { foreach: writeItems(items) }),
    ...(asks === undefined
      ? {}
      : { approval: { required: true, on_timeout: asks, timeout_sec: 5 + upTo(random, 60) } }),
  }
}

function writeItems({ count, tolerate }: NonNullable<PlannedBlock['items']>): object {
  const gate = { name: 'each', check: { type: 'min_length', port: 'text', min: 4 } }
  const items = Array.from({ length: count }, (_, i) => i)
  return { items, as: 'one', max_concurrency: 3, tolerate, item_gates: [gate] }
}

function wire(from: string, mends: readonly string[]): object {
  return { from: `${from}.text`, ...(mends.includes(from) ? { required: false } : {}) }
}

function preGate(upstream: string): object {
  return { name: 'pre', check: { type: 'contains', port: `from_${upstream}`, values: ['good'] } }
}
