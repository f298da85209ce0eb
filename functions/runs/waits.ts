import type { Dag, Wait } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { EventData } from '../../shared/runs/event.ts'
import { type Head, OUTBOX_GRACE_MS, openWaits } from '../../shared/runs/head.ts'
import { isOpenWait, laneKey, laneOwner, ordinal, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { EVENT_LIMITS, type OutsideEvent } from '../../shared/runs/outside-event.ts'
import { movedBy, PAUSE_LANE, samePause, stoodSince } from '../../shared/runs/pause.ts'
import type { Append, RunKey } from '../../shared/runs/run-store.ts'
import type { BlockProjection, WaitNote } from '../../shared/runs/run-store-items.ts'
import {
  type EventTopic,
  type EventWait,
  topicsOfEvent,
  topicText,
  type WaitPlace,
  waitId,
} from '../../shared/runs/wait-store.ts'
import type { Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../record/pinned-run.ts'
import { freshItemProjections, readOwnProjection, readProjections } from '../record/projections.ts'
import { allEvents } from '../record/run-log.ts'
import { goOn } from './rest.ts'

type WaitWorld = Pick<World, 'runs' | 'objects' | 'outbox' | 'clock' | 'settings' | 'waits' | 'isolate' | 'log'>

/** A wait that is open, as HEAD and its projection have it. */
export interface OpenWait {
  readonly run: RunKey
  readonly place: WaitPlace
  readonly block_id: string
  readonly wait: Wait
  readonly note: WaitNote
  /** When its time comes, which moves on while its run stands paused (ISO time). */
  readonly until: string
  readonly projection: BlockProjection
  readonly head: Head
}

type ReadWorld = Pick<World, 'runs' | 'objects'>

/** The wait at this place, if it is open: the run lives, and this attempt of the block waits in this epoch. */
export async function findWait(world: ReadWorld, run: RunKey, place: WaitPlace): Promise<OpenWait | undefined> {
  const head = await world.runs.head(run)
  const lane = head?.lanes[laneKey(place)]
  if (head?.state !== 'running' || lane === undefined || !isOpenWait(lane)) return undefined
  const { epoch, attempt } = readOrdinal(lane)
  if (epoch !== place.epoch || attempt !== place.attempt) return undefined
  const { dag } = await readPinned(world, run)
  const projection = await readOwnProjection({ world, run, block: { index: place.block }, item: place.item }, lane)
  return movedWait(world, openWaitOf(run, dag, head, place, projection))
}

function openWaitOf(
  run: RunKey,
  dag: Dag,
  head: Head,
  place: WaitPlace,
  projection: BlockProjection | undefined,
): OpenWait | undefined {
  const block = dag.blocks[place.block]
  if (block?.mode !== 'wait' || projection?.wait === undefined || projection.wait.came !== undefined) return undefined
  const { wait: note } = projection
  return { run, place, block_id: block.id, wait: block.wait, note, until: note.until, projection, head }
}

/** Its time moved on by what its run stood paused since it began; a wait for a time of the calendar keeps that. */
async function movedWait(world: Pick<World, 'runs'>, open: OpenWait | undefined): Promise<OpenWait | undefined> {
  if (open === undefined || open.wait.kind === 'until' || open.head.lanes[PAUSE_LANE] === undefined) return open
  const { note, run, until } = open
  const stood = stoodSince(await allEvents(world, run), note.since, 0)
  return { ...open, until: movedBy(until, stood) }
}

/** All open waits of a run: HEAD and the projections of its blocks are read once, those of items once a block. */
async function findWaits(world: ReadWorld, run: RunKey): Promise<readonly OpenWait[]> {
  const head = await world.runs.head(run)
  if (head?.state !== 'running') return []
  const places = openWaits(head).flatMap((lane) => {
    const owner = laneOwner(lane)
    return owner === undefined ? [] : [{ ...owner, ...readOrdinal(head.lanes[lane] ?? 0) }]
  })
  if (places.length === 0) return []
  const { dag } = await readPinned(world, run)
  const known = await projectionsOf(world, run, head, places)
  const open = places.flatMap((place) => openWaitOf(run, dag, head, place, known.get(laneKey(place))) ?? [])
  const now: OpenWait[] = []
  for (const one of open) now.push((await movedWait(world, one)) ?? one)
  return now
}

async function projectionsOf(
  world: ReadWorld,
  run: RunKey,
  head: Head,
  places: readonly WaitPlace[],
): Promise<ReadonlyMap<string, BlockProjection>> {
  const laneOf = (place: WaitPlace) => head.lanes[laneKey(place)] ?? 0
  const known = new Map<string, BlockProjection>()
  const whole = places.filter(({ item }) => item === undefined)
  const ofBlocks = await readProjections(world, run, new Map(whole.map((place) => [place.block, laneOf(place)])))
  for (const [block, one] of ofBlocks) known.set(laneKey({ block }), one)
  const items = Map.groupBy(
    places.flatMap((place) => (place.item === undefined ? [] : [{ ...place, item: place.item }])),
    ({ block }) => block,
  )
  for (const [block, waiting] of items) {
    const lanes = new Map(waiting.map((place) => [place.item, laneOf(place)]))
    const found = await freshItemProjections(world, run, block, lanes)
    for (const [item, one] of found) known.set(laneKey({ block, item }), one)
  }
  return known
}

const ROUNDS = 4

/**
 * Ends a wait, once: its lane moves on in one update, with what came, and its tokens are owed their answer. Whoever comes
 * second, or after a stop or the end of the run, changes nothing: false. The time that everything waited is no time of the
 * run's deadline.
 */
async function endWait(world: WaitWorld, open: OpenWait, came: EventData<'block:woken'>): Promise<boolean> {
  const { run, place, block_id, projection } = open
  let { head, note } = open
  for (let round = 0; round < ROUNDS; round += 1) {
    const now = world.clock.now()
    const at = new Date(now).toISOString()
    const { leg } = readOrdinal(head.lanes[laneKey(place)] ?? 0)
    const woken = ordinal({ ...place, leg, phase: PHASE.woken })
    const done = await world.runs.append({
      ...baseOf(open),
      ordinal: woken,
      guard: { below: woken },
      // Its time is not over while the run stands.
      ...(came.by === 'time' ? { while: [samePause(head)] } : {}),
      at,
      events: [{ type: 'block:woken', block_id, ...itemOf(place), attempt: place.attempt, data: came }],
      ...(await goOn(world, run, head, now)),
      outbox: [{ id: `wait-${waitId(place)}`, at, kind: 'answer_wait', wait: waitId(place) }],
      check_at: new Date(now + OUTBOX_GRACE_MS).toISOString(),
      projection: { ...projection, ordinal: woken, wait: { ...note, came } },
    })
    if (done.ok) {
      await world.outbox.nudge(run)
      return true
    }
    const again = await findWait(world, run, place)
    if (again === undefined) return false
    ;({ head, note } = again)
  }
  throw new Fault(
    'Unavailable',
    'store_busy',
    `Cannot end the wait of block "${block_id}": its run moved each time. Try again.`,
  )
}

function itemOf({ item }: WaitPlace): { readonly item?: number } {
  return item === undefined ? {} : { item }
}

/** As every append of an item it asks that its block goes on in the attempt it is of. */
function baseOf({ run, place, head }: OpenWait): Pick<Append, 'run' | 'lane' | 'item_of'> {
  const { block, item, epoch } = place
  const lane = laneKey(place)
  if (item === undefined) return { run, lane }
  const { attempt, leg } = readOrdinal(head.lanes[laneKey({ block })] ?? 0)
  return { run, lane, item_of: { block, below: ordinal({ epoch, attempt, leg, phase: PHASE.completed }) } }
}

const PAGE = 100
/** So many are asked about at once, and the newest that matches counts. */
const AT_ONCE = 10

/**
 * Ends the wait by what was kept for it before anybody registered it, or was lost on its way here since: the newest event
 * that matches, or the answer to its callback. Looks at all that is kept, and says so where its `match` may be asked about no
 * more. `from`: looks at what was taken from then on alone (ISO time), as far as it may. False: nothing ended it.
 */
export async function endByWhatIsKept(world: WaitWorld, open: OpenWait, from?: string): Promise<boolean> {
  const { run, place, note } = open
  if (note.for === 'callback') {
    const answer = await world.waits.callback(run, place)
    return answer !== undefined && endWait(world, open, { by: 'callback', came_at: answer.at, payload: answer.payload })
  }
  if (note.for !== 'event' || note.name === undefined) return false
  return endByKeptEvent(world, open, { tenant: run.tenant, name: note.name, key: note.key }, from)
}

async function endByKeptEvent(
  world: WaitWorld,
  open: OpenWait,
  topic: EventTopic,
  from: string | undefined,
): Promise<boolean> {
  const judge = judgeOf(world, open)
  const { after_at = '' } = open.note
  const oldest = from !== undefined && from > after_at ? from : after_at
  let left: number = EVENT_LIMITS.judged
  for await (const page of newestKept(world, topic)) {
    const events = page.filter((event) => event.at >= oldest && isFor(open, event))
    const found = await firstMatch(world, open, judge, events.slice(0, left))
    if (found !== undefined) return endWait(world, open, endOf(found))
    if (events.length > left) return from === undefined && endWait(world, open, { by: 'limit' })
    left -= events.length
    // What follows is older still.
    if (page.some(({ at }) => at < oldest)) return false
  }
  return false
}

async function* newestKept(
  { waits, clock }: WaitWorld,
  topic: EventTopic,
): AsyncGenerator<readonly OutsideEvent[], void, undefined> {
  const now = new Date(clock.now()).toISOString()
  let after: string | undefined
  do {
    const page = await waits.keptEvents(topic, { now, limit: PAGE, after })
    yield page.events
    after = page.next
  } while (after !== undefined)
}

function isBefore({ at }: OutsideEvent, { after_at }: WaitNote): boolean {
  return after_at !== undefined && at < after_at
}

function isFor({ note }: OpenWait, event: OutsideEvent): boolean {
  return !isBefore(event, note) && event.id !== note.after_id && note.unjudged?.includes(event.id) !== true
}

function endOf({ id: event_id, at: came_at, payload }: OutsideEvent): EventData<'block:woken'> {
  return { by: 'event', event_id, came_at, payload }
}

async function firstMatch(
  world: WaitWorld,
  open: OpenWait,
  judge: Judge,
  events: readonly OutsideEvent[],
): Promise<OutsideEvent | undefined> {
  for (let from = 0; from < events.length; from += AT_ONCE) {
    const some = events.slice(from, from + AT_ONCE)
    const verdicts = await Promise.all(some.map(judge))
    for (const [i, event] of some.entries()) {
      const verdict = verdicts[i]
      if (verdict === true) return event
      if (typeof verdict === 'object') await noteUnjudged(world, open, event.id, verdict.because)
    }
  }
  return undefined
}

/** Ends the wait by this event, if it is one it waits for. */
async function endByEvent(world: WaitWorld, open: OpenWait, event: OutsideEvent): Promise<boolean> {
  if (!isFor(open, event)) return false
  const found = await firstMatch(world, open, judgeOf(world, open), [event])
  return found !== undefined && endWait(world, open, endOf(found))
}

/** Whether the wait's `match` is true of the event; why, where it cannot be computed: that is no match. */
type Judge = (event: OutsideEvent) => Promise<boolean | { readonly because: string }>

function judgeOf(world: WaitWorld, { wait, note, run: { tenant } }: OpenWait): Judge {
  if (wait.kind !== 'event' || wait.match === undefined) return async () => true
  const { match: program } = wait
  let stored: Promise<Json> | undefined
  return async ({ id, name, key, at, payload: { ref } }) => {
    stored ??= readJson(world, tenant, note.inputs_ref)
    const inputs = ((await stored) as { readonly values?: Json }).values ?? {}
    const payload = await readJson(world, tenant, ref)
    const input = { event: { id, name, at, payload, ...(key === undefined ? {} : { key }) }, inputs }
    const answer = await world.isolate.run('transform', { program, input }, undefined, { tenant })
    return answer.ok ? answer.value === true : { because: `${answer.because}: ${answer.message}` }
  }
}

async function readJson({ objects }: Pick<World, 'objects'>, tenant: string, ref: string): Promise<Json> {
  return JSON.parse(Buffer.from(await objects.get(tenant, ref)).toString('utf8'))
}

/** The first six are told: from then on the lane has no step for one before the wait ends. */
async function noteUnjudged(world: WaitWorld, open: OpenWait, event_id: string, why: string): Promise<void> {
  const { run, place, block_id } = open
  const now = await findWait(world, run, place)
  const lane = now?.head.lanes[laneKey(place)]
  if (now === undefined || lane === undefined || now.note.unjudged?.includes(event_id) === true) return
  const step = lane + 1
  if (readOrdinal(step).phase >= PHASE.woken) return
  const data = { event_id, reason: shortRedacted(`its match could not be computed (${why})`) }
  await world.runs.append({
    ...baseOf(now),
    ordinal: step,
    guard: { is: lane },
    at: new Date(world.clock.now()).toISOString(),
    events: [{ type: 'block:match_failed', block_id, ...itemOf(place), attempt: place.attempt, data }],
    projection: {
      ...now.projection,
      ordinal: step,
      wait: { ...now.note, unjudged: [...(now.note.unjudged ?? []), event_id] },
    },
  })
}

/** Ends a wait whose time has come: by what was kept for it, else by its time. */
export async function endDueWait(world: WaitWorld, open: OpenWait): Promise<void> {
  if (await endByWhatIsKept(world, open)) return
  const { run, place } = open
  const now = await findWait(world, run, place)
  if (now !== undefined && now.head.paused === undefined) await endWait(world, now, { by: 'time' })
}

/**
 * An event is looked for so long before the wait it may be for began: clocks differ, and whoever sends one may stand still
 * between the time it gives it and keeping it.
 */
const EARLIER_MS = 3_600_000

/**
 * One look of the sweep at the waits of a run: those whose time has come end, and what was sent for the others and lost on
 * its way ends them; what was kept before they began they have looked at themselves. Where nothing is lost it costs the
 * reading of HEAD, of the projections, and of the newest event of each name (and key). Answers when the next one's time
 * comes, milliseconds since 1970; undefined: none is open.
 */
export async function lookAtWaits(world: WaitWorld, run: RunKey): Promise<number | undefined> {
  const times: number[] = []
  const newest = newestTimes(world)
  for (const open of await findWaits(world, run)) {
    const until = Date.parse(open.until)
    if (until <= world.clock.now()) await endDueWait(world, open)
    else if (!(await endByWhatWasLost(world, open, newest))) times.push(until)
  }
  return times.length === 0 ? undefined : Math.min(...times)
}

async function endByWhatWasLost(world: WaitWorld, open: OpenWait, newest: NewestTime): Promise<boolean> {
  const { note, run } = open
  if (note.for !== 'event' || note.name === undefined) return endByWhatIsKept(world, open)
  const from = new Date(Date.parse(note.since) - EARLIER_MS).toISOString()
  const at = await newest({ tenant: run.tenant, name: note.name, key: note.key })
  return at !== undefined && at >= from && endByWhatIsKept(world, open, from)
}

type NewestTime = (topic: EventTopic) => Promise<string | undefined>

/** When the newest event of a topic was taken: read once a look. */
function newestTimes({ waits, clock }: WaitWorld): NewestTime {
  const known = new Map<string, Promise<string | undefined>>()
  return (topic) => {
    const text = topicText(topic)
    const now = new Date(clock.now()).toISOString()
    const read = known.get(text) ?? waits.keptEvents(topic, { now, limit: 1 }).then(({ events }) => events[0]?.at)
    known.set(text, read)
    return read
  }
}

/** How many waits were woken, and whether all were looked at: the others are found by the sweep. */
interface Told {
  readonly event: OutsideEvent
  readonly woken: number
  readonly all: boolean
}

/**
 * Keeps an event of outside and wakes every wait that it is for. Safe to repeat: the same id is the same event, and a wait
 * ends once. Fault Conflict event_id_used where the id is another event's. `by`: milliseconds since 1970 when there is no
 * more time to look at waits.
 */
export async function sendEvent(world: WaitWorld, sent: OutsideEvent, by: number): Promise<Told> {
  const event = await world.waits.keepEvent(sent)
  requireSame(event, sent)
  const looked = { event, woken: 0, all: true }
  for (const topic of topicsOfEvent(event)) {
    for await (const wait of registeredWaits(world, topic)) {
      if (world.clock.now() >= by) return { ...looked, all: false }
      if (await wakeBy(world, wait, event)) looked.woken += 1
    }
  }
  return looked
}

async function* registeredWaits({ waits }: WaitWorld, topic: EventTopic): AsyncGenerator<EventWait> {
  let after: string | undefined
  do {
    const page = await waits.registered(topic, { limit: PAGE, after })
    yield* page.waits
    after = page.next
  } while (after !== undefined)
}

function requireSame(kept: OutsideEvent, sent: OutsideEvent): void {
  const isSame = kept.name === sent.name && kept.key === sent.key && kept.payload.sha256 === sent.payload.sha256
  if (isSame) return
  const message = `Cannot send event "${sent.id}": an event of this id with another name, key or payload was sent at ${kept.at}. Give it an id of its own, or none.`
  throw new Fault('Conflict', 'event_id_used', message, { facts: { at: kept.at, name: kept.name } })
}

/** One wait that cannot be looked at keeps the event from no other. */
async function wakeBy(world: WaitWorld, wait: EventWait, event: OutsideEvent): Promise<boolean> {
  const { tenant, run_id, block, item, epoch, attempt } = wait
  try {
    const place = { block, epoch, attempt, ...(item === undefined ? {} : { item }) }
    const open = await findWait(world, { tenant, run_id }, place)
    const ended = open !== undefined && (await endByEvent(world, open, event))
    if (open === undefined || ended) await world.waits.forget(wait)
    return ended
  } catch (error) {
    world.log.error('a wait could not be looked at', { run_id, wait: waitId(wait), error: String(error) })
    return false
  }
}
