import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { lambdaClock } from '../../functions/aws/core.ts'
import { runStoreOn } from '../../functions/aws/run-store/run-store.ts'
import { openPlace } from '../../infra/local/place.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import type { Billed } from '../faults/item-store/billed.ts'
import { createItemStore } from '../faults/item-store/create-item-store.ts'
import type { Shape } from './shapes.ts'

/** Units a block that AWS bills for the run store's table, and how many calls that are. */
export interface Units {
  readonly wcu: number
  readonly rcu: number
  readonly calls: number
  /** Of the writes, the share that was refused by its condition. */
  readonly refused: number
}

/**
 * Runs a graph of blocks that each ask a model once, with the handlers and the machine of the local place and the run
 * store of AWS over a table in memory, which bills by item sizes as AWS does: indexes, refused writes and the reads of
 * the sweep included. On AWS the sweep comes once a minute and joins may wait longer: about the same.
 */
export async function unitsOf(shape: Shape, folder: string): Promise<Units> {
  const all: Billed[] = []
  const { client } = createItemStore((units) => all.push(units))
  const ids = { random: (bytes: number) => randomBytes(bytes) }
  const settings = SettingsSchema.parse({ data_dir: join(folder, `units-${shape.name}-${shape.n}`) })
  const place = await openPlace(settings, { providers: { quick }, sweep_ms: 60_000 })
  Object.assign(place.world.runs, runStoreOn({ client, table: 'runs', clock: lambdaClock, ids }))
  // DynamoDB does not take appends in order, as SQLite does.
  Reflect.deleteProperty(place.world.runs, 'in_order')
  try {
    const answer = (await place.invoke('start-run', startEvent(shape))) as { statusCode: number; body: string }
    if (answer.statusCode !== 201) throw new Error(answer.body)
    const run = { tenant: 'main', run_id: JSON.parse(answer.body).run_id as string }
    let state = 'running'
    while (state === 'running') {
      await place.world.clock.delay(100)
      const before = all.length
      state = (await place.world.runs.head(run, []))?.state ?? 'gone'
      // The bench's own look.
      all.splice(before, 1)
    }
    if (state !== 'completed') throw new Error(`The run of ${shape.name} ended ${state}.`)
    return perBlock(all, shape.n)
  } finally {
    await place.close()
  }
}

const quick: Provider = {
  async dispatch({ model }) {
    return {
      text: 'An answer of forty characters, or so it is.',
      tokens_in: 9,
      tokens_out: 9,
      usd: 0,
      model,
      finish_reason: 'stop',
    }
  },
}

function perBlock(all: readonly Billed[], blocks: number): Units {
  const sum = (of: (units: Billed) => number) => all.reduce((total, units) => total + of(units), 0)
  const writes = all.filter(({ wcu }) => wcu > 0)
  return {
    wcu: sum(({ wcu }) => wcu) / blocks,
    rcu: sum(({ rcu }) => rcu) / blocks,
    calls: all.length / blocks,
    refused: writes.filter(({ operation }) => operation.endsWith('refused')).length / writes.length,
  }
}

function startEvent({ n, edges }: Shape) {
  const agent = { provider: 'quick', model: 'm', prompt: 'Answer.' }
  const blocks = Array.from({ length: n }, (_, i) => ({ id: `b${i}`, agent, outputs: { text: 'string' } }))
  const dag = { name: 'bench', blocks, edges: edges.map(([from, to]) => ({ from: `b${from}`, to: `b${to}` })) }
  const none = { pathParameters: null, queryStringParameters: null, isBase64Encoded: false }
  const headers = { 'content-type': 'application/json' }
  return { httpMethod: 'POST', path: '/api/dag/run', headers, body: JSON.stringify({ dag }), ...none }
}
