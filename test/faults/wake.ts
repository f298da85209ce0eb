import { MAIN_TENANT } from '../../shared/auth/principal.ts'
import { callbackToken } from '../../shared/runs/callback-address.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { type Head, openWaits } from '../../shared/runs/head.ts'
import { laneOwner, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { Act } from './acts.ts'
import { callRoute } from './call-route.ts'
import type { Logs } from './check-system.ts'
import type { SimulatedRun } from './plan-runs.ts'
import { EVENT } from './plan-waits.ts'
import type { Scenario } from './scenario.ts'
import type { System } from './system.ts'
import { type HeadChange, untilHead } from './until-head.ts'

/** What was answered to those who sent events and called callbacks. */
export interface Wakes {
  readonly events: {
    readonly tenant: string
    readonly id: string
    readonly key?: string
    readonly n: number
    readonly at: number
  }[]
  /** Calls that were taken, by address. */
  readonly callbacks: Map<string, number>
}

type Run = SimulatedRun & { readonly key: RunKey }

type Scene = { readonly system: System; readonly wakes: Wakes }

/** One of a few ids, so that some events come twice, and once in a while another one has an id that is taken. */
export async function sendEvent({ system, wakes }: Scene, { dice }: Act, run: Run, of?: string) {
  const n = Math.floor(dice[0] * 6) / 6 + (dice[2] > 0.95 ? 1 : 0)
  const key = of !== undefined ? { key: of } : dice[1] < 0.4 ? { key: `k${Math.floor(dice[1] * 7.5)}` } : {}
  const { tenant } = run
  const isHandedOver = tenant === MAIN_TENANT && dice[2] < 0.2
  const id = `${isHandedOver ? 'b' : 'e'}${Math.floor(dice[0] * 6)}${key.key ?? ''}`
  const event = { id, payload: { n }, ...key }
  const isTaken = await (isHandedOver ? handOver : post)(system, tenant, event)
  if (isTaken) wakes.events.push({ tenant, id, n, ...key, at: system.sim.scheduler.now() })
}

interface Sent {
  readonly id: string
  readonly key?: string
  readonly payload: object
}

/** True: it is kept, and every wait was looked at. */
async function post(system: System, tenant: string, event: Sent): Promise<boolean> {
  const body = { name: EVENT, expires_in: 600, ...event }
  const reply = await callRoute(system, 'send-event', { tenant, params: {}, body })
  return reply?.status === 200 && reply.json.all === true
}

/** As EventBridge does, which keeps the key in the payload. */
async function handOver({ functions }: System, _tenant: string, { id, key, payload }: Sent): Promise<boolean> {
  const detail = { ...payload, ...(key === undefined ? {} : { key }) }
  const event = { id, 'detail-type': EVENT, source: 'sim', detail }
  const answer = await functions
    .invoke('receive-event', event, { from: 'event', who: `receive-event(${id})` })
    .catch(() => undefined)
  return answer !== undefined
}

/**
 * As soon as a block of the run is recorded to wait, before its writer looks at what is kept; or as soon as its attempt is
 * claimed, so that what it waits for comes while its wait is being recorded and registered.
 */
export async function sendAtOnce(scene: Scene, act: Act, run: Run) {
  const isEvent = act.dice[2] < 0.7
  const isEarly = (act.dice[0] * 6) % 1 < 0.5
  const find = ({ was, head }: HeadChange) => {
    const before = new Set(was === undefined ? [] : beginning(was, run, isEvent, isEarly))
    return beginning(head, run, isEvent, isEarly).find((lane) => !before.has(lane))
  }
  const lane = await untilHead(scene.system, run.run_id, 240_000, find)
  if (lane === undefined) return
  const item = laneOwner(lane)?.item
  await (isEvent
    ? sendEvent(scene, act, run, item === undefined ? undefined : `k${item}`)
    : answerCallback(scene, act, run))
}

/** Lanes of waits for events, or for callbacks: those that are claimed, or those that wait. */
function beginning(head: Head, { blocks }: Run, forEvents: boolean, isEarly: boolean): readonly string[] {
  const wanted = forEvents ? /^wait[03]$/ : /^wait2$/
  const lanes = isEarly ? Object.keys(head.lanes).filter((lane) => isClaimed(head.lanes[lane] ?? 0)) : openWaits(head)
  return lanes.filter((lane) => wanted.test(blocks[laneOwner(lane)?.block ?? -1]?.id ?? ''))
}

function isClaimed(at: number): boolean {
  const { phase } = readOrdinal(at)
  return phase >= PHASE.claimed && phase < PHASE.waiting
}

/** Now and then with a body that does not fit; the address follows from the document, whether anybody was told it or not. */
export async function answerCallback({ system, wakes }: Scene, { dice }: Act, run: Run) {
  const block = run.blocks.findIndex(({ id }) => id === 'wait2')
  if (block === -1) return
  const key = await system.waits.signingKey(run.tenant)
  const token = callbackToken(key, { ...run.key, block, epoch: 0 })
  const body = dice[0] < 0.2 ? { n: 'many' } : { n: dice[1] }
  const reply = await callRoute(system, 'answer-callback', { tenant: run.tenant, params: { token }, body })
  if (reply?.status === 200) wakes.callbacks.set(token, (wakes.callbacks.get(token) ?? 0) + 1)
}

/** How long a wait may go on when what it is for has come, where nothing goes wrong: nobody has to sweep for it. */
const PROMPT_MS = 15_000

/** An address takes one answer; an event that was taken has woken what waited for it, or did so from then on. */
export function checkWaits(
  { sim, runs }: System,
  { profile, skew_ms }: Scenario,
  { events, callbacks }: Wakes,
  logs: Logs,
): void {
  for (const [token, times] of callbacks) {
    if (times > 1) sim.violate('callbacks', `${token.slice(0, 12)} took ${times} answers`)
  }
  if (profile !== 'calm' || skew_ms > 0) return
  for (const [run_id, log] of logs) {
    const own = events.filter(({ tenant }) => tenant === runs.get(run_id)?.tenant)
    for (const wait of log.filter(isForEvent)) {
      const first = firstThatFits(wait, own)
      if (isLate(log, wait, first + PROMPT_MS))
        sim.violate(
          'waits',
          `${run_id}: ${wait.block_id} is not woken by the event of ${new Date(first).toISOString()}`,
        )
    }
  }
}

type Waiting = Extract<RunEvent, { type: 'block:waiting' }>

function isForEvent(event: RunEvent): event is Waiting {
  return event.type === 'block:waiting' && event.data.name === EVENT && event.data.after_at === undefined
}

/** When the first event came that the wait takes whatever its match makes of it; infinity without one. */
function firstThatFits({ data: { key } }: Waiting, events: Wakes['events']): number {
  const fit = events.filter((one) => one.n > 0.2 && (key === undefined || one.key === key))
  return Math.min(...fit.map(({ at }) => at))
}

/** Whether the wait went on longer than it may, though neither its own time nor its run had ended it by then. */
function isLate(log: readonly RunEvent[], wait: Waiting, fits: number): boolean {
  const due = Math.max(fits, Date.parse(wait.at) + PROMPT_MS)
  if (due >= Date.parse(wait.data.until)) return false
  const last = log.at(-1)
  if (last?.type.startsWith('run:') === true && Date.parse(last.at) < due) return false
  const after = log.slice(log.indexOf(wait) + 1).filter(({ block_id }) => block_id === wait.block_id)
  // Who stops a block stops the waits of its items.
  const end = after.find(({ item, type }) => item === wait.item || (item === undefined && type === 'block:cancelled'))
  return end?.type !== 'block:match_failed' && (end === undefined || Date.parse(end.at) > due)
}
