import * as z from 'zod'
import { canonicalJson } from '../../shared/text/json.ts'
import { dueTimes } from '../../shared/triggers/schedule.ts'
import { idOfTime, type ScheduleTrigger, type TriggerKey } from '../../shared/triggers/trigger.ts'
import type { TriggerState } from '../../shared/triggers/trigger-store.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { type Declared, declaredTriggers } from './declared-triggers.ts'
import { fireEvents } from './fire-events.ts'
import { fireRunEnd } from './fire-run-ends.ts'
import { keepFiring } from './keep-firing.ts'
import { isQueueFull, startFiring } from './start-firing.ts'
import { changeState, MOST_AHEAD_MS, placesOf, WHOLE_PLACE } from './trigger-state.ts'

/** More starts are left to the next look. */
const PER_LOOK = 1_000
/** Of so many that are owed, the oldest: those that wait for their turn are not to hide the others. */
const MOST_OWED = 10_000

const text = z.string().min(1)

/**
 * One look at the triggers of the place: keeps a firing of each time that has come, and starts the runs of all that are owed.
 * Each second locally; on AWS each minute, at the times of schedules, and whenever something was kept. A missed or doubled
 * look changes nothing but the time. Called with a run that has `ended` it keeps the firings of that end.
 */
export const handler = functionHandler({
  name: 'fire-triggers',
  input: z.object({ ended: z.strictObject({ tenant: text, run_id: text }).optional() }),
  async run({ ended }, world) {
    const { tenant } = world.settings.triggers
    if (ended !== undefined) return (await fireRunEnd(world, ended)) > 0 ? startOwed(world, tenant) : { started: 0 }
    const all = await declaredTriggers(world)
    await noteDeclared(world, all)
    for (const { document, trigger } of all.declared) {
      const key = { tenant, document, trigger: trigger.name }
      const looked =
        trigger.kind === 'schedule'
          ? fireTimes(world, key, trigger)
          : trigger.kind === 'event'
            ? fireEvents(world, key, trigger)
            : undefined
      // One that cannot be looked at keeps nobody from the others.
      await looked?.catch((error: unknown) => notLooked(world, key, error))
    }
    return startOwed(world, tenant)
  },
})

function notLooked({ log }: World, { document, trigger }: TriggerKey, error: unknown): void {
  log.error('trigger could not be looked at', { document, trigger, error: String(error) })
}

type AllDeclared = Awaited<ReturnType<typeof declaredTriggers>>

/**
 * Keeps which triggers there are, so that one that was taken away and is put back begins then: its state alone would say that
 * nobody looked all the while, and that is made up for. What cannot be read now is not taken away.
 */
async function noteDeclared(world: World, { declared, unsound }: AllDeclared): Promise<void> {
  const at = new Date(world.clock.now()).toISOString()
  const { tenant } = world.settings.triggers
  const place = { tenant, ...WHOLE_PLACE }
  const before = (await world.triggers.state(place))?.declared
  const unread = before?.filter(({ document }) => unsound.includes(document)) ?? []
  const now = new Map([...unread, ...declared.map(named)].map((one) => [canonicalJson(one), one]))
  const known = new Set(before?.map((one) => canonicalJson(one)))
  if (before !== undefined && known.size === now.size && [...now.keys()].every((one) => known.has(one))) return
  // Where nothing was kept yet they may have been there for long.
  const back = before === undefined ? [] : declared.filter((one) => !known.has(canonicalJson(named(one))))
  for (const { document, trigger } of back) {
    if (trigger.kind === 'webhook') continue
    const key = { tenant, document, trigger: trigger.name }
    await changeState(world, key, trigger, (stored) => ({ ...stored, ...placesOf(trigger, at) }))
  }
  const all = [...now.values()]
  const isNoted = ({ declared: noted }: TriggerState) => canonicalJson(noted ?? null) === canonicalJson(all)
  await changeState(world, place, undefined, (stored) => (isNoted(stored) ? undefined : { ...stored, declared: all }))
}

function named({ document, trigger: { name, kind } }: Declared) {
  return { document, name, kind }
}

async function startOwed(world: World, tenant: string): Promise<{ readonly started: number }> {
  let started = 0
  const waiting = new Set<string>()
  for (const firing of await world.triggers.takeOwed(tenant, MOST_OWED)) {
    const name = canonicalJson([firing.document, firing.trigger])
    if (firing.by === undefined && waiting.has(name)) continue
    const outcome = await startFiring(world, firing).catch((error: unknown) => notLooked(world, firing, error))
    if (outcome === 'waits') waiting.add(name)
    if (outcome === 'started') started += 1
    if (started >= PER_LOOK) break
  }
  return { started }
}

/**
 * First the firings, then the time up to which they are kept: who dies between keeps the same ones again. Of a paused one those
 * from before the pause are still kept, and wait.
 */
async function fireTimes(world: World, key: TriggerKey, trigger: ScheduleTrigger): Promise<void> {
  const state = await world.triggers.state(key)
  const paused = state?.paused
  const own = state?.schedule
  const now = world.clock.now()
  if (own === undefined || isOther(own, trigger, now)) {
    // New, or another schedule: what it would have done before is not made up for.
    const at = new Date(now).toISOString()
    if (paused === undefined)
      await changeState(world, key, trigger, (stored) => ({ ...stored, ...placesOf(trigger, at) }))
    return
  }
  const until = paused === undefined ? now : Math.min(now, Date.parse(paused.at))
  const due = dueTimes(trigger.schedule, Date.parse(own.cursor), until)
  const last = due.fire.at(-1) ?? due.missed?.last
  if (last === undefined) return
  const missed = (due.missed?.count ?? 0) + (await keepTimes(world, key, trigger, due.fire))
  const told = { missed, uncounted: due.uncounted, last: due.missed?.last ?? last }
  await changeState(world, key, trigger, (stored) =>
    // Somebody else looked, or let it go on, meanwhile.
    stored.schedule?.cursor === own.cursor ? moved(stored, own, new Date(until).toISOString(), told) : undefined,
  )
}

/** Where the clock was ahead and is set right, it would be silent until it is that late again. */
function isOther(
  own: NonNullable<TriggerState['schedule']>,
  { schedule: { cron, timezone } }: ScheduleTrigger,
  now: number,
): boolean {
  return own.cron !== cron || own.timezone !== timezone || Date.parse(own.cursor) - now > MOST_AHEAD_MS
}

/** Answers how many found no room. */
async function keepTimes(
  world: World,
  key: TriggerKey,
  trigger: ScheduleTrigger,
  times: readonly number[],
): Promise<number> {
  let left = 0
  for (const time of times) {
    const at = new Date(time).toISOString()
    const id = idOfTime(at)
    if (await isFull(world, key, trigger, id)) left += 1
    else await keepFiring(world, key, trigger, { id, at, roots: {} })
  }
  return left
}

/** Whether there is no room for a further one that waits; one that is kept has its room. */
async function isFull(world: World, key: TriggerKey, { schedule }: ScheduleTrigger, id: string): Promise<boolean> {
  if (schedule.overlap !== 'queue' || (await world.triggers.firing(key, id)) !== undefined) return false
  return isQueueFull(await world.triggers.owed(key.tenant, MOST_OWED), key)
}

function moved(
  stored: TriggerState,
  schedule: NonNullable<TriggerState['schedule']>,
  cursor: string,
  { missed, uncounted, last }: { readonly missed: number; readonly uncounted: boolean; readonly last: number },
): TriggerState {
  const before = stored.missed
  const count = (before?.count ?? 0) + missed
  const more = uncounted || before?.more === true ? ({ more: true } as const) : {}
  const counted = missed === 0 ? {} : { missed: { count, ...more, last: new Date(last).toISOString() } }
  return { ...stored, schedule: { ...schedule, cursor }, ...counted }
}
