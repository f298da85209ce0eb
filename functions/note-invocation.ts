import { traceIdOf } from '../shared/telemetry/trace-ids.ts'
import type { World } from '../shared/world.ts'

interface RunNamed {
  readonly run_id?: unknown
  readonly block_id?: unknown
}

/** What names the work of an invocation: of machines, of functions, and of routes. */
interface Event extends RunNamed {
  readonly in?: RunNamed
  readonly run?: RunNamed
  readonly pathParameters?: RunNamed | null
  readonly block?: unknown
  readonly e?: unknown
  readonly item?: unknown
  readonly step?: unknown
}

/** Characters of a name somebody sent. */
const MOST_TEXT = 100

/** From here on every line of the invocation says which run, block and item it is about, as far as its event does. */
export function noteInvocation({ log, telemetry }: Pick<World, 'log' | 'telemetry'>, event: unknown): void {
  if (log.note === undefined) return
  const { in: input, run, pathParameters, block, e, item, step, ...own } = Object(event) as Event
  const named = [input, run, pathParameters, own].map((one) => Object(one) as RunNamed)
  const run_id = named.map((one) => one.run_id).find((id) => typeof id === 'string')
  const trace_id = run_id === undefined || telemetry === undefined ? undefined : traceIdOf(run_id)
  log.note(known({ run_id, trace_id, block: block ?? pathParameters?.block_id, epoch: e, item, step }))
}

function known(facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const kept = Object.entries(facts).flatMap(([key, value]) => {
    if (typeof value === 'string') return [[key, value.slice(0, MOST_TEXT)]]
    return typeof value === 'number' ? [[key, value]] : []
  })
  return Object.fromEntries(kept)
}
