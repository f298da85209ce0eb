import * as z from 'zod'
import type { Dag } from '../../shared/dag/dag.ts'
import { type Head, nextCheck } from '../../shared/runs/head.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import { findStall, type Stall } from '../../shared/runs/stall.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { allEvents, readPinned } from '../record/pinned-run.ts'
import { expireApproval, remindOrEscalate } from './due-approvals.ts'
import { endIfOverdue, endRun, unfinishedChildIds } from './end-run.ts'
import { admitSuccessor, predecessorOf } from './lineage.ts'
import { reconcileRun } from './reconcile-run.ts'
import { ensureSlot, fillSlots, keepSlots } from './slots.ts'

const PER_SWEEP = 100
const AGAIN_MS = 1_000
const LATER_MS = 60_000

/**
 * Looks at every run whose check_at has come, performs what its outbox still owes, keeps the places
 * of active runs and fills those that are free from the queue. Each minute on AWS, each second locally; a missed or
 * doubled sweep changes nothing but the time.
 */
export const handler = functionHandler({
  name: 'sweep',
  input: z.strictObject({}),
  async run(_event, world) {
    const runs = await world.runs.due(new Date(world.clock.now()).toISOString(), PER_SWEEP)
    const holders = await sweepSlots(world, new Set([...world.settings.tenants, ...runs.map(({ tenant }) => tenant)]))
    for (const run of runs) {
      const looked = look(world, run, holders.get(run.tenant))
      await looked.catch((error: unknown) => lookLater(world, run, error))
    }
    return { looked: runs.length }
  },
})

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
  const head = await world.runs.head(run, [])
  if (head?.check_at === undefined) return
  const stall_at = head.state === 'running' ? await lookAtRun(world, run, head, holders) : undefined
  if (head.outbox.length > 0) await world.outbox.nudge(run)
  const now = await world.runs.head(run, [])
  if (now?.check_at === undefined) return
  await world.runs.moveCheck(run, now.check_at, comingCheck(now, world.clock.now(), stall_at), now.seq)
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
  await world.runs.moveCheck(run, head.check_at, later, head.seq).catch(() => undefined)
}

/**
 * One look of the sweep at a live run: expires its approvals or reminds people of them, ends it when it is overdue or stalled, fails it when its
 * execution ended without a verdict; gives it a place if it is none of the `holders`. Answers when the stall watchdog
 * wants to look again, milliseconds since 1970.
 */
async function lookAtRun(
  world: World,
  run: RunKey,
  head: Head,
  holders: ReadonlySet<string> | undefined,
): Promise<number | undefined> {
  if (head.queued === true) return keepQueued(world, run)
  if (holders?.has(run.run_id) === false) await ensureSlot(world, run)
  await lookAtApprovals(world, run, head)
  await endIfOverdue({ world, run, head })
  await reconcileRun(world, run, head)
  const now = await world.runs.head(run, [])
  return now === undefined ? undefined : endIfStalled(world, run, now)
}

/** Its start may have died before it stood in the queue; one that comes after another run waits for its end. */
async function keepQueued(world: World, run: RunKey): Promise<undefined> {
  const { runs } = world
  const meta = await runs.meta(run)
  if (meta !== undefined && predecessorOf(meta) !== undefined) {
    await admitSuccessor(world, meta)
    await fillSlots(world, run.tenant)
    return undefined
  }
  if (meta !== undefined) await runs.enqueue({ ...run, at: meta.created_at })
  // Released in the meantime, its place in the queue would only be in the way.
  const head = await runs.head(run, [])
  if (meta !== undefined && head?.queued !== true) await runs.dequeue({ ...run, at: meta.created_at })
}

/** Questions of people: those nobody answered in time, and those somebody is to be reminded of or asked besides. */
async function lookAtApprovals(world: World, run: RunKey, head: Head): Promise<void> {
  const now = world.clock.now()
  for (const [id, { status, expires_at, next_at = expires_at }] of Object.entries(head.approvals)) {
    if (status !== 'pending' || Math.min(Date.parse(next_at), Date.parse(expires_at)) > now) continue
    const item = await world.runs.approval(run, id)
    if (item === undefined) continue
    if (Date.parse(expires_at) <= now) await expireApproval(world, run, item)
    else await remindOrEscalate(world, run, item)
  }
}

type StallWorld = Pick<World, 'runs' | 'objects' | 'outbox' | 'clock' | 'settings'>

/** A sweep that comes later than this says that the place was away (a laptop asleep), so that the run could not go on. */
const LATE_MS = 120_000
/** After a start of the place everything goes on within this time. */
const CONFIRM_MS = 2_000

/**
 * The stall watchdog: cancels a live run (stall_timeout_exceeded) in which nothing has happened for `stall_sec` though
 * nothing is waited for: an execution that runs, but whose functions are never called again. Answers when the run is to
 * be looked at for that, milliseconds since 1970; undefined while a person, the queue or a child run is waited for.
 */
async function endIfStalled(world: StallWorld, run: RunKey, head: Head): Promise<number | undefined> {
  if (head.state !== 'running' || head.queued === true || isWaiting(head)) return undefined
  const { clock, settings } = world
  const stall_ms = settings.safety.stall_sec * 1_000
  const seen = await lastEventAt(world, run, head.seq)
  if (seen + stall_ms > clock.now()) return seen + stall_ms
  const stall = await stallNow(world, run, seen)
  if (stall === undefined || stall.at > clock.now()) return stall?.at
  if (clock.now() - Date.parse(head.check_at ?? '') > LATE_MS) return clock.now() + stall_ms
  await clock.delay(CONFIRM_MS)
  if ((await world.runs.head(run, []))?.seq !== head.seq) return clock.now() + stall_ms
  const reason = stalledWords(stall, settings.safety.stall_sec, (await world.runs.meta(run))?.kind)
  await endRun(world, run, { state: 'cancelled', code: 'stall_timeout_exceeded', reason, stop: true })
  return undefined
}

/** A start that is owed is the sweep's own work. */
function isWaiting({ approvals, outbox }: Head): boolean {
  const isAsked = Object.values(approvals).some(({ status }) => status === 'pending')
  return isAsked || outbox.some(({ kind }) => kind === 'start_run')
}

async function lastEventAt({ runs }: StallWorld, run: RunKey, seq: number): Promise<number> {
  const [last] = await runs.events(run, seq - 1, 1)
  return Date.parse(last?.at ?? '') || 0
}

async function stallNow(world: StallWorld, run: RunKey, seen: number): Promise<Stall | undefined> {
  const head = await world.runs.head(run)
  if (head === undefined) return undefined
  const moved = [seen]
  // Of an ended one the parent has to hear first.
  for (const run_id of unfinishedChildIds(head)) {
    const key = { tenant: run.tenant, run_id }
    const child = await world.runs.head(key, [])
    if (child?.state === 'running') return undefined
    if (child !== undefined) moved.push(await lastEventAt(world, key, child.seq))
  }
  const { meta, dag } = await readPinned(world, run)
  // The deadline counts from its release, if it stood in the queue.
  const released = Date.parse(head.deadline_at) - meta.options.deadline_sec * 1_000
  const { stall_sec, max_block_ms } = world.settings.safety
  const rules = { stall_ms: stall_sec * 1_000, max_block_ms }
  const stall = findStall(dag, await allEvents(world, run), Math.max(released, ...moved), rules)
  if (stall === undefined || stall.at > world.clock.now()) return stall
  return (await waitsForProvider(world, run.tenant, dag, stall)) ? undefined : stall
}

/** A slot at a provider is taken before the claim, so nothing says that a block waits for one but who holds them. */
async function waitsForProvider({ runs, clock, settings }: StallWorld, tenant: string, dag: Dag, { blocks }: Stall) {
  const names = dag.blocks.flatMap((block) => {
    return block.mode === 'ai' && blocks.includes(block.id) ? [block.agent.provider] : []
  })
  for (const name of new Set(names)) {
    const provider = Object.hasOwn(settings.providers, name) ? settings.providers[name] : undefined
    if (provider === undefined || !('max_concurrency' in provider)) continue
    const held = Object.values(await runs.leases({ tenant, name: `provider/${name}` }))
    if (held.some((until) => Date.parse(until) > clock.now())) return true
  }
  return false
}

function stalledWords({ blocks }: Stall, seconds: number, kind: Meta['kind']): string {
  const named = blocks.slice(0, 3).map((id) => `"${id}"`)
  const more = blocks.length > 3 ? ` and ${blocks.length - 3} more` : ''
  const next =
    blocks.length === 0
      ? NOTHING_MOVES[kind ?? 'dag']
      : `${blocks.length === 1 ? 'block' : 'blocks'} ${named.join(', ')}${more} ${blocks.length === 1 ? 'was' : 'were'} to go on`
  return `no event for ${seconds} s (stall_sec), and nothing it waits for: ${next}`
}

const NOTHING_MOVES = {
  dag: 'all blocks have ended, but the run was not',
  research: 'the next stage of the chain was to go on',
} as const
