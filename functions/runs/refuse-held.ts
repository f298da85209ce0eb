import { Fault } from '../../shared/errors.ts'
import type { StartHold } from '../../shared/runs/start-hold.ts'
import type { World } from '../../shared/world.ts'

/** Fault Conflict starts_on_hold while somebody holds the starts of the tenant (`stop-all` with `hold`). */
export async function refuseHeld({ runs }: Pick<World, 'runs'>, tenant: string): Promise<void> {
  const hold = await runs.startHold(tenant)
  if (hold !== undefined) throw startsOnHold(hold)
}

export function startsOnHold(hold: StartHold): Fault {
  const message = `Cannot start: starts are on hold ${holdWords(hold)}. Release them with \`sluice run release\` or POST /api/dag/safety/release.`
  return new Fault('Conflict', 'starts_on_hold', message, { facts: { ...hold } })
}

/** `since <time>, by user:ana: <reason>`. */
export function holdWords({ by, at, reason }: StartHold): string {
  return `since ${at}, by ${by}${reason === undefined ? '' : `: ${reason}`}`
}
