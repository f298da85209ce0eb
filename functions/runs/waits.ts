import type { Wait } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { EventData } from '../../shared/runs/event.ts'
import { type Head, OUTBOX_GRACE_MS, openWaits } from '../../shared/runs/head.ts'
import { isOpenWait, laneKey, laneOwner, ordinal, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import type { OutsideEvent } from '../../shared/runs/outside-event.ts'
import type { Append, RunKey } from '../../shared/runs/run-store.ts'
import type { BlockProjection, WaitNote } from '../../shared/runs/run-store-items.ts'
import { type EventTopic, type EventWait, topicsOfEvent, type WaitPlace, waitId } from '../../shared/runs/wait-store.ts'
import type { Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { World } from '../../shared/world.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readOwnProjection } from '../record/projections.ts'
import { deadlineAfterPause } from './due-approvals.ts'

type WaitWorld = Pick<World, 'runs' | 'objects' | 'outbox' | 'clock' | 'settings' | 'waits' | 'isolate' | 'log'>

/** A wait that is open, as HEAD and its projection have it. */
export interface OpenWait {
  readonly run: RunKey
  readonly place: WaitPlace
  readonly block_id: string
  readonly wait: Wait
  readonly note: WaitNote
  readonly projection: BlockProjection
  readonly head: Head
}

/** The wait at this place, if it is open: the run lives, and this attempt of the block waits in this epoch. */
export async function findWait(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  place: WaitPlace,
): Promise<OpenWait | undefined> {
  const head = await world.runs.head(run)
  const lane = head?.lanes[laneKey(place)]
  if (head?.state !== 'running' || lane === undefined || !isOpenWait(lane)) return undefined
  const { epoch, attempt } = readOrdinal(lane)
  if (epoch !== place.epoch || attempt !== place.attempt) return undefined
  const { dag } = await readPinned(world, run)
  const block = dag.blocks[place.block]
  const projection = await readOwnProjection({ world, run, block: { index: place.block }, item: place.item }, lane)
  if (block?.mode !== 'wait' || projection?.wait === undefined || projection.wait.came !== undefined) return undefined
  return { run, place, block_id: block.id, wait: block.wait, note: projection.wait, projection, head }
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
      at,
      events: [{ type: 'block:woken', block_id, ...itemOf(place), attempt: place.attempt, data: came }],
      ...(await deadlineAfterPause(world, run, head, now)),
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

/** So many kept events of a topic are looked at, newest first: what is older than these waits in vain (docs/dag.md, "Wait"). */
const MOST_KEPT = 1_000
const PAGE = 100

/**
 * Ends the wait by what was kept for it before anybody registered it, or was lost on its way here since: the newest event
 * that matches, or the answer to its callback. False: there is nothing.
 */
export async function endByWhatIsKept(world: WaitWorld, open: OpenWait): Promise<boolean> {
  const { run, place, note } = open
  if (note.for === 'callback') {
    const answer = await world.waits.callback(run, place)
    return answer !== undefined && endWait(world, open, { by: 'callback', came_at: answer.at, payload: answer.payload })
  }
  if (note.for !== 'event' || note.name === undefined) return false
  for await (const event of newestKept(world, { tenant: run.tenant, name: note.name, key: note.key })) {
    // What follows is older still.
    if (isBefore(event, note)) return false
    if (await endByEvent(world, open, event)) return true
  }
  return false
}

async function* newestKept({ waits, clock }: WaitWorld, topic: EventTopic): AsyncGenerator<OutsideEvent> {
  const now = new Date(clock.now()).toISOString()
  let after: string | undefined
  for (let seen = 0; seen < MOST_KEPT; seen += PAGE) {
    const page = await waits.keptEvents(topic, { now, limit: PAGE, after })
    yield* page.events
    after = page.next
    if (after === undefined) return
  }
}

function isBefore({ at }: OutsideEvent, { after_at }: WaitNote): boolean {
  return after_at !== undefined && at < after_at
}

/** Ends the wait by this event, if it is one it waits for. */
async function endByEvent(world: WaitWorld, open: OpenWait, event: OutsideEvent): Promise<boolean> {
  const { note } = open
  if (isBefore(event, note) || event.id === note.after_id || note.unjudged?.includes(event.id) === true) return false
  if (!(await isMatch(world, open, event))) return false
  const { id: event_id, at: came_at, payload } = event
  return endWait(world, open, { by: 'event', event_id, came_at, payload })
}

/** Whether the wait's `match` is true of the event; one that cannot be computed is no match, and the record says so. */
async function isMatch(world: WaitWorld, open: OpenWait, event: OutsideEvent): Promise<boolean> {
  const { wait, note, run } = open
  if (wait.kind !== 'event' || wait.match === undefined) return true
  const { id, name, key, at } = event
  const payload = await readJson(world, run.tenant, event.payload.ref)
  const stored = await readJson(world, run.tenant, note.inputs_ref)
  const inputs = (stored as { readonly values?: Json }).values ?? {}
  const input = { event: { id, name, at, payload, ...(key === undefined ? {} : { key }) }, inputs }
  const answer = await world.isolate.run('transform', { program: wait.match, input }, undefined, { tenant: run.tenant })
  if (answer.ok) return answer.value === true
  await noteUnjudged(world, open, id, `${answer.because}: ${answer.message}`)
  return false
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
  if (now !== undefined) await endWait(world, now, { by: 'time' })
}

/**
 * One look of the sweep at the waits of a run: those whose time has come end, and what was sent for the others and lost on
 * its way ends them. Answers when the next one's time comes, milliseconds since 1970; undefined: none is open.
 */
export async function lookAtWaits(world: WaitWorld, run: RunKey): Promise<number | undefined> {
  const head = await world.runs.head(run)
  if (head?.state !== 'running') return undefined
  const times: number[] = []
  for (const lane of openWaits(head)) {
    const owner = laneOwner(lane)
    const open =
      owner === undefined ? undefined : await findWait(world, run, { ...owner, ...readOrdinal(head.lanes[lane] ?? 0) })
    if (open === undefined) continue
    const until = Date.parse(open.note.until)
    if (until <= world.clock.now()) await endDueWait(world, open)
    else if (!(await endByWhatIsKept(world, open))) times.push(until)
  }
  return times.length === 0 ? undefined : Math.min(...times)
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
