import { type Logs, readLogs } from './check-system.ts'
import type { System } from './system.ts'

/** How many of the machine's calls are made once more, spread over all. */
const AGAIN = 6

/** 37: a function that is called again when all is over stores the same. */
export async function deliverAgain(system: System, before: Logs): Promise<Logs> {
  const { functions, sim } = system
  const { delivered } = functions
  const every = Math.max(1, Math.floor(delivered.length / AGAIN))
  for (const [i, { name, payload, call }] of [...delivered].entries()) {
    if (i % every !== 0) continue
    // What it answers or raises is nobody's: the machine has ended.
    await functions.invoke(name, payload, { ...call, from: 'route', who: `${call.who} at rest` }).catch(() => undefined)
  }
  const after = await readLogs(system)
  for (const [id, events] of after) {
    const were = before.get(id) ?? []
    if (JSON.stringify(events) === JSON.stringify(were)) continue
    sim.violate(37, `${id}: calls that came again made ${JSON.stringify(events.slice(were.length)).slice(0, 300)}`)
  }
  return before
}
