import * as z from 'zod'
import { nextCheck } from '../../shared/runs/check-at.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { fillPlaces } from './fill-places.ts'
import { keepPlaces } from './keep-places.ts'
import { lookAtRun } from './look-at-run.ts'

const PER_SWEEP = 100
const AGAIN_MS = 1_000
const LATER_MS = 60_000

/**
 * Looks at every run whose check_at has come (look-at-run.ts), performs what its outbox still owes, keeps the places
 * of active runs and fills those that are free from the queue. Each minute on AWS, each second locally; a missed or
 * doubled sweep changes nothing but the time.
 */
export const handler = functionHandler({
  name: 'sweep',
  input: z.strictObject({}),
  async run(_event, world) {
    const runs = await world.runs.due(new Date(world.clock.now()).toISOString(), PER_SWEEP)
    const holders = await sweepPlaces(world, new Set([...world.settings.tenants, ...runs.map(({ tenant }) => tenant)]))
    for (const run of runs) {
      const looked = look(world, run, holders.get(run.tenant))
      await looked.catch((error: unknown) => lookLater(world, run, error))
    }
    return { looked: runs.length }
  },
})

type Holders = ReadonlySet<string>

/** Who has a place, by tenant; absent where that could not be read: the next sweep does what this one cannot. */
async function sweepPlaces(world: World, tenants: ReadonlySet<string>): Promise<ReadonlyMap<string, Holders>> {
  const holders = new Map<string, Holders>()
  for (const tenant of tenants) {
    try {
      holders.set(tenant, await keepPlaces(world, tenant))
      await fillPlaces(world, tenant)
    } catch (error) {
      world.log.error('sweep could not keep the places of active runs', { tenant, error: String(error) })
    }
  }
  return holders
}

async function look(world: World, run: RunKey, holders: Holders | undefined): Promise<void> {
  const head = await world.runs.head(run, [])
  if (head?.check_at === undefined) return
  const stall_at = head.state === 'running' ? await lookAtRun(world, run, head, holders) : undefined
  if (head.outbox.length > 0) await world.outbox.nudge(run)
  const now = await world.runs.head(run, [])
  if (now?.check_at === undefined) return
  await world.runs.moveCheck(run, now.check_at, comingCheck(now, world.clock.now(), stall_at))
}

/** What is overdue is looked at again soon, but after the others: what never gets done must not hold them up. */
function comingCheck(head: Head, now: number, stallAt: number | undefined): string | undefined {
  const next = nextCheck(head, now, stallAt)
  if (next === undefined || Date.parse(next) > now) return next
  return new Date(now + AGAIN_MS).toISOString()
}

/** One run that cannot be looked at must neither end the sweep nor stay first in line for ever. */
async function lookLater(world: World, run: RunKey, error: unknown): Promise<void> {
  world.log.error('sweep could not look at a run', { run_id: run.run_id, error: String(error) })
  const head = await world.runs.head(run, []).catch(() => undefined)
  if (head?.check_at === undefined) return
  const later = new Date(world.clock.now() + LATER_MS).toISOString()
  await world.runs.moveCheck(run, head.check_at, later).catch(() => undefined)
}
