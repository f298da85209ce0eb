import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import type { NewEvent } from '../../../shared/runs/event.ts'
import type { Append, RunStore } from '../../../shared/runs/run-store.ts'
import { at, ending, keyOf, newRun, ready, started, step, time } from '../../conformance/run-store-fixture.ts'
import { createItemStore } from '../../faults/item-store/create-item-store.ts'
import { firstDaily } from '../../how-much.ts'

/**
 * What AWS would bill for the writes of a whole run under a budget: of every update the larger of the item before and
 * after in whole KiB, and of every index entry it changes too (test/faults/item-store/billed.ts does the arithmetic).
 * The bounds are those of docs/deploy.md, "What it costs".
 */
const rows: Readonly<Record<string, number>>[] = []
afterAll(() => console.table(rows))

const run = keyOf(newRun(1).meta)
const RUNS = { tenant: 'main', name: 'runs' }
/** Blocks side by side, so that each has two upstreams. */
const WIDTH = 2

for (const { tags, rows: given } of firstDaily<[number, number]>(2, [
  [2, 24],
  [50, 13],
  [1_000, 14],
])) {
  test.each(given)('a run of %i blocks takes at most %i write units a block', { tags }, async (blocks, most) => {
    const units = { writes: 0, wcu: 0, rcu: 0 }
    const { client } = createItemStore(({ wcu, rcu }) => {
      units.writes += wcu > 0 ? 1 : 0
      units.wcu += wcu
      units.rcu += rcu
    })
    const clock = { now: () => Date.parse(time(1_000)), delay: async () => {} }
    const store = runStoreOn({ client, table: 'runs', clock, ids: { random: (n) => randomBytes(n) } })
    await beginRun(store, blocks)
    for (let block = 0; block < blocks; block += 1) await runBlock(store, block, blocks)
    await endRun(store)
    expect((await store.head(run))?.state).toBe('cancelled')
    const each = (of: number) => Number((of / blocks).toFixed(2))
    rows.push({ blocks, writes: each(units.writes), write_units: each(units.wcu), read_units: each(units.rcu) })
    expect(units.wcu / blocks).toBeLessThanOrEqual(most)
  })
}

async function beginRun(store: RunStore, blocks: number): Promise<void> {
  await store.takeLease(RUNS, run.run_id, time(900_000), 20)
  const { meta } = newRun(1)
  const caps = { cap_tokens: 10 ** 9, cap_usd_micros: 10 ** 9 }
  await store.create({ ...newRun(1), meta: { ...meta, blocks }, caps })
  await store.settleOutbox(run, ['start'])
  await store.moveCheck(run, newRun(1).check_at, time(300_000))
}

/** Waits for its upstreams, works, tells those below it. */
async function runBlock(store: RunStore, block: number, blocks: number): Promise<void> {
  const layer = Math.floor(block / WIDTH)
  if (layer > 0) await store.waitJoin(run, String(layer), { need: WIDTH, token: 't'.repeat(300) })
  for (const append of blockSteps(block)) {
    const written = await store.append(append)
    if (!written.ok) throw new Error(`an append was refused: ${written.because}`)
  }
  if ((layer + 1) * WIDTH < blocks) await store.signalJoin(run, String(layer + 1), String(block))
}

/** Claim, reservation, and the end with its output, its gate and what was used. */
function blockSteps(block: number): readonly Append[] {
  const [id, lane, hash] = [`block-${block}`, String(block), 'f'.repeat(64)]
  const ref = { ref: `objstore://main/${'a'.repeat(64)}`, sha256: 'a'.repeat(64), bytes: 1_200 }
  const reserve = { tokens: 1_234, usd_micros: 4_321 }
  const common = { block, attempt: 1, holder: 'boot/1', inputs_hash: hash, lease_until: time(30_000) }
  const output: NewEvent = {
    type: 'block:output',
    block_id: id,
    attempt: 1,
    data: {
      outputs: { text: ref },
      provider: 'local',
      model: 'outline',
      params_hash: hash,
      prompt_hash: hash,
      tokens_in: 800,
      tokens_out: 300,
      latency_ms: 12.5,
      finish_reason: 'stop',
    },
  }
  const gate: NewEvent = {
    type: 'block:gate',
    block_id: id,
    attempt: 1,
    data: {
      gate: 'min_length',
      type: 'min_length',
      phase: 'post',
      status: 'passed',
      reason: 'has 1200 characters, at least 200 asked',
      input_hash: hash,
      facts: { length: 1_200 },
      duration_ms: 0.2,
    },
  }
  const [claimed, reserved, ended] = [at(1, 10), at(1, 20), at(1, 90)]
  return [
    step(run, lane, claimed, {
      events: [ready(id), started(id, 1)],
      start: { block, limit: 50 },
      projection: { ...common, state: 'running', ordinal: claimed },
    }),
    step(run, lane, reserved, {
      events: [{ type: 'budget:reserved', block_id: id, attempt: 1, data: reserve }],
      reserve,
      projection: { ...common, state: 'running', ordinal: reserved, reserved: reserve },
    }),
    step(run, lane, ended, {
      events: [output, gate, { type: 'block:completed', block_id: id, attempt: 1, data: {} }],
      end: { block },
      settle: { reserved: reserve, spent: { tokens: 1_100, usd_micros: 4_000 } },
      projection: { ...common, state: 'completed', ordinal: ended, outputs: { text: ref } },
    }),
  ]
}

async function endRun(store: RunStore): Promise<void> {
  await store.append(ending(run, { outbox: [{ id: 'lease', at: time(9), kind: 'release_lease' }] }))
  await store.dropLease(RUNS, run.run_id)
  await store.settleOutbox(run, ['lease'])
  await store.moveCheck(run, (await store.head(run, []))?.check_at ?? '', undefined)
}
