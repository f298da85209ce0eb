import * as z from 'zod'
import { type Erasure, proofOf, type RunMark } from '../../shared/runs/erasure.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { toldEndpoints, toldOfErasure } from '../../shared/webhooks/endpoint-deliveries.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { collectRun, eraseElsewhere, factsOf } from './collect-run.ts'
import { lookForOthers } from './named-by-others.ts'
import { owedOf, runsBelow } from './run-family.ts'
import { reachedObjects, textsOfRun } from './run-texts.ts'

/** So long a call works; what is left is the next one's. */
const WORK_MS = 240_000
/** After a call that died, the sweep asks for the next. */
const AGAIN_MS = 30_000
/** A worker has the run to itself for so long after it last said so. */
const TURN_MS = 30_000
/** Between two looks at a machine that is about to end. */
const LAST_STEPS_MS = 2_000
/** Between two looks at a run that is erased as soon as it has ended. */
const UNTIL_ENDED_MS = 30_000
/** A start stores what it is given, and then names it. */
const QUIET_MS = 10_000
/** What is put by a run that works may be named as long as a function lives. */
const BUSY_MS = 900_000
/** Objects expire some weeks after they were put last at the earliest: those of a run that is held are put again. */
const KEEP_EACH_MS = 7 * 86_400_000

/**
 * What the mark of a run asks for: an erasure goes on from where it is, a hold has the bodies of its run put again, so that
 * they do not grow too old. Each step may be done twice and broken off anywhere: the mark says how far it is.
 */
export const handler = functionHandler({
  name: 'keep-or-erase',
  input: z.strictObject({ tenant: z.string(), run_id: z.string() }),
  async run(run, world) {
    const mark = await world.runs.mark(run)
    if (mark === undefined) return {}
    const by = Buffer.from(world.ids.random(9)).toString('base64url')
    const turn = { tenant: run.tenant, name: `mark/${run.run_id}` }
    const until = world.clock.now() + WORK_MS
    const extend = () => {
      const now = world.clock.now()
      return world.runs.takeTurn(turn, by, new Date(now).toISOString(), new Date(now + TURN_MS).toISOString())
    }
    if (!(await extend())) return {}
    try {
      if (mark.erasure === undefined) return await keepHeld(world, run, mark)
      return await goOn({ world, run, until, extend }, mark.erasure)
    } finally {
      await world.runs.endTurn(turn, by)
    }
  },
})

interface Work {
  readonly world: World
  readonly run: RunKey
  readonly until: number
  /** False: another worker has it. */
  readonly extend: () => Promise<boolean>
}

async function keepHeld(world: World, run: RunKey, { hold, check_at }: RunMark) {
  const { runs, objects, clock } = world
  if (hold === undefined || check_at === undefined) return {}
  const found = await reachedObjects(world, run.tenant, await textsOfRun(world, run))
  for (const hash of found) {
    const body = await objects.get(run.tenant, `objstore://${run.tenant}/${hash}`).catch(() => undefined)
    if (body !== undefined) await objects.put(run.tenant, body)
  }
  const next = isoAt(clock.now() + KEEP_EACH_MS)
  // Of what was written since the hold began, too, nothing grows too old.
  await runs.holdRun(run, hold, next)
  await runs.moveMark(run, check_at, next)
  return { kept: found.size }
}

async function goOn(work: Work, asked: Erasure): Promise<{ readonly step: Erasure['step'] }> {
  let erasure = asked
  while (erasure.step !== 'erased' && erasure.of === undefined && work.world.clock.now() < work.until) {
    const next = await STEPS[erasure.step](work, erasure)
    if (next === undefined || !(await work.extend())) break
    erasure = next
  }
  return { step: erasure.step }
}

/** Answers the erasure as it is then; undefined: it waits, or another worker was faster. */
type Step = (work: Work, erasure: Erasure) => Promise<Erasure | undefined>

const STEPS: Readonly<Record<Exclude<Erasure['step'], 'erased'>, Step>> = {
  asked: collect,
  emptying: empty,
  bodies: eraseBodies,
}

async function move(
  { world, run }: Work,
  erasure: Erasure,
  change: Partial<Erasure>,
  check_at: number | undefined = world.clock.now() + AGAIN_MS,
): Promise<Erasure | undefined> {
  const to = { ...erasure, ...change, version: erasure.version + 1 }
  const moved = await world.runs.moveErasure(run, to, check_at === undefined ? undefined : isoAt(check_at))
  return moved ? to : undefined
}

/** Writes down what is to go, before anything goes. */
async function collect(work: Work, erasure: Erasure): Promise<Erasure | undefined> {
  const { world, run } = work
  if (erasure.when_ended === true && !(await isOver(world, run))) {
    await move(work, erasure, {}, world.clock.now() + UNTIL_ENDED_MS)
    return undefined
  }
  // Those it opened by its end.
  const below = erasure.when_ended === true ? await runsBelow(world, run) : undefined
  const children = below?.map(({ run_id }) => run_id) ?? erasure.children
  for (const child of children) {
    const began = await beginChild(world, { ...run, run_id: child }, childErasure(run, erasure))
    if (began !== 'held') continue
    world.log.error('an erasure waits: a run below it is held', { run_id: run.run_id, held: child })
    return undefined
  }
  if (await isAtWork(world, run)) {
    await move(work, erasure, {}, world.clock.now() + LAST_STEPS_MS)
    return undefined
  }
  const of = await factsOf(world, run)
  const { bodies: found } = await collectRun(world, run, children)
  // A call that died may have taken away what led to some of them.
  const known = await world.runs.erasing(run)
  const bodies = [...new Set([...found, ...known.bodies])]
  await world.runs.keepErasing(run, bodies)
  const slack_messages = await eraseElsewhere(world, run, children)
  return move(work, erasure, { step: 'emptying', run: of, children, bodies: { named: bodies.length }, slack_messages })
}

/** It and those below it have ended, and owe others nothing. */
async function isOver(world: World, run: RunKey): Promise<boolean> {
  for (const one of [run, ...(await runsBelow(world, run))]) {
    const head = await world.runs.head(one, [])
    if (head?.state === 'running' || owedOf(head).length > 0) return false
  }
  return true
}

/** Its machine takes its last steps after the run has its verdict; whoever does not stop is waited for as long as a function lives. */
async function isAtWork({ runs, machine, clock }: World, run: RunKey): Promise<boolean> {
  const [meta, head] = [await runs.meta(run), await runs.head(run, [])]
  if (meta === undefined || clock.now() - Date.parse(head?.ended?.at ?? '') > BUSY_MS) return false
  return (await machine.describe(meta.machine, run.run_id))?.status === 'RUNNING'
}

/** With what it was: its own record is closed with that of the run it goes with. */
async function beginChild(world: World, child: RunKey, erasure: Erasure): Promise<Erasure | 'held'> {
  const there = (await world.runs.mark(child))?.erasure
  if (there !== undefined) return there
  return world.runs.beginErasure(child, { ...erasure, run: await factsOf(world, child) }, undefined)
}

function childErasure({ run_id }: RunKey, { by, person, at, reason }: Erasure): Erasure {
  const who = person === undefined ? {} : { person }
  return { version: 1, step: 'asked', by, ...who, at, reason, children: [], of: run_id }
}

/** Those below first: their parent's record is what names them. */
async function empty(work: Work, erasure: Erasure): Promise<Erasure | undefined> {
  const { world, run } = work
  for (const child of erasure.children) await world.runs.eraseItems({ ...run, run_id: child })
  await world.runs.eraseItems(run)
  return move(work, erasure, { step: 'bodies', look: { since: isoAt(world.clock.now()), of: 'runs' } })
}

async function eraseBodies(work: Work, erasure: Erasure): Promise<Erasure | undefined> {
  const { world, run } = work
  const { look } = erasure
  if (look === undefined) return undefined
  if (look.of === 'done') return removeBodies(work, erasure, Date.parse(look.since))
  const { bodies } = await world.runs.erasing(run)
  const looked = await lookForOthers(world, run, new Set(bodies), look)
  await world.runs.spareBodies(run, [...looked.named])
  return move(work, erasure, { look: looked.look })
}

/** What somebody put since the look began, or shortly before, stays until the next look: they may be about to name it. */
async function removeBodies(work: Work, erasure: Erasure, since: number): Promise<Erasure | undefined> {
  const { world, run, extend } = work
  const before = since - ((await othersWork(world, run)) ? BUSY_MS : QUIET_MS)
  const { bodies, spared } = await world.runs.erasing(run)
  let late = 0
  for (const [i, hash] of bodies.entries()) {
    if (i % 100 === 99 && !(await extend())) return undefined
    if (!(await world.objects.erase(run.tenant, `objstore://${run.tenant}/${hash}`, before))) late += 1
  }
  if (late > 0) {
    const again = isoAt(world.clock.now())
    const wait = before === since - QUIET_MS ? QUIET_MS : BUSY_MS
    await move(work, erasure, { look: { since: again, of: 'runs' } }, world.clock.now() + wait)
    return undefined
  }
  // Whoever had still seen it may have written since.
  for (const child of erasure.children) await world.runs.eraseItems({ ...run, run_id: child })
  await world.runs.eraseItems(run)
  await world.runs.sweepOut(run)
  const erased = { named: bodies.length + spared.length, erased: bodies.length, kept: spared.length }
  return finish(work, { ...erasure, bodies: erased })
}

async function othersWork({ runs }: World, { tenant }: RunKey): Promise<boolean> {
  return (await runs.list(tenant, { state: 'running', limit: 1 })).runs.length > 0
}

/** The record is closed with the hash that goes on from the run's last one; of those below it says where theirs is. */
async function finish(work: Work, { look: _, ...erasure }: Erasure): Promise<Erasure | undefined> {
  const { world, run } = work
  const erased_at = isoAt(world.clock.now())
  for (const child of erasure.children) {
    const key = { ...run, run_id: child }
    const of = (await world.runs.mark(key))?.erasure
    if (of === undefined || of.step === 'erased') continue
    const over = { ...of, step: 'erased' as const, version: of.version + 1, erased_at }
    await world.runs.moveErasure(key, { ...over, proof: proofOf(child, over) }, undefined)
  }
  const over = { ...erasure, step: 'erased' as const, version: erasure.version + 1, erased_at }
  const { dag_name } = erasure.run ?? {}
  const untold = toldOfErasure(toldEndpoints(world.settings), { tenant: run.tenant, dag_name })
  const last = { ...over, ...(untold.length > 0 && { untold }), proof: proofOf(run.run_id, over) }
  // The sweep has them told.
  const moved = await world.runs.moveErasure(run, last, untold.length === 0 ? undefined : erased_at)
  return moved ? over : undefined
}

function isoAt(ms: number): string {
  return new Date(ms).toISOString()
}
