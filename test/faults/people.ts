import { readOrdinal } from '../../shared/runs/lane.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { Act, ActKind } from './acts.ts'
import { callRoute, type Reply } from './call-route.ts'
import { decide } from './decide.ts'
import { LONGEST_HOLD_MS, releaseOnceOneWaits, releaseStarts, stopEverything } from './hold-starts.ts'
import { ask, know } from './knowledge.ts'
import { pauseForAWhile } from './pause-runs.ts'
import { pivotAtOnce } from './pivot-at-once.ts'
import type { SimulatedRun } from './plan-runs.ts'
import { createReader, type Reader } from './reader.ts'
import { pickFrom } from './rng.ts'
import { keyOfRun, type Scenario } from './scenario.ts'
import { click } from './slack/click.ts'
import type { System } from './system.ts'
import { type HeadChange, movedLane, untilHead } from './until-head.ts'
import { useToken } from './use-token.ts'
import { answerCallback, sendAtOnce, sendEvent, type Wakes } from './wake.ts'
import { replayDead } from './webhooks/replay-dead.ts'

/** What people did, as far as checks need to know it. */
export interface People {
  /** Begins every act at its time. */
  schedule(): void
  /** Starts that were answered, by run. */
  readonly started: ReadonlyMap<string, RunKey>
  /** Runs that came of retries and the like. */
  readonly linked: RunKey[]
  readonly readers: readonly Reader[]
  /** Of events and callbacks. */
  readonly wakes: Wakes
  /** Acts under way. */
  busy(): number
}

interface Scene {
  readonly system: System
  readonly scenario: Scenario
  readonly started: Map<string, RunKey>
  readonly linked: RunKey[]
  readonly readers: Reader[]
  readonly wakes: Wakes
}

type Perform = (scene: Scene, act: Act, run: SimulatedRun & { readonly key: RunKey }) => Promise<unknown>

export function createPeople(system: System, scenario: Scenario): People {
  const wakes: Wakes = { events: [], callbacks: new Map() }
  const scene: Scene = { system, scenario, started: new Map(), linked: [], readers: [], wakes }
  const { sim } = system
  let busy = 0
  const perform = async (act: Act) => {
    const planned = scenario.runs[act.run]
    if (planned === undefined) return
    const key = { tenant: planned.tenant, run_id: planned.run_id }
    if (act.kind !== 'decide' && act.kind !== 'click') sim.trace(`act ${act.id}: ${act.kind} ${key.run_id.slice(-6)}`)
    await PERFORM[act.kind](scene, act, { ...planned, key })
  }
  return {
    ...scene,
    busy: () => busy,
    schedule() {
      for (const act of scenario.acts) {
        busy += 1
        sim.scheduler.after(act.at, () => {
          void perform(act)
            .catch((error: unknown) => sim.violate('people', `${act.kind}: ${String(error)}`))
            .finally(() => {
              busy -= 1
            })
        })
      }
    },
  }
}

const PERFORM: Readonly<Record<ActKind, Perform>> = {
  start: (scene, act, run) => startUntilAnswered(scene, act, run, 6),
  start_again: (scene, act, run) => startOnce(scene, act, run),
  async start_named(scene, act, run) {
    const body = { name: 'child', inputs: { note: 'by name' } }
    const reply = await callRoute(scene.system, 'start-run', { ...asPerson(run), body, key: `named-${act.id}` })
    if (reply?.status === 201) scene.linked.push({ tenant: run.tenant, run_id: String(reply.json.run_id) })
  },
  look_at_once: lookAtOnce,
  stop_at_once: stopAtOnce,
  follow_end: followEnd,
  again_at_once: againAtOnce,
  decide: ({ system }, { dice }, run) => decide(system, dice, run.tenant),
  click: ({ system }, { dice }) => click(system, dice),
  async stop(scene, _act, run) {
    await route(scene, run, 'stop-run', { body: { reason: 'enough' } })
  },
  async stop_block(scene, { dice }, run) {
    const block_id = pickFrom(run.blocks, dice[0])?.id ?? ''
    await route(scene, run, 'stop-run', { body: { block_id } })
  },
  stop_all: stopAll,
  async release(scene, _act, run) {
    await callRoute(scene.system, 'release-starts', { ...asPerson(run), body: {} })
    await route(scene, run, 'get-run', {})
  },
  async patch(scene, { dice }, run) {
    const context = await route(scene, run, 'get-context', {})
    const version = Number(context?.json.version ?? 0)
    const if_version = dice[0] < 0.8 ? version : version + 1
    await route(scene, run, 'patch-context', { body: { set: { note: `n${dice[1]}` }, if_version } })
  },
  read: readSomething,
  replay: (scene, { dice }, run) =>
    reader(scene, run).replay(Math.floor(dice[0] ** 4 * 30), 1 + Math.floor(dice[1] ** 3 * 200)),
  stream: (scene, { dice }, run) => reader(scene, run).stream(Math.floor(dice[0] ** 3 * 30), dice[1] ** 2 * 60_000),
  async retry(scene, { dice }, run) {
    const from_block = pickFrom(run.blocks, dice[0])?.id
    const edited = dice[2] < 0.2 ? { dag: run.document } : {}
    const other =
      dice[2] > 0.9 && Object.keys(run.overrides).length > 0 ? { overrides: { ...run.overrides, ...swapped(run) } } : {}
    const body = dice[1] < 0.5 || from_block === undefined ? { ...edited, ...other } : { from_block, ...other }
    const reply = await route(scene, run, 'retry-run', {
      body,
      key: `retry-${Math.floor(dice[2] * 3)}-${run.key.run_id}`,
    })
    if (reply?.status === 201) scene.linked.push({ tenant: run.tenant, run_id: String(reply.json.run_id) })
  },
  async abort_execution({ system }, _act, { key }) {
    const meta = await system.raw.meta(key)
    // Aborted behind the run's verdict, it would contradict that for good: nobody can help it.
    const head = await system.raw.head(key, [])
    if (meta !== undefined && head?.state === 'running')
      await system.machine.stop(meta.machine, key.run_id, 'aborted by an operator')
  },
  deliver_again: async ({ system }, { dice }) => {
    const chosen = pickFrom(system.functions.delivered, dice[0])
    if (chosen === undefined) return
    const { name, payload, call } = chosen
    system.functions.send(name, payload, { ...call, who: `${call.who} once more` })
  },
  async trespass(scene, { dice }, run) {
    const tenant = run.tenant === 'main' ? 'other' : 'main'
    const name = pickFrom(['get-run', 'replay-run', 'stop-run', 'get-context'], dice[0]) ?? 'get-run'
    const body = name === 'stop-run' ? { body: {} } : {}
    const reply = await callRoute(scene.system, name, { tenant, params: { run_id: run.key.run_id }, ...body })
    if (reply !== undefined && reply.status < 300)
      scene.system.sim.violate(27, `${tenant} may call ${name} on a run of ${run.tenant}`)
  },
  know,
  ask,
  pivot,
  enter_held: enterHeld,
  enter_crowd: enterCrowd,
  replay_dead: ({ system }, act, run) => replayDead(system, act, run.tenant),
  use_token: ({ system }, act, run) => useToken(system, act, run.tenant),
  pivot_at_once: ({ system, scenario }, act, run) =>
    pivotAtOnce(system, act, run.tenant, scenario.safety.queue === true),
  send_event: sendEvent,
  send_at_once: sendAtOnce,
  answer_callback: answerCallback,
  retry_turns: retryTurns,
  pause: ({ system }, act, run) => pauseForAWhile(system, act, run),
  async clear_machines({ system: { functions } }) {
    await functions.invoke('clear-machines', {}, { from: 'event', who: 'clear-machines' }).catch(() => undefined)
  },
}

/**
 * Another attempt at the goal of the run as soon as it is over, or right now of one that may have come of it; most are
 * told that there is none to make.
 */
async function pivot(scene: Scene, { dice }: Act, run: SimulatedRun & { readonly key: RunKey }): Promise<void> {
  const mine = [...scene.system.runs.values()].filter(({ tenant }) => tenant === run.tenant)
  const waits = dice[0] < 0.7
  if (waits && (await untilHead(scene.system, run.run_id, PATIENCE_MS, isOver)) === undefined) return
  await pivotOf(scene, { ...run, key: waits ? run.key : (pickFrom(mine, dice[1]) ?? run.key) }, dice)
}

async function pivotOf(
  scene: Scene,
  { key, ...run }: SimulatedRun & { readonly key: RunKey },
  dice: Act['dice'],
): Promise<void> {
  const body = dice[1] < 0.7 ? {} : { feedback: `otherwise ${Math.floor(dice[2] * 2)}` }
  const reply = await route(scene, { ...run, key }, 'pivot-run', { body })
  if (reply?.status === 201) scene.linked.push({ tenant: run.tenant, run_id: String(reply.json.run_id) })
  await route(scene, { ...run, key }, 'get-goal', {})
}

/** An agent goes on after a turn it had: the run it belongs to is over. Most are told that it had none so far. */
async function retryTurns(scene: Scene, { dice }: Act, run: SimulatedRun & { readonly key: RunKey }): Promise<void> {
  if (!run.blocks.some(({ id }) => id === 'a0')) return
  if ((await untilHead(scene.system, run.run_id, PATIENCE_MS, isOver)) === undefined) return
  const say = dice[1] < 0.5 ? { say: 'Look again.' } : {}
  const body = { from_block: 'a0', keep_turns: 1 + Math.floor(dice[0] ** 2 * 3), ...say }
  const key = `turns-${Math.floor(dice[2] * 2)}-${run.key.run_id}`
  const reply = await route(scene, run, 'retry-run', { body, key })
  if (reply?.status === 201) scene.linked.push({ tenant: run.tenant, run_id: String(reply.json.run_id) })
}

/** Reads what a block gave as soon as it is recorded that it has ended. */
async function lookAtOnce(scene: Scene, { dice }: Act, run: SimulatedRun & { readonly key: RunKey }): Promise<void> {
  const ended = (change: HeadChange) => {
    const moved = movedLane(change)
    return moved !== undefined && readOrdinal(moved.ordinal).outcome === 'completed' ? moved : undefined
  }
  const block = run.blocks[(await untilLater(scene, run, dice[0], ended))?.block ?? -1]
  if (block === undefined) return
  await route(scene, run, 'get-outputs', { params: { block_id: block.id } })
  if (block.id === 'x0') await route(scene, run, 'get-artifact', { params: { name: 'note.txt' } })
}

/** Stops a block, or one whose item it was, as soon as it is recorded that it goes on. */
async function stopAtOnce(scene: Scene, { dice }: Act, run: SimulatedRun & { readonly key: RunKey }): Promise<void> {
  const block = run.blocks[(await untilLater(scene, run, dice[0], movedLane))?.block ?? -1]
  if (block !== undefined) await route(scene, run, 'stop-run', { body: { block_id: block.id } })
}

/** A block asks in the middle of an attempt: the machine's call that asked comes once more, as soon as it has. */
async function againAtOnce({ system }: Scene, _act: Act, run: SimulatedRun & { readonly key: RunKey }): Promise<void> {
  const asks = ({ was, head }: HeadChange) =>
    Object.entries(head.approvals).find(([id, { about }]) => about !== undefined && was?.approvals[id] === undefined)
  const [, asked] = (await untilHead(system, run.run_id, PATIENCE_MS, asks)) ?? []
  const id = run.blocks[asked?.block ?? -1]?.id
  const last = system.functions.delivered.findLast(({ name, payload }) => {
    const { in: input, block } = payload as { readonly in?: { readonly run_id: string }; readonly block?: string }
    return name === 'run-block' && input?.run_id === run.run_id && block === id
  })
  if (last !== undefined)
    system.functions.send(last.name, last.payload, { ...last.call, who: `${last.call.who} at once` })
}

/** The change that some others of its kind went before. */
function untilLater<T>(
  { system }: Scene,
  { run_id }: SimulatedRun,
  dice: number,
  find: (change: HeadChange) => T | undefined,
): Promise<T | undefined> {
  let before = Math.floor(dice * MOST_BEFORE)
  return untilHead(system, run_id, PATIENCE_MS, (change) => {
    const found = find(change)
    if (found !== undefined) before -= 1
    return before < 0 ? found : undefined
  })
}

const MOST_BEFORE = 6
const PATIENCE_MS = 240_000

/** As soon as a run is over: another one, the same one again, or whoever waits. */
async function followEnd(scene: Scene, act: Act, run: SimulatedRun & { readonly key: RunKey }): Promise<void> {
  if ((await untilHead(scene.system, run.run_id, PATIENCE_MS, isOver)) === undefined) return
  // A question takes many times as long as the others.
  const kind =
    act.dice[2] < 0.1 ? 'ask' : (pickFrom(['retry', 'start_named', 'release'] as const, act.dice[1]) ?? 'release')
  await PERFORM[kind](scene, act, run)
}

/** A run comes in by one of the doors while starts are put on hold, and they are released a while later. */
async function enterHeld(scene: Scene, act: Act, run: SimulatedRun & { readonly key: RunKey }): Promise<void> {
  const kind = pickFrom(['retry', 'retry', 'ask', 'pivot', 'start_named'] as const, act.dice[1]) ?? 'ask'
  const mustBeOver = kind === 'retry' || kind === 'pivot'
  if (mustBeOver && (await untilHead(scene.system, run.run_id, PATIENCE_MS, isOver)) === undefined) return
  await Promise.all([PERFORM[kind](scene, act, run), stopEverything(scene.system, run.tenant, true)])
  await scene.system.sim.scheduler.delay(act.dice[2] * LONGEST_HOLD_MS)
  await releaseStarts(scene.system, run.tenant)
}

/**
 * As soon as a run is over several others want its place, by several doors; now and then another place becomes free at that
 * very moment.
 */
async function enterCrowd(scene: Scene, act: Act, run: SimulatedRun & { readonly key: RunKey }): Promise<void> {
  const { system } = scene
  if ((await untilHead(system, run.run_id, PATIENCE_MS, isOver)) === undefined) return
  const now: Act = { ...act, dice: [1, act.dice[1], act.dice[2]] }
  const mine = [...system.runs.values()].filter(({ tenant }) => tenant === run.tenant)
  const inState = (state: string) => mine.filter(({ run_id }) => system.heads.get(run_id)?.state === state)
  const missed = pickFrom(inState('partial'), act.dice[0]) ?? run.key
  const active = act.dice[1] < 0.7 ? pickFrom(inState('running'), act.dice[2]) : undefined
  // Alone with the place that becomes free, who wants it may be the one that gives it to itself.
  const isAlone = act.dice[1] < 0.4
  await Promise.all([
    pivotOf(scene, { ...run, key: missed }, act.dice),
    ...(isAlone ? [] : [PERFORM.start_named(scene, now, run), PERFORM.retry(scene, act, run)]),
    active === undefined ? undefined : route(scene, { ...run, key: active }, 'stop-run', { body: {} }),
  ])
}

function isOver({ head }: HeadChange): true | undefined {
  return head.state !== 'running' || undefined
}

const OF_NO_RUN = { params: { run_id: undefined } }

/** Routes that change nothing, and what they are asked with. */
const READS: readonly (readonly [name: string, more: (run: SimulatedRun, block_id: string) => object])[] = [
  ['get-run', () => ({})],
  ['get-run-graph', () => ({})],
  ['get-context', () => ({})],
  ['get-outputs', (_run, block_id) => ({ params: { block_id } })],
  ['get-transcript', (_run, block_id) => ({ params: { block_id } })],
  ['list-artifacts', () => ({})],
  ['get-artifact', () => ({ params: { name: 'note.txt' } })],
  ['verify-run', () => ({})],
  ['record-run', () => ({})],
  ['diff-runs', ({ run_id }) => ({ params: { other_id: run_id } })],
  ['list-runs', () => OF_NO_RUN],
  ['list-approvals', () => OF_NO_RUN],
  ['get-safety', () => OF_NO_RUN],
  ['get-agents', () => OF_NO_RUN],
  ['get-config', () => OF_NO_RUN],
  ['validate-dag', ({ document }) => ({ ...OF_NO_RUN, body: { dag: document } })],
  ['plan-dag', ({ document }) => ({ ...OF_NO_RUN, body: { dag: document } })],
  ['get-block', (_run, block_id) => ({ params: { block_id } })],
  ['get-document', () => ({ params: { run_id: undefined, name: 'child' } })],
]

async function readSomething(scene: Scene, { dice }: Act, run: SimulatedRun & { readonly key: RunKey }): Promise<void> {
  const [name, more] = pickFrom(READS, dice[0]) ?? ['get-run', () => ({})]
  const reply = await route(scene, run, name, more(run, pickFrom(run.blocks, dice[1])?.id ?? 'b0'))
  if (name !== 'verify-run' || reply?.json.ok !== false) return
  const checks = reply.json.checks as readonly { readonly n: number; readonly problems: readonly string[] }[]
  for (const { n, problems } of checks) {
    // Whether a decision came in time is a matter of the clocks, which may be off; a machine that lost its last call comes
    // to its end later than its run.
    if (n !== 13 && n !== 33 && problems.length > 0) scene.system.sim.violate(n, `verify ${run.run_id}: ${problems[0]}`)
  }
}

/** The same ports, with other values: what was approved is no longer what would run. */
function swapped({ overrides }: SimulatedRun): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(overrides).map((port) => [port, 'another value']))
}

function asPerson({ tenant }: SimulatedRun) {
  return { tenant, params: {} }
}

function route(
  { system }: Scene,
  { key, tenant }: { readonly key: RunKey; readonly tenant: string },
  name: string,
  more: { readonly body?: object; readonly params?: object; readonly key?: string },
): Promise<Reply | undefined> {
  return callRoute(system, name, { tenant, ...more, params: { run_id: key.run_id, ...more.params } })
}

async function startOnce(
  scene: Scene,
  act: Act,
  run: SimulatedRun & { readonly key: RunKey },
): Promise<number | undefined> {
  const { document, options, deadline_sec, overrides, tenant, key } = run
  const body = { dag: document, overrides, options: { ...options, deadline_sec } }
  const reply = await callRoute(scene.system, 'start-run', { tenant, params: {}, body, key: keyOfRun(act.run) })
  if (reply?.status === 400)
    scene.system.sim.violate('plan', `a start was refused: ${JSON.stringify(reply.json).slice(0, 400)}`)
  if (reply === undefined || reply.status >= 300) return reply?.status
  const run_id = String(reply.json.run_id)
  // 26: one run a tenant and key, whichever start is answered.
  if (run_id !== key.run_id) scene.system.sim.violate(26, `${key.run_id} was wanted, ${run_id} was answered`)
  scene.started.set(run_id, { tenant, run_id })
  return reply.status
}

/** A client that repeats what was not answered or refused for now. */
async function startUntilAnswered(
  scene: Scene,
  act: Act,
  run: SimulatedRun & { readonly key: RunKey },
  tries: number,
): Promise<void> {
  for (let left = tries; left > 0; left -= 1) {
    const status = await startOnce(scene, act, run)
    if (status !== undefined && status < 500 && status !== 429) return
    await scene.system.sim.scheduler.delay(5_000)
  }
}

/**
 * Stops everything; who holds the starts too mostly releases them after a while, and always where there is a queue: what
 * waits there waits for that. Else only once some run waits: one that takes the place of another.
 */
async function stopAll(scene: Scene, { dice }: Act, run: SimulatedRun): Promise<void> {
  const { safety } = scene.scenario
  const holds = dice[0] < 0.6
  await stopEverything(scene.system, run.tenant, holds)
  if (!holds) return
  if (dice[1] < 0.3 && safety.queue !== true) return releaseOnceOneWaits(scene.system, run.tenant)
  await scene.system.sim.scheduler.delay(dice[2] * LONGEST_HOLD_MS)
  await releaseStarts(scene.system, run.tenant)
}

function reader(scene: Scene, { key }: { readonly key: RunKey }): Reader {
  const made = createReader(scene.system, key)
  scene.readers.push(made)
  return made
}
