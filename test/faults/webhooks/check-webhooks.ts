import type { RunEvent } from '../../../shared/runs/event.ts'
import { wantsEvent } from '../../../shared/webhooks/endpoint-deliveries.ts'
import { readMessageId } from '../../../shared/webhooks/message.ts'
import type { Logs } from '../check-system.ts'
import type { System } from '../system.ts'
import { type Received, TOLD } from './simulated-endpoints.ts'

/**
 * Once it is at rest: every event that an endpoint wants of a run that is over was taken or is a dead letter, but after a
 * 410; a message is the same each time; none is of an event that is not in the log; first tries are in its order.
 */
export async function checkWebhooks(system: System, logs: Logs): Promise<void> {
  const { endpoints, sim, raw } = system
  if (endpoints === undefined) return
  const { received } = endpoints
  checkTexts(system, received)
  const tenants = [...new Set([...system.runs.values()].map(({ tenant }) => tenant))]
  const pages = await Promise.all(tenants.map((tenant) => raw.deadWebhooks(tenant, { limit: MOST_DEAD })))
  const dead = new Set(pages.flatMap((page) => page.dead.map(({ id }) => id)))
  const taken = new Set(received.flatMap(({ id, status }) => (status === 204 ? [id] : [])))
  const gone = new Set(received.flatMap(({ id, status }) => (status === 410 ? [lineOf(id)] : [])))
  for (const [run_id, events] of logs) {
    for (const endpoint of TOLD.filter(({ tenant }) => tenant === system.runs.get(run_id)?.tenant)) {
      if (gone.has(`${run_id} ${endpoint.name}`)) continue
      const lost = events.filter(({ seq, type }) => {
        const id = `${run_id}-${seq}-${endpoint.name}`
        return wantsEvent(endpoint, type) && !taken.has(id) && !dead.has(id)
      })
      const words = lost.map(({ seq, type }) => `${seq} ${type}`).join(', ')
      if (lost.length > 0) sim.violate('webhooks', `${run_id}: ${endpoint.name} was never told of ${words}`)
    }
  }
  checkSources(system, logs, received)
}

const MOST_DEAD = 100_000

function lineOf(id: string): string {
  const { run_id, endpoint } = readMessageId(id) ?? {}
  return `${run_id} ${endpoint}`
}

function checkTexts({ sim }: System, received: readonly Received[]): void {
  const texts = new Map<string, string>()
  for (const { id, text } of received) {
    if ((texts.get(id) ?? text) !== text) sim.violate('webhooks', `${id} was sent with another body`)
    texts.set(id, text)
  }
}

function checkSources(system: System, logs: Logs, received: readonly Received[]): void {
  const last = new Map<string, number>()
  for (const id of new Set(received.map((one) => one.id))) {
    const read = readMessageId(id)
    if (read === undefined) continue
    const events = logs.get(read.run_id)
    // One that was erased since.
    if (events?.length === 0) continue
    checkSource(system, id, read, events?.[read.seq - 1])
    if (read.seq < (last.get(lineOf(id)) ?? 0)) system.sim.violate('webhooks', `${id} came first after a later one`)
    last.set(lineOf(id), read.seq)
  }
}

type Read = NonNullable<ReturnType<typeof readMessageId>>

/** Its endpoint wants the event, and is of the tenant of the run. */
function checkSource({ sim, runs }: System, id: string, read: Read, event: RunEvent | undefined): void {
  const endpoint = TOLD.find(({ name }) => name === read.endpoint)
  if (event === undefined || endpoint === undefined || !wantsEvent(endpoint, event.type))
    sim.violate('webhooks', `${id} is of no event it wants`)
  if (endpoint?.tenant !== runs.get(read.run_id)?.tenant) sim.violate(27, `${id} tells of another tenant's run`)
}
