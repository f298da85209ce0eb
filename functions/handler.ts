import type * as z from 'zod'
import { Fault, MachineSignal } from '../shared/errors.ts'
import { runTraceId } from '../shared/telemetry/span-ids.ts'
import type { World } from '../shared/world.ts'

/** What a host hands to a handler besides the event. On AWS the generated entry supplies `world`. */
export interface HostContext {
  readonly world: World
  /** Aborted when the host gives up on this invocation (time-out, stop of the process). */
  readonly signal?: AbortSignal
}

export type Handler = (event: unknown, context: HostContext) => Promise<unknown>

interface FunctionSpec<Event, Answer> {
  readonly name: string
  readonly input: z.ZodType<Event>
  run(event: Event, world: World, context: HostContext): Promise<Answer>
}

/**
 * The wrapper of every function a machine or another function calls: parse in, run, name what went wrong. Route
 * handlers have their own (http-handler.ts).
 */
export function functionHandler<Event, Answer>(spec: FunctionSpec<Event, Answer>): Handler {
  return async (event, context) => {
    const { world } = context
    try {
      nameInvocationInLog(world, event)
      const parsed = spec.input.safeParse(event)
      if (!parsed.success) throw startThroughTheApi(spec.name, parsed.error.issues[0]?.message)
      return await spec.run(parsed.data, world, context)
    } catch (error) {
      if (!isExpected(error, context)) world.log.error('function failed', { function: spec.name, error: String(error) })
      throw error
    }
  }
}

/** The machine's own signals, and the host's own end: neither is an error. */
function isExpected(error: unknown, { signal }: HostContext): boolean {
  return error instanceof MachineSignal || signal?.aborted === true
}

function startThroughTheApi(name: string, seen: string | undefined): Fault {
  const message = `Cannot run "${name}": its input is not one the start route wrote (${seen ?? 'unknown shape'}). Start runs with POST /api/dag/run or \`sluice run start\`.`
  return new Fault('InvalidInput', 'start_through_the_api', message)
}

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
export function nameInvocationInLog({ log, telemetry }: Pick<World, 'log' | 'telemetry'>, event: unknown): void {
  if (log.note === undefined) return
  const { in: input, run, pathParameters, block, e, item, step, ...own } = Object(event) as Event
  const named = [input, run, pathParameters, own].map((one) => Object(one) as RunNamed)
  const run_id = named.map((one) => one.run_id).find((id) => typeof id === 'string')
  const trace_id = run_id === undefined || telemetry === undefined ? undefined : runTraceId(run_id)
  log.note(known({ run_id, trace_id, block: block ?? pathParameters?.block_id, epoch: e, item, step }))
}

function known(facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const kept: Record<string, unknown> = {}
  for (const key of Object.keys(facts)) {
    const value = facts[key]
    if (typeof value === 'string') kept[key] = value.slice(0, MOST_TEXT)
    else if (typeof value === 'number') kept[key] = value
  }
  return kept
}
