import * as z from 'zod'
import { functionHandler } from '../handler.ts'

const HOUR_MS = 3_600_000
/** So long the history of a run can be looked at in the console of Step Functions. */
const KEPT_MS = 7 * 24 * HOUR_MS
/** As many as may be active at once (safety.max_runs). */
const MOST = 1_000

/**
 * Removes machines of inline documents that nothing needs (docs/adr/0058). Each hour; a missed or doubled call changes
 * nothing but the time.
 */
export const handler = functionHandler({
  name: 'clear-machines',
  input: z.strictObject({}),
  async run(_event, world) {
    const now = world.clock.now()
    const limits = { unused_since: now - KEPT_MS, most: MOST, crowded_since: now - HOUR_MS }
    const removed = await world.machine.clear(limits)
    if (removed > 0) world.log.info('removed machines of inline documents that nothing used', { removed })
    return { removed }
  },
})
