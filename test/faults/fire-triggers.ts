import type { Drops } from '../../shared/triggers/drops.ts'
import { nextTimes } from '../../shared/triggers/schedule.ts'
import {
  type Hmac,
  idOfMessage,
  idOfObject,
  idOfRunEnd,
  idOfTime,
  runIdOfFiring,
  type TriggerKey,
} from '../../shared/triggers/trigger.ts'
import type { Firing } from '../../shared/triggers/trigger-store.ts'
import { signMessage } from '../../shared/triggers/verify-message.ts'
import { chance, upTo } from '../integration/random-runs.ts'
import { randomFrom } from './rng.ts'
import type { System } from './system.ts'

/** The document whose triggers start runs of the simulation: four times, each run after the other, and messages. */
export const TICKER = {
  name: 'ticker',
  inputs: { note: { type: 'string' } },
  blocks: [
    {
      id: 't0',
      mode: 'deterministic',
      inputs: { note: 'string' },
      outputs: { note: 'string' },
      deterministic: { handler: 'pass' },
    },
    { id: 't1', mode: 'wait', wait: { for: 50 } },
  ],
  triggers: [
    {
      name: 'ticks',
      schedule: { cron: '2-5 0 1 1 *', overlap: 'queue', catch_up: 'all' },
      inputs: { note: 'tick' },
    },
    {
      name: 'hook',
      webhook: { verify: { hmac: { header: 'x-signature', secret: 'sim' } } },
      inputs: { note: 'message' },
    },
  ],
}

/** The document whose runs start when those of the other end, by messages at a pace, and by what is dropped. */
export const FOLLOWER = {
  name: 'follower',
  inputs: { note: { type: 'string' } },
  blocks: [TICKER.blocks[0]],
  triggers: [
    {
      name: 'after',
      run: { dag: TICKER.name, ends: ['completed', 'failed', 'cancelled'], map: { note: 'run.state' } },
    },
    {
      name: 'burst',
      webhook: { verify: { hmac: { header: 'x-signature', secret: 'sim' } } },
      debounce: { for: '40s', at_most: '90s' },
      rate: { limit: 1, per: '2m' },
      inputs: { note: 'burst' },
    },
    { name: 'dropped', object: { prefix: 'inbox/', suffix: '.csv', map: { note: 'object.key' } } },
  ],
}

const SECRET = 'a secret of the simulation'
export const HOOK_KEYS = { read: async () => [SECRET] }
const HMAC: Pick<Hmac, 'algorithm' | 'encoding' | 'prefix'> = { algorithm: 'sha256', encoding: 'hex', prefix: '' }

/** Each version has a body of its own. */
export const DROPS: Drops = {
  read: async ({ key, version }) => ({ is: 'there', body: Buffer.from(`${key} ${version}`) }),
}

const KEY = { tenant: 'main', document: TICKER.name }
const TICKS: TriggerKey = { ...KEY, trigger: 'ticks' }
const HOOK: TriggerKey = { ...KEY, trigger: 'hook' }
const AFTER: TriggerKey = { tenant: 'main', document: FOLLOWER.name, trigger: 'after' }
const BURST: TriggerKey = { ...AFTER, trigger: 'burst' }
const DROPPED: TriggerKey = { ...AFTER, trigger: 'dropped' }
const RATE_MS = 120_000
const AT_MOST_MS = 90_000
/** The last time of the schedule has come, and a look was due since. */
const OVER_MS = 7 * 60_000
const LOOK_MS = 60_000
const CRON = { cron: TICKER.triggers[0]?.schedule?.cron ?? '', timezone: 'UTC' }

/**
 * Whether documents of this seed start runs by themselves. Hosts whose clocks differ by ten minutes cannot be held to a
 * schedule of four.
 */
export function hasTriggers(seed: number, isSkewed: boolean): boolean {
  return !isSkewed && chance(randomFrom(seed * 109), 0.25)
}

/** Looks and messages of a seed, and what they must have come to. */
export interface Firings {
  /** Nothing is owed, and no time is to come. */
  areOver(): Promise<boolean>
  check(): Promise<void>
  stop(): void
}

/** A look each minute, but for those that are missed or come twice, and messages, some of them again. */
export function startFirings(system: System, seed: number): Firings {
  const { sim, functions, triggers, raw } = system
  const { scheduler } = sim
  const start = scheduler.now()
  const random = randomFrom(seed * 113)
  const taken = new Set<string>()
  let over = false
  const look = () => {
    if (over) return
    const fault = sim.faults.strike('fire-triggers/event', 'rule', ['missed', 'doubled'])
    if (fault !== undefined) sim.trace(`fault ${fault}: fire-triggers`)
    const times = fault === 'missed' ? 0 : fault === 'doubled' ? 2 : 1
    const call = { from: 'event' as const, who: 'fire-triggers' }
    for (let i = 0; i < times; i += 1) functions.invoke('fire-triggers', {}, call).catch(() => undefined)
    scheduler.after(LOOK_MS, look)
  }
  scheduler.after(1_000, look)
  for (let i = 0; i < 5; i += 1) {
    const n = upTo(random, 2)
    scheduler.after(1_000 + upTo(random, 240_000), () => void post(system, HOOK, n, taken))
  }
  for (let n = 0; n < BURSTS; n += 1) {
    scheduler.after(1_000 + upTo(random, 240_000), () => void post(system, BURST, n, new Set()))
  }
  const dropping = startDrops(system, seed, () => over)
  return {
    async areOver() {
      if (scheduler.now() < start + OVER_MS || dropping.left() > 0) return false
      // What is held stays owed until somebody releases it.
      return (await triggers.owed('main', 100)).length === 0 || (await raw.startHold('main')) !== undefined
    },
    async check() {
      const state = await triggers.state(TICKS)
      const cursor = Date.parse(state?.schedule?.cursor ?? '')
      const since = Date.parse(state?.since ?? '')
      if (Number.isNaN(cursor)) return
      const due = nextTimes(CRON, since, 4).filter((time) => time <= cursor && time < start + OVER_MS)
      const ids = due.map((time) => runIdOfFiring(TICKS, idOfTime(new Date(time).toISOString())))
      const held = new Set((await triggers.owed('main', 100)).map(({ run_id }) => run_id))
      const messages = [...taken].map((body) => runIdOfFiring(HOOK, idOfMessage({ signed: Buffer.from(body) })))
      for (const run_id of [...ids, ...messages]) {
        if (!held.has(run_id) && (await raw.head({ tenant: 'main', run_id }, [])) === undefined)
          sim.violate('firing', `a firing is over and its run ${run_id} is not there`)
      }
      await checkOnce(system, 'trigger:ticks', ids.length, ids.length - held.size)
      await checkOnce(system, 'trigger:hook', MESSAGES, taken.size - held.size)
      await checkInTurn(system, ids)
      await checkEnds(system, held)
      await checkPace(system)
      await checkDrops(system, dropping.taken, held)
    },
    stop() {
      over = true
    },
  }
}

/** Different messages there are. */
const MESSAGES = 3
const BURSTS = 6

const DROPPED_OBJECTS = [
  ['inbox/a.csv', 'v1'],
  ['inbox/a.csv', 'v2'],
  ['inbox/b.csv', 'v1'],
  ['elsewhere/c.csv', 'v1'],
] as const
const AGAIN_MS = 45_000

/** Objects that come at any time and in any order; EventBridge tells of each until it is taken, and now and then once more. */
function startDrops({ sim, functions }: System, seed: number, isOver: () => boolean) {
  const { scheduler } = sim
  const random = randomFrom(seed * 127)
  const taken = new Map<string, readonly [key: string, version: string]>()
  let left = 0
  const tell = async (key: string, version: string, at: string): Promise<void> => {
    const event = { time: at, detail: { object: { key, 'version-id': version } } }
    const call = { from: 'event' as const, who: `take-object(${key} ${version})` }
    const answer = await functions.invoke('take-object', event, call).catch(() => undefined)
    if (answer !== undefined) {
      left -= 1
      if (key.startsWith('inbox/')) taken.set(`${key} ${version}`, [key, version])
    } else if (!isOver()) scheduler.after(AGAIN_MS, () => void tell(key, version, at))
  }
  for (const [key, version] of DROPPED_OBJECTS) {
    const ms = 1_000 + upTo(random, 240_000)
    const times = chance(random, 0.3) ? 2 : 1
    const at = new Date(scheduler.now() + ms).toISOString()
    left += times
    for (let i = 0; i < times; i += 1) scheduler.after(ms + i * upTo(random, 20_000), () => void tell(key, version, at))
  }
  return { left: () => left, taken: taken as ReadonlyMap<string, readonly [string, string]> }
}

/** Each version of each key that was taken has started one run, or owes it. */
async function checkDrops(
  system: System,
  taken: ReadonlyMap<string, readonly [key: string, version: string]>,
  held: ReadonlySet<string>,
): Promise<void> {
  const { raw, sim } = system
  for (const [key, version] of taken.values()) {
    const run_id = runIdOfFiring(DROPPED, idOfObject({ key, version }))
    if (!held.has(run_id) && (await raw.head({ tenant: 'main', run_id }, [])) === undefined)
      sim.violate('firing', `${key} ${version} was taken, and its run ${run_id} is not there`)
  }
  await checkOnce(system, 'trigger:dropped', DROPPED_OBJECTS.length - 1, taken.size - held.size)
}

async function post({ sim, functions }: System, to: TriggerKey, n: number, taken: Set<string>): Promise<void> {
  const body = JSON.stringify({ n })
  const event = {
    httpMethod: 'POST',
    path: '/',
    pathParameters: { document: to.document, trigger: to.trigger },
    queryStringParameters: null,
    headers: { 'content-type': 'application/json', 'x-signature': signMessage(HMAC, SECRET, Buffer.from(body)) },
    body,
    isBase64Encoded: false,
  }
  const call = { from: 'route' as const, who: `take-webhook(${to.trigger} ${n})`, tenant: 'main' }
  const answer = await functions.invoke('take-webhook', event, call).catch(() => undefined)
  const { statusCode } = (answer ?? {}) as { readonly statusCode?: number }
  sim.trace(`take-webhook(${to.trigger} ${n}) is answered ${statusCode}`)
  if (statusCode === 202) taken.add(body)
}

/** No firing has two runs: a message whose answer was lost may have one. */
async function checkOnce(system: System, starter: string, most: number, least = most): Promise<void> {
  let found = 0
  for (const key of system.runs.values()) if ((await system.raw.meta(key))?.starter === starter) found += 1
  if (found > most || found < least)
    system.sim.violate('firing', `${found} runs of ${starter}, and ${least} to ${most} firings`)
}

/** A queue is one after the other, in the order of their times. */
async function checkInTurn({ raw, sim }: System, ids: readonly string[]): Promise<void> {
  let before = ''
  for (const run_id of ids) {
    const events = await raw.events({ tenant: 'main', run_id }, 0, 1_000)
    const [first] = events
    if (first !== undefined && first.at < before)
      sim.violate('firing', `${run_id} began at ${first.at}, and the run before it ended at ${before}`)
    before = events.at(-1)?.at ?? before
  }
}

/** Each run of the one document that has ended started one of the other, or owes it. */
async function checkEnds(system: System, held: ReadonlySet<string>): Promise<void> {
  const { raw, runs, sim } = system
  let ended = 0
  for (const key of runs.values()) {
    const meta = await raw.meta(key)
    const state = meta?.dag_name === TICKER.name ? (await raw.head(key, []))?.state : undefined
    if (state === undefined || !['completed', 'failed', 'cancelled'].includes(state)) continue
    ended += 1
    const run_id = runIdOfFiring(AFTER, idOfRunEnd(key.run_id))
    if (!held.has(run_id) && (await raw.head({ tenant: 'main', run_id }, [])) === undefined)
      sim.violate('firing', `run ${key.run_id} has ended, and its end started no run ${run_id}`)
  }
  await checkOnce(system, 'trigger:after', ended, ended - held.size)
}

/** What was joined or left out has no run, what started has one; one stands for those joined, and the rate is kept. */
async function checkPace(system: System): Promise<void> {
  const { firings } = await system.triggers.firings(BURST, { limit: 100 })
  for (const firing of firings) await checkRunOf(system, firing)
  const standing = timesOf(firings, ['started', 'trigger_rate', 'owed', 'failed'])
  for (const time of timesOf(firings, ['trigger_joined'])) {
    if (!standing.some((one) => one >= time && one - time < AT_MOST_MS))
      system.sim.violate('firing', `no firing stands for the one that was kept at ${new Date(time).toISOString()}`)
  }
  const started = timesOf(firings, ['started'])
  for (const [i, time] of started.entries()) {
    if (i > 0 && time - (started[i - 1] ?? 0) < RATE_MS)
      system.sim.violate(
        'firing',
        `two of a rate of one in two minutes, the later kept at ${new Date(time).toISOString()}`,
      )
  }
}

async function checkRunOf({ raw, sim }: System, { id, state, run_id }: Firing): Promise<void> {
  if (state === 'owed') return
  const isThere = (await raw.head({ tenant: 'main', run_id }, [])) !== undefined
  if (isThere !== (state === 'started'))
    sim.violate('firing', `firing ${id} is ${state}, and its run is ${isThere ? '' : 'not '}there`)
}

/** When those were kept that came to one of these, a state or why it was skipped; oldest first. */
function timesOf(firings: readonly Firing[], ends: readonly string[]): readonly number[] {
  const found = firings.filter(({ state, reason }) => ends.includes(state === 'skipped' ? (reason?.code ?? '') : state))
  return found.map(({ kept_at }) => Date.parse(kept_at)).toSorted((a, b) => a - b)
}
