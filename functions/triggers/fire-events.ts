import { Fault } from '../../shared/errors.ts'
import type { OutsideEvent } from '../../shared/runs/outside-event.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { type EventTrigger, idOfEvent, programWithTime, type TriggerKey } from '../../shared/triggers/trigger.ts'
import type { TriggerState } from '../../shared/triggers/trigger-store.ts'
import type { World } from '../../shared/world.ts'
import { declaredTriggers } from './declared-triggers.ts'
import { afterRun, tooDeep } from './firing-chain.ts'
import { keepFiring, keepRefused, type Occasion, readBy, tellFailure } from './keep-firing.ts'
import { changeState, MOST_AHEAD_MS, placesOf } from './trigger-state.ts'

/** Clocks differ, and whoever sends one may stand still between the time it gives it and keeping it. */
const EARLIER_MS = 300_000
const PAGE = 100
/** Of the oldest so many that are new; more are left to the next look. */
const PER_LOOK = 1_000

/**
 * Keeps a firing of each event of its name that came since it was looked at last. Events are kept under an id of their own, and
 * those of the last five minutes are looked at again: none is lost, and none fires twice.
 */
export async function fireEvents(world: World, key: TriggerKey, trigger: EventTrigger): Promise<void> {
  const state = await world.triggers.state(key)
  const now = world.clock.now()
  const until = state?.paused?.at
  // Those from before the pause are still kept, and wait.
  if (until !== undefined && now - Date.parse(until) > EARLIER_MS) return
  const began = new Date(now).toISOString()
  if (state?.events === undefined) {
    if (until !== undefined) return
    await changeState(world, key, trigger, (stored) => ({ ...stored, ...placesOf(trigger, began) }))
    return
  }
  const { cursor, from: first } = setRight(state.events, now)
  const from = new Date(Math.max(Date.parse(cursor) - EARLIER_MS, Date.parse(first))).toISOString()
  const found = await eventsSince(world, { tenant: key.tenant, name: trigger.event.name }, from)
  const mine = until === undefined ? found : found.filter(({ at }) => at <= until)
  const last = await fireOldest(world, key, trigger, mine.toReversed())
  // Events a clock ahead gave their time do not hide those that follow.
  const latest = mine.find(({ at }) => at > cursor && at <= began && at <= last)?.at ?? cursor
  if (latest === state.events.cursor) return
  await changeState(world, key, trigger, (stored) =>
    stored.events?.cursor === state.events?.cursor ? { ...stored, events: { cursor: latest, from: first } } : undefined,
  )
}

/** Answers the time of the last one it looked at. */
async function fireOldest(
  world: World,
  key: TriggerKey,
  trigger: EventTrigger,
  events: readonly OutsideEvent[],
): Promise<string> {
  let looked = 0
  let last = ''
  for (const event of events) {
    if (looked >= PER_LOOK) break
    if (await fireEvent(world, key, trigger, event)) looked += 1
    last = event.at
  }
  return last
}

/** Places from a clock that was ahead and is set right: nothing would fire until it is that late again. */
function setRight(places: NonNullable<TriggerState['events']>, now: number): NonNullable<TriggerState['events']> {
  const most = now + MOST_AHEAD_MS
  const before = new Date(now - EARLIER_MS).toISOString()
  return {
    cursor: Date.parse(places.cursor) > most ? before : places.cursor,
    from: Date.parse(places.from) > most ? before : places.from,
  }
}

/** Has an event that was kept looked at now, where a trigger waits for its name; the next look finds it all the same. */
export async function nudgeTriggers(
  world: Pick<World, 'documents' | 'outbox' | 'settings'>,
  { tenant, name }: Pick<OutsideEvent, 'tenant' | 'name'>,
): Promise<void> {
  if (tenant !== world.settings.triggers.tenant) return
  const { declared } = await declaredTriggers(world)
  if (declared.some(({ trigger }) => trigger.kind === 'event' && trigger.event.name === name))
    await world.outbox.fireTriggers()
}

/** Newest first. */
async function eventsSince(
  { waits, clock }: World,
  topic: { readonly tenant: string; readonly name: string },
  from: string,
): Promise<readonly OutsideEvent[]> {
  const found: OutsideEvent[] = []
  let after: string | undefined
  do {
    const page = await waits.keptEvents(topic, { now: new Date(clock.now()).toISOString(), limit: PAGE, after })
    const since = page.events.filter(({ at }) => at >= from)
    found.push(...since)
    after = since.length < page.events.length ? undefined : page.next
  } while (after !== undefined)
  return found
}

/** False: it was looked at before. */
async function fireEvent(world: World, key: TriggerKey, trigger: EventTrigger, event: OutsideEvent): Promise<boolean> {
  const id = idOfEvent(event.id)
  const asked = `${canonicalJson(key)} ${trigger.event.match ?? ''} ${event.id}`
  if (unmatched.has(asked)) return false
  if ((await world.triggers.firing(key, id)) !== undefined) return false
  if ((await world.triggers.firing(key, `refused:${id}`)) !== undefined) return false
  const { tenant } = key
  // What was kept is JSON.
  const detail: Json = JSON.parse(Buffer.from(await world.objects.get(tenant, event.payload.ref)).toString('utf8'))
  const { name, at } = event
  const told = { id: event.id, name, at, payload: detail, ...(event.key === undefined ? {} : { key: event.key }) }
  const roots = { event: told, detail }
  const occasion = { id, at, roots }
  if (!(await isMatch(world, key, trigger, occasion))) noteUnmatched(asked)
  else await keepEvent(world, key, trigger, { ...occasion, ...(await chainOf(world, event)) })
  return true
}

async function keepEvent(world: World, key: TriggerKey, trigger: EventTrigger, occasion: Occasion): Promise<void> {
  const refused = occasion.after === undefined ? undefined : tooDeep(key, occasion.after)
  if (refused === undefined) await keepFiring(world, key, trigger, occasion)
  else await keepRefused(world, key, trigger, occasion, refused)
}

/** An event that a run sent may have been sent by one that a trigger started. */
async function chainOf(world: World, { tenant, by }: OutsideEvent): Promise<Pick<Occasion, 'after'>> {
  const run_id = /^run:(run_[0-9a-z]{26})$/.exec(by)?.[1]
  return run_id === undefined ? {} : { after: await afterRun(world, { tenant, run_id }) }
}

/** Events that did not match: asked about once, while this process remembers. */
const unmatched = new Set<string>()
const MOST_UNMATCHED = 10_000

function noteUnmatched(one: string): void {
  if (unmatched.size >= MOST_UNMATCHED) unmatched.clear()
  unmatched.add(one)
}

/** A match that cannot be computed is none, and is told. */
async function isMatch(world: World, key: TriggerKey, trigger: EventTrigger, occasion: Occasion): Promise<boolean> {
  const { match } = trigger.event
  if (match === undefined) return true
  const job = { program: programWithTime(match), input: readBy(key, occasion) }
  const answer = await world.isolate.run('transform', job, undefined, key)
  if (answer.ok) return answer.value === true
  const why = `its match could not be computed (${answer.because}: ${answer.message.slice(0, 200)})`
  tellFailure(world, key, new Fault('InvalidInput', 'trigger_match_failed', why))
  return false
}
