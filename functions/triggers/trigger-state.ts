import { Fault } from '../../shared/errors.ts'
import type { Trigger, TriggerKey } from '../../shared/triggers/trigger.ts'
import type { TriggerState } from '../../shared/triggers/trigger-store.ts'
import type { World } from '../../shared/world.ts'

type StateWorld = Pick<World, 'triggers' | 'clock'>

const ROUNDS = 8

/** The state of all of them: no trigger has such a name. */
export const WHOLE_PLACE: Omit<TriggerKey, 'tenant'> = { document: '', trigger: '' }

/**
 * Changes the state of a trigger, as often as others are faster; `change` answers undefined where nothing is to be changed.
 * Fault Unavailable store_busy.
 */
export async function changeState(
  world: StateWorld,
  key: TriggerKey,
  trigger: Trigger | undefined,
  change: (state: TriggerState) => TriggerState | undefined,
): Promise<TriggerState> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const stored = await world.triggers.state(key)
    const state = stored ?? firstState(world, key, trigger)
    const wanted = change(state)
    if (wanted === undefined && stored !== undefined) return state
    const next = { ...(wanted ?? state), version: (stored?.version ?? 0) + 1 }
    if (await world.triggers.putState(next)) return next
  }
  const message = `Cannot change trigger "${key.trigger}" of DAG "${key.document}": others changed it each time. Try again.`
  throw new Fault('Unavailable', 'store_busy', message)
}

/** As one is that was never looked at: times that passed before are none of its times. */
function firstState({ clock }: Pick<World, 'clock'>, key: TriggerKey, trigger: Trigger | undefined): TriggerState {
  const now = new Date(clock.now()).toISOString()
  const { tenant, document } = key
  // The end of a run, and what is dropped, is told once: one that was owed before anybody looked is none of an earlier trigger.
  const places = isToldOnce(trigger) ? {} : placesOf(trigger, now)
  return { tenant, document, trigger: key.trigger, version: 0, since: now, ...places }
}

function isToldOnce(trigger: Trigger | undefined): boolean {
  return trigger?.kind === 'run' || trigger?.kind === 'object'
}

/** It was paused when that came, or not there; what came before the pause still counts. */
export async function isPassedOver(
  { triggers }: Pick<World, 'triggers'>,
  key: TriggerKey,
  at: string,
): Promise<boolean> {
  const state = await triggers.state(key)
  return (
    (state?.paused !== undefined && state.paused.at <= at) || (state?.ends_from !== undefined && at < state.ends_from)
  )
}

/** A place further ahead was written by a clock that has been set right since: hosts differ by less. */
export const MOST_AHEAD_MS = 3_600_000

/** From where on its times, its events, ends of runs or dropped objects are looked at. */
export function placesOf(
  trigger: Trigger | undefined,
  at: string,
): Pick<TriggerState, 'schedule' | 'events' | 'ends_from'> {
  if (isToldOnce(trigger)) return { ends_from: at }
  if (trigger?.kind === 'schedule') {
    const { cron, timezone } = trigger.schedule
    return { schedule: { cron, timezone, cursor: at } }
  }
  return trigger?.kind === 'event' ? { events: { cursor: at, from: at } } : {}
}
