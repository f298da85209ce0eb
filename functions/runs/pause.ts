import { type Principal, personName, principalName } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import type { NewEvent } from '../../shared/runs/event.ts'
import { type Head, isPaused, OUTBOX_GRACE_MS, type OutboxEntry, type Paused } from '../../shared/runs/head.ts'
import {
  movedBy,
  movedQuestion,
  PAUSE_LANE,
  pauseOrdinal,
  pausesSoFar,
  pauseWait,
  samePause,
} from '../../shared/runs/pause.ts'
import { canRest } from '../../shared/runs/rest.ts'
import type { Append, Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../record/pinned-run.ts'
import { unfinishedChildIds } from './end-run.ts'
import { keepQueued } from './queued-run.ts'
import { endOfRest, leaveSlot, standsSince } from './rest.ts'

/**
 * A run that is paused finishes what runs and starts nothing (docs/adr/0104). Both ways are one append on lane `pause`, which
 * whatever begins something asks about; what follows from it is owed in the same update.
 */

type PauseWorld = Pick<World, 'runs' | 'outbox' | 'clock' | 'settings'>
type ResumeWorld = PauseWorld & Pick<World, 'objects'>

/** Who pauses or resumes, and why. `parent`: the run above it, with which it stands and goes on. */
export type By = Pick<Paused, 'by' | 'person' | 'reason' | 'parent'>

export function byPrincipal(principal: Principal, reason: string | undefined): By {
  const [by, person] = [principalName(principal), personName(principal)]
  const known = person === undefined || person === by ? {} : { person }
  return { by, ...known, ...(reason === undefined ? {} : { reason }) }
}

/** Others write to the run at the same time; each try reads it anew. */
const MAX_TRIES = 50
/** Questions that stand still with one run: they move on together. */
const MOST_QUESTIONS = 100

/** Pauses a run. Faults: NotFound unknown_run; Conflict run_ended, already_paused, not_pausable, too_many_questions. */
export async function pauseRun(world: PauseWorld, run: RunKey, by: By): Promise<Paused> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { head, meta } = await requireLive(world, run, 'pause')
    if (head.paused !== undefined) throw alreadyPaused(run, head.paused)
    requirePausable(run, head, meta)
    const append = await pauseAppend(world, run, meta, { head, by })
    const done = await world.runs.append(append)
    if (!done.ok) continue
    const since = append.rest?.was === null ? append.rest.set?.since : undefined
    if (since !== undefined) await leaveSlot(world, run, since)
    if ((append.outbox ?? []).length > 0) await world.outbox.nudge(run)
    return append.pause
  }
  throw busy(run, 'pause')
}

type PauseAppend = Append & { readonly pause: Paused }

async function pauseAppend(
  world: PauseWorld,
  run: RunKey,
  meta: Meta,
  { head, by }: { readonly head: Head; readonly by: By },
): Promise<PauseAppend> {
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const n = pausesSoFar(head) + 1
  const outbox = childrenOwed(head, `${n}`, at)
  return {
    ...changeOf(head, run, pauseOrdinal(n, 'begun')),
    at,
    events: [{ type: 'run:paused', data: { ...by } }],
    pause: { since: at, ...by },
    ...(await standingUntil(world, run, head, now)),
    ...restOf(head, meta, at),
    outbox,
    check_at: new Date(now + OUTBOX_GRACE_MS).toISOString(),
  }
}

function changeOf(head: Head, run: RunKey, ordinal: number): Pick<Append, 'run' | 'lane' | 'ordinal' | 'guard'> {
  return { run, lane: PAUSE_LANE, ordinal, guard: { is: samePause(head).is } }
}

/** What it stood already, for people or for a slot, is given back here: from here on the pause counts. */
async function standingUntil(
  world: PauseWorld,
  run: RunKey,
  head: Head,
  now: number,
): Promise<Pick<Append, 'deadline_at'>> {
  if (head.queued === true || !isPaused(head)) return {}
  const since = head.resting?.wants_at ?? (await standsSince(world, run, head.seq))
  return since === undefined ? {} : { deadline_at: movedBy(head.deadline_at, Math.max(0, now - Date.parse(since))) }
}

/** It gives its slot away, now if nothing of it is in flight; one that wanted a slot wants none. */
function restOf({ resting, running, queued }: Head, meta: Meta, at: string): Pick<Append, 'rest'> {
  if (resting?.wants_at !== undefined) return { rest: { was: resting, set: { since: resting.since } } }
  if (resting !== undefined || meta.parent !== undefined || queued === true || running.length > 0) return {}
  return { rest: { was: null, set: { since: at } } }
}

/**
 * Lets a paused run go on: its deadline and those of open questions move on by what it stood, whoever waits for it is
 * answered, and its slot is taken again, or wanted. Answers what it stood, milliseconds. Faults: NotFound unknown_run;
 * Conflict run_ended, not_paused, parent_paused.
 */
export async function resumeRun(world: ResumeWorld, run: RunKey, by: By): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { head } = await requireLive(world, run, 'resume')
    const { paused } = head
    if (paused === undefined) throw notPaused(run)
    if (paused.parent !== undefined && by.parent === undefined && (await isStillPaused(world, run, paused.parent))) {
      throw parentPaused(run, paused.parent)
    }
    const { append, stood_ms } = await resumeAppend(world, run, by, { head, paused })
    if (!(await world.runs.append(append)).ok) continue
    await world.outbox.nudge(run)
    if (head.queued === true) await keepQueued(world, run, head)
    return stood_ms
  }
  throw busy(run, 'resume')
}

async function resumeAppend(
  world: ResumeWorld,
  run: RunKey,
  by: By,
  { head, paused }: { readonly head: Head; readonly paused: Paused },
): Promise<{ readonly append: Append; readonly stood_ms: number }> {
  // A slot is taken, or wanted, before the time is read: it may take its own.
  const rest = await restAfter(world, run, head)
  const now = world.clock.now()
  const at = new Date(now).toISOString()
  const stood_ms = Math.max(0, Date.parse(at) - Date.parse(paused.since))
  const n = pausesSoFar(head)
  const told = { ...by, since: paused.since, stood_ms }
  const event: NewEvent = { type: 'run:resumed', data: told }
  const append: Append = {
    ...changeOf(head, run, pauseOrdinal(n, 'over')),
    at,
    events: [event],
    pause: null,
    // The deadline of a queued run has not begun.
    ...(head.queued === true ? {} : { deadline_at: movedBy(head.deadline_at, stood_ms) }),
    further_approvals: openQuestions(head).map(([id, was]) => ({ id, was, set: movedQuestion(was, stood_ms) })),
    ...rest,
    outbox: [{ id: `pause-${n}`, at, kind: 'answer_wait', wait: pauseWait(n) }, ...childrenOwed(head, `${n}-over`, at)],
    check_at: new Date(now + OUTBOX_GRACE_MS).toISOString(),
  }
  return { append, stood_ms }
}

/** A run in which still only people, or what it waits for, can move anything rests on. */
async function restAfter(world: ResumeWorld, run: RunKey, head: Head): Promise<Pick<Append, 'rest'>> {
  const { resting, paused: _, ...rest } = head
  if (resting === undefined || canRest(await readPinned(world, run), rest)) return {}
  return { rest: await endOfRest(world, run, resting, world.clock.now()) }
}

function openQuestions({ approvals }: Head) {
  return Object.entries(approvals).filter(([, { status }]) => status === 'pending')
}

function childrenOwed(head: Head, id: string, at: string): readonly OutboxEntry[] {
  return unfinishedChildIds(head).length === 0 ? [] : [{ id: `children-${id}`, at, kind: 'pause_children' }]
}

/** Children of a run that is paused stand with it, and those that do go on with it: as its HEAD says by then. */
export async function pauseChildren(world: ResumeWorld, run: RunKey): Promise<void> {
  const head = await world.runs.head(run)
  if (head?.state !== 'running') return
  const { tenant } = run
  for (const run_id of unfinishedChildIds(head)) await standWithParent(world, { tenant, run_id }, run.run_id)
}

/**
 * A child stands while its parent does. Whoever looks at one of them does this; one that was paused by itself stays so. Two
 * looks, as the parent may be let go on in between.
 */
export async function standWithParent(world: ResumeWorld, run: RunKey, parent: string): Promise<void> {
  for (let looks = 0; looks < 2; looks += 1) {
    const above = await world.runs.head({ tenant: run.tenant, run_id: parent }, [])
    const head = await world.runs.head(run, [])
    if (head?.state !== 'running') return
    const wanted = above?.state === 'running' ? above.paused : undefined
    if (wanted !== undefined && head.paused === undefined) {
      const { since: _, parent: __, ...by } = wanted
      await pauseRun(world, run, { ...by, parent }).catch(unlessConflict)
    } else if (wanted === undefined && head.paused?.parent === parent) {
      const by = { by: head.paused.by, parent }
      await resumeRun(world, run, by).catch(unlessConflict)
      return
    }
  }
}

/** It has ended, or somebody else was faster; a research chain stands by none of this. */
function unlessConflict(error: unknown): void {
  if (!(error instanceof Fault) || (error.name !== 'Conflict' && error.name !== 'NotFound')) throw error
}

async function isStillPaused({ runs }: PauseWorld, { tenant }: RunKey, parent: string): Promise<boolean> {
  const head = await runs.head({ tenant, run_id: parent }, [])
  return head?.state === 'running' && head.paused !== undefined
}

async function requireLive({ runs }: PauseWorld, run: RunKey, what: 'pause' | 'resume') {
  const head = await runs.head(run)
  const meta = await runs.meta(run)
  if (head === undefined || meta === undefined) {
    const message = `Cannot ${what} run "${run.run_id}": there is no such run. \`sluice run list\` shows the runs there are.`
    throw new Fault('NotFound', 'unknown_run', message)
  }
  if (head.state === 'running') return { head, meta }
  const message = `Cannot ${what} run "${run.run_id}": it is already ${head.state}. Retry it with \`sluice run retry\`, or start another.`
  throw new Fault('Conflict', 'run_ended', message, { facts: { state: head.state } })
}

function requirePausable({ run_id }: RunKey, head: Head, meta: Meta): void {
  if (meta.kind === 'research') {
    const message = `Cannot pause run "${run_id}": it is a question to the knowledge graph, whose stages wait for nobody. Let it end, or stop it with \`sluice run stop\`.`
    throw new Fault('Conflict', 'not_pausable', message)
  }
  const open = openQuestions(head).length
  if (open <= MOST_QUESTIONS) return
  const message = `Cannot pause run "${run_id}": ${open} questions of it are open, and at most ${MOST_QUESTIONS} can stand still together. Answer some of them first.`
  throw new Fault('Conflict', 'too_many_questions', message, { facts: { open, most: MOST_QUESTIONS } })
}

function alreadyPaused({ run_id }: RunKey, paused: Paused): Fault {
  const message = `Cannot pause run "${run_id}": it is paused already, ${pausedWords(paused)}. Let it go on with \`sluice run resume\`.`
  return new Fault('Conflict', 'already_paused', message, { facts: { ...paused } })
}

function notPaused({ run_id }: RunKey): Fault {
  const message = `Cannot resume run "${run_id}": it is not paused. \`sluice run status\` says what it waits for.`
  return new Fault('Conflict', 'not_paused', message)
}

function parentPaused({ run_id }: RunKey, parent: string): Fault {
  const message = `Cannot resume run "${run_id}": it stands with run ${parent}, which is paused and waits for it. Resume that one.`
  return new Fault('Conflict', 'parent_paused', message, { facts: { parent } })
}

/** `since <time> by user:ana: <reason>`. */
function pausedWords({ since, by, reason }: Paused): string {
  return `since ${since} by ${by}${reason === undefined ? '' : `: ${reason}`}`
}

function busy({ run_id }: RunKey, what: string): Fault {
  const message = `Cannot ${what} run "${run_id}": it moved ${MAX_TRIES} times meanwhile. Try again.`
  return new Fault('Unavailable', 'store_busy', message)
}
