import * as z from 'zod'
import type { Bulk, BulkKey, BulkOutcome, BulkRun } from '../../shared/runs/bulk.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { actOnRun } from './act-on-run.ts'

/** So long a call works; what is left is the next one's. */
const WORK_MS = 240_000
/** After a call that died, the sweep asks for the next. */
const AGAIN_MS = 60_000
/** A worker has the bulk to itself for so long after it last said so. */
const TURN_MS = 60_000
/** So many runs between two looks at whether somebody cancelled it. */
const BATCH = 10

/**
 * Carries out a bulk that was started: on each run of its list, in order, with the rights of who started it. What became of a
 * run is written before the next begins, and an action that was done and not written down is known again (act-on-run.ts): so
 * who dies anywhere acts on no run twice, and the next call goes on from the first run without an outcome.
 */
export const handler = functionHandler({
  name: 'run-bulk',
  input: z.strictObject({ tenant: z.string(), bulk_id: z.string() }),
  async run(key, world) {
    const by = Buffer.from(world.ids.random(9)).toString('base64url')
    const turn = { tenant: key.tenant, name: key.bulk_id }
    const until = world.clock.now() + WORK_MS
    const extend = () => {
      const now = world.clock.now()
      return world.runs.takeTurn(turn, by, new Date(now).toISOString(), new Date(now + TURN_MS).toISOString())
    }
    if (!(await extend())) return {}
    let bulk: Bulk | undefined
    try {
      bulk = await workOn(world, key, until, extend)
    } finally {
      await world.runs.endTurn(turn, by)
    }
    if (bulk?.state === 'running') await world.outbox.runBulk(key)
    return { state: bulk?.state, looked: bulk?.next }
  },
})

async function workOn(
  world: World,
  key: BulkKey,
  until: number,
  extend: () => Promise<boolean>,
): Promise<Bulk | undefined> {
  let bulk = await world.runs.bulk(key)
  while (bulk?.state === 'running' && world.clock.now() < until) {
    const batch = await world.runs.bulkRuns(key, bulk.next, BATCH)
    const outcomes: BulkOutcome[] = []
    for (const one of batch) {
      // Whoever waited for longer than its turn may have been taken for dead.
      if (!(await extend())) return undefined
      outcomes.push(await outcomeOf(world, bulk, one))
    }
    bulk = await moveOn(world, key, bulk.next, outcomes)
  }
  return bulk
}

/** The first outcome that is written stays. */
async function outcomeOf(world: World, bulk: Bulk, { n, run_id, outcome }: BulkRun): Promise<BulkOutcome> {
  if (outcome !== undefined) return outcome
  const made = await actOnRun(world, bulk, run_id)
  await world.runs.putBulkOutcome(bulk, n, made)
  return made
}

const MOST_TRIES = 50

/** Counts what was done: also of a bulk that was cancelled meanwhile. Another worker may have counted these already. */
async function moveOn(
  world: World,
  key: BulkKey,
  from: number,
  outcomes: readonly BulkOutcome[],
): Promise<Bulk | undefined> {
  const refused = outcomes.filter((one) => one.refused !== undefined).length
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const bulk = await world.runs.bulk(key)
    if (bulk === undefined || bulk.next !== from) return bulk
    const now = world.clock.now()
    const next = from + outcomes.length
    const isOver = next >= bulk.count || outcomes.length === 0
    const at = new Date(now).toISOString()
    const to: Bulk = {
      ...bulk,
      version: bulk.version + 1,
      next,
      done: bulk.done + outcomes.length - refused,
      refused: bulk.refused + refused,
      ...(isOver && bulk.state === 'running' ? { state: 'done' as const, ended_at: at } : {}),
    }
    const check_at = to.state === 'running' ? new Date(now + AGAIN_MS).toISOString() : undefined
    if (await world.runs.moveBulk(to, check_at)) return to
  }
  return undefined
}
