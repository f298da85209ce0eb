import type { Dag } from '../../shared/dag/dag.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import { findStall, type Stall } from '../../shared/runs/stall.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../record/pinned-run.ts'
import { allEvents } from '../record/run-log.ts'
import { endRun, unfinishedChildIds } from './end-run.ts'

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
export async function endIfStalled(world: StallWorld, run: RunKey, head: Head): Promise<number | undefined> {
  const stands = head.queued === true || head.paused !== undefined || head.resting !== undefined
  if (head.state !== 'running' || stands || isWaiting(head)) {
    return undefined
  }
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
  const { stall_sec, ...caps } = world.settings.safety
  const rules = { ...caps, stall_ms: stall_sec * 1_000 }
  const stall = findStall(dag, await allEvents(world, run), Math.max(released, ...moved), rules)
  if (stall === undefined || stall.at > world.clock.now()) return stall
  return (await waitsForProvider(world, run.tenant, dag, stall)) ? undefined : stall
}

/** A slot at a provider is taken before the claim, so nothing says that a block waits for one but who holds them. */
async function waitsForProvider({ runs, clock, settings }: StallWorld, tenant: string, dag: Dag, { blocks }: Stall) {
  const names = dag.blocks.flatMap((block) => {
    if (block.mode !== 'ai' || !blocks.includes(block.id)) return []
    return [block.agent, ...(block.agent.fallback ?? [])].map(({ provider }) => provider)
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
