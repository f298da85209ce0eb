import * as z from 'zod'
import { type BulkKey, isBulkId } from '../../shared/runs/bulk.ts'
import { type Head, nextCheck, type Paused } from '../../shared/runs/head.ts'
import { withTimesOf } from '../../shared/runs/pause.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { readPinned } from '../record/pinned-run.ts'
import { expireApproval, remindOrEscalate } from './due-approvals.ts'
import { deadlineStandsStill, endIfOverdue } from './end-run.ts'
import { standWithParent } from './pause.ts'
import { keepQueued } from './queued-run.ts'
import { reconcileRun } from './reconcile-run.ts'
import { restIfIdle } from './rest.ts'
import { ensureSlot, fillSlots, keepSlots } from './slots.ts'
import { endIfStalled } from './stall-watchdog.ts'
import { lookAtWaits } from './waits.ts'

const PAGE = 100
/** Another sweep comes within a minute on AWS, and a page takes some seconds. */
const LONGEST_MS = 40_000
const MOST_PAGES = 20
const AGAIN_MS = 1_000
const LATER_MS = 60_000

/**
 * Looks at every run whose check_at has come, page after page while there is time, performs what its outbox still owes, keeps the places
 * of active runs and fills those that are free from the queue. Each minute on AWS, each second locally; a missed or
 * doubled sweep changes nothing but the time.
 */
export const handler = functionHandler({
  name: 'sweep',
  input: z.strictObject({}),
  async run(_event, world) {
    const began = world.clock.now()
    const due = () => world.runs.due(new Date(began).toISOString(), PAGE)
    let runs = await due()
    const holders = await sweepSlots(world, new Set([...world.settings.tenants, ...runs.map(({ tenant }) => tenant)]))
    const looked = new Set<string>()
    for (let pages = 1; ; pages += 1) {
      const fresh = runs.filter((run) => !looked.has(nameOf(run)))
      for (const run of fresh) {
        looked.add(nameOf(run))
        await look(world, run, holders.get(run.tenant)).catch((error: unknown) => lookLater(world, run, error))
      }
      // Those that are still due were looked at: the next sweep does it again.
      const isMore = runs.length === PAGE && fresh.length > 0 && pages < MOST_PAGES
      if (!isMore || world.clock.now() - began > LONGEST_MS) return { looked: looked.size }
      await world.clock.turn?.()
      runs = await due()
    }
  },
})

function nameOf({ tenant, run_id }: RunKey): string {
  return `${tenant} ${run_id}`
}

type Holders = ReadonlySet<string>

/** Who has a place, by tenant; absent where that could not be read: the next sweep does what this one cannot. */
async function sweepSlots(world: World, tenants: ReadonlySet<string>): Promise<ReadonlyMap<string, Holders>> {
  const holders = new Map<string, Holders>()
  for (const tenant of tenants) {
    try {
      holders.set(tenant, await keepSlots(world, tenant))
      await fillSlots(world, tenant)
    } catch (error) {
      world.log.error('sweep could not keep the slots of active runs', { tenant, error: String(error) })
    }
  }
  return holders
}

async function look(world: World, run: RunKey, holders: Holders | undefined): Promise<void> {
  if (isBulkId(run.run_id)) return lookAtBulk(world, { tenant: run.tenant, bulk_id: run.run_id })
  const head = await world.runs.head(run, [])
  const isDue = head?.check_at !== undefined && Date.parse(head.check_at) <= world.clock.now()
  // Is it not the run itself that is to be looked at, it is its mark; are both, the mark's turn is the next.
  if (!isDue) return lookAtMark(world, run)
  const stall_at = head.state === 'running' ? await lookAtRun(world, run, head, holders) : undefined
  if (head.outbox.length > 0) await world.outbox.nudge(run)
  const now = await world.runs.head(run, [])
  if (now?.check_at === undefined) return
  const coming = (await deadlineStandsStill(world, run, now)) ? { ...now, deadline_at: undefined } : now
  await world.runs.moveCheck(run, now.check_at, comingCheck(coming, world.clock.now(), stall_at), now.seq)
}

/** A hold or an erasure whose time has come: another function has the rights for it. Should that die, it is asked for again. */
async function lookAtMark({ runs, outbox, clock }: World, run: RunKey): Promise<void> {
  const { check_at, erasure } = (await runs.mark(run)) ?? {}
  if (check_at === undefined || Date.parse(check_at) > clock.now()) return
  await runs.moveMark(run, check_at, new Date(clock.now() + LATER_MS).toISOString())
  // Of one that is done webhooks are still to be told.
  await (erasure?.step === 'erased' ? outbox.nudge(run) : outbox.keepOrErase(run))
}

/** A bulk that somebody started, and nobody went on with since: its worker died, or was never reached. */
async function lookAtBulk({ runs, outbox, clock }: World, bulk: BulkKey): Promise<void> {
  const check_at = await runs.bulkCheck(bulk)
  if (check_at === undefined || Date.parse(check_at) > clock.now()) return
  await runs.moveBulkCheck(bulk, check_at, new Date(clock.now() + LATER_MS).toISOString())
  await outbox.runBulk(bulk)
}

/** What is overdue is looked at again soon, but after the others: what never gets done must not hold them up. */
function comingCheck(
  head: Parameters<typeof nextCheck>[0],
  now: number,
  stallAt: number | undefined,
): string | undefined {
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
  await world.runs.moveCheck(run, head.check_at, later, head.seq).catch(() => undefined)
}

/**
 * One look of the sweep at a live run: expires its approvals or reminds people of them, ends its waits whose time has come, ends it when it is overdue or stalled, fails it when its
 * execution ended without a verdict; gives it a place if it is none of the `holders`. Answers when the next wait, or the stall watchdog,
 * wants to be looked at, milliseconds since 1970.
 */
async function lookAtRun(
  world: World,
  run: RunKey,
  head: Head,
  holders: ReadonlySet<string> | undefined,
): Promise<number | undefined> {
  if (head.paused !== undefined) return lookAtPaused(world, run, head, head.paused)
  if (head.queued === true) {
    await keepQueued(world, run, head)
    return undefined
  }
  if (holders?.has(run.run_id) === false && head.resting === undefined) await ensureSlot(world, run)
  await lookAtApprovals(world, run, head)
  await endIfOverdue({ world, run, head })
  await reconcileRun(world, run, head)
  const wait_at = await lookAtWaits(world, run)
  if (wait_at !== undefined) return wait_at
  const now = await world.runs.head(run, [])
  return now === undefined ? undefined : endIfStalled(world, run, now)
}

/** Of a paused run nothing is due: whether its execution still stands, its parent does, and its slot was given away. */
async function lookAtPaused(world: World, run: RunKey, head: Head, { parent }: Paused): Promise<undefined> {
  if (parent !== undefined) await standWithParent(world, run, parent)
  if (head.queued === true) return undefined
  await reconcileRun(world, run, head)
  await restIfIdle(world, { run, ...(await readPinned(world, run)) })
  return undefined
}

/** Questions of people: those nobody answered in time, and those somebody is to be reminded of or asked besides. */
async function lookAtApprovals(world: World, run: RunKey, head: Head): Promise<void> {
  const now = world.clock.now()
  for (const [id, { status, expires_at, next_at = expires_at }] of Object.entries(head.approvals)) {
    if (status !== 'pending' || Math.min(Date.parse(next_at), Date.parse(expires_at)) > now) continue
    const item = await world.runs.approval(run, id)
    if (item === undefined) continue
    const asked = withTimesOf(item, head.approvals[id])
    if (Date.parse(expires_at) <= now) await expireApproval(world, run, item)
    else await remindOrEscalate(world, run, asked)
  }
}
