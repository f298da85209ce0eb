import type { Block, TaskGate } from '../../../shared/dag/dag.ts'
import { HANDLERS, type HandlerConfig, type HandlerName } from '../../../shared/dag/handlers.ts'
import { Fault } from '../../../shared/errors.ts'
import type { GateFacts } from '../../../shared/gates/gate.ts'
import { type Isolate, isolateFor } from '../../../shared/ports/isolate.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { World } from '../../../shared/world.ts'

/** One attempt of a deterministic block. */
export interface HandlerCall {
  /** Of the ports the block declares; of an item, it is among them. Run inputs of whatever name are not. */
  readonly inputs: Readonly<Record<string, Json>>
  /** What expressions of its config see: the inputs, the run inputs, and of an item the list it comes from. */
  readonly values: Readonly<Record<string, Json>>
  readonly outputs: Block['outputs']
  readonly config: unknown
  readonly world: Pick<
    World,
    | 'runs'
    | 'objects'
    | 'inputs'
    | 'isolate'
    | 'http'
    | 'services'
    | 'settings'
    | 'clock'
    | 'outbox'
    | 'waits'
    | 'ids'
    | 'log'
  >
  readonly run: RunKey
  readonly block_id: string
  readonly epoch: number
  readonly attempt: number
  /** The same for the same attempt, and for no other: for services that dedupe by it. */
  readonly idempotency_key: string
  /** What sent the block back, and what its last attempt was refused for, a line each. */
  readonly feedback: readonly string[]
  /** Gates of the run's task; none where its DAG moves no task. */
  readonly task_gates: readonly TaskGate[]
  /**
   * Judges gates of the handler's own, all of them, as the gates of blocks are judged; the verdicts of the newest call
   * are recorded with the attempt, and one that does not hold fails it. Answers whether all hold.
   */
  judge(gates: readonly TaskGate[], facts: GateFacts): Promise<boolean>
  /** Of a foreach block: which item. */
  readonly item?: number
  readonly signal: AbortSignal
}

/**
 * The code of one deterministic handler. Answers values by output port (file and artifact: object refs); a port it
 * has no value for is left out, and the output contract then names it. Faults name the block; those of a handler that asks
 * nobody outside are not retryable.
 */
export interface BlockHandler {
  run(call: HandlerCall): Promise<Record<string, Json>>
}

/** The isolate, for the run of this call: its tenant's turn, and its end. */
export function isolateOf({ world, run, signal }: Pick<HandlerCall, 'world' | 'run' | 'signal'>): Isolate {
  return isolateFor(world.isolate, { tenant: run.tenant, signal })
}

/** The call's config by the handler's own schema; Fault InvalidInput handler_config (the parser checks it first). */
export function readConfig<N extends HandlerName>(name: N, call: HandlerCall): HandlerConfig<N> {
  const parsed = HANDLERS[name].safeParse(call.config ?? {})
  // The table's value for N is the schema HandlerConfig<N> is inferred from; TypeScript does not correlate the two.
  if (parsed.success) return parsed.data as HandlerConfig<N>
  const [issue] = parsed.error.issues
  const seen = `${issue?.path.join('.') || 'config'}: ${issue?.message ?? 'does not fit'}`
  const message = `Cannot run block "${call.block_id}" (${name}): ${seen}. Mend deterministic.config.`
  throw new Fault('InvalidInput', 'handler_config', message)
}

/** The input a handler works on: the one of its own name, else the only one there is. */
export function pickInput(call: HandlerCall, handler: string, name: string): Json {
  const own = Object.hasOwn(call.inputs, name) ? call.inputs[name] : undefined
  const all = Object.values(call.inputs)
  const value = own ?? (all.length === 1 ? all[0] : undefined)
  if (value !== undefined && value !== null) return value
  const ports = Object.keys(call.inputs)
    .map((port) => `"${port}"`)
    .join(', ')
  const seen = ports === '' ? 'it has no input with a value' : `none of its inputs ${ports} is "${name}"`
  throw handlerFault(call, handler, 'input_missing', `${seen}. Wire the value into an input named "${name}".`)
}

/** Fault InvalidInput of one handler: the block it happened in, what was seen and allowed, what to do. */
export function handlerFault(call: HandlerCall, handler: string, code: string, what: string, cause?: unknown): Fault {
  const message = `Cannot run block "${call.block_id}" (${handler}): ${what}`
  return new Fault('InvalidInput', code, message, cause === undefined ? {} : { cause })
}
