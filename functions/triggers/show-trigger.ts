import { nextTime, nextTimes } from '../../shared/triggers/schedule.ts'
import type { Trigger, TriggerKey } from '../../shared/triggers/trigger.ts'
import type { Firing } from '../../shared/triggers/trigger-store.ts'
import { triggerWords } from '../../shared/triggers/trigger-words.ts'
import type { World } from '../../shared/world.ts'
import type { Declared } from './declared-triggers.ts'

type ShowWorld = Pick<World, 'triggers' | 'waits' | 'clock' | 'settings'>

/** Of these the failures in a row are counted. */
const NEWEST = 20

/** A trigger as people see it. */
export async function showTrigger(world: ShowWorld, { document, trigger }: Declared, owed: readonly Firing[]) {
  const key: TriggerKey = { tenant: world.settings.triggers.tenant, document, trigger: trigger.name }
  const [state, { firings }] = await Promise.all([
    world.triggers.state(key),
    world.triggers.firings(key, { limit: NEWEST }),
  ])
  const [last] = firings
  const isPaused = state?.paused !== undefined
  const next = trigger.kind === 'schedule' && !isPaused ? nextTime(trigger.schedule, world.clock.now()) : undefined
  const url = trigger.kind === 'webhook' ? hookUrl(world, key) : undefined
  return {
    document,
    name: trigger.name,
    kind: trigger.kind,
    says: triggerWords(trigger),
    ...(url === undefined ? {} : { url }),
    ...(state?.paused === undefined ? {} : { paused: state.paused }),
    ...(next === undefined ? {} : { next: new Date(next).toISOString() }),
    waiting: owed.filter((one) => one.document === document && one.trigger === trigger.name).length,
    failures: failuresInARow(firings),
    ...(state?.missed === undefined ? {} : { missed: state.missed }),
    ...(last === undefined ? {} : { last: showFiring(last) }),
  }
}

/** A path where nobody has said where others reach this place. */
function hookUrl({ waits }: Pick<World, 'waits'>, { document, trigger }: TriggerKey): string {
  return `${waits.address() ?? ''}/api/hooks/${encodeURIComponent(document)}/${encodeURIComponent(trigger)}`
}

function failuresInARow(firings: readonly Firing[]): number {
  const over = firings.filter(({ state }) => state === 'failed' || state === 'started')
  const at = over.findIndex(({ state }) => state !== 'failed')
  return at === -1 ? over.length : at
}

export function showFiring({ id, at, state, run_id, by, ended_at, tries, next_at, reason, object }: Firing) {
  const isPutOff = state === 'owed' && tries > 0
  return {
    id,
    at,
    state,
    ...(state === 'skipped' || state === 'failed' ? {} : { run_id }),
    ...(by === undefined ? {} : { by: by.name }),
    ...(object === undefined ? {} : { object }),
    ...(ended_at === undefined ? {} : { ended_at }),
    tries,
    ...(isPutOff ? { next_at } : {}),
    ...(reason === undefined || state === 'started' ? {} : { reason }),
  }
}

const SHOWN_TIMES = 5

/** Of a schedule. */
export function comingTimes({ clock }: Pick<World, 'clock'>, trigger: Trigger): string[] {
  if (trigger.kind !== 'schedule') return []
  return nextTimes(trigger.schedule, clock.now(), SHOWN_TIMES).map((time) => new Date(time).toISOString())
}
