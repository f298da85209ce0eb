import type { HostContext } from '../../functions/handler.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { MachineSignal } from '../../shared/errors.ts'
import type { FaultKind } from './fault-plan.ts'
import { type Invocation, runAs, type Sandbox } from './invocation.ts'
import { hashed } from './rng.ts'
import { openSandbox, type SharedPorts } from './sandbox.ts'
import type { Sim } from './sim.ts'

type Handler = (event: unknown, context: HostContext & { readonly principal?: Principal }) => Promise<unknown>

/** Who calls, which decides what its calls can meet: only the machine and events repeat or lose a call. */
type Caller = 'machine' | 'event' | 'route'

export interface Call {
  readonly from: Caller
  /** Names the call in the plan of faults. */
  readonly who: string
  readonly tenant?: string
  readonly principal?: Principal
  /** The host tells the handler that nobody waits any more. */
  readonly signal?: AbortSignal
}

export interface Functions {
  invoke(name: string, payload: unknown, call: Call): Promise<unknown>
  /** As `invoke`, for whoever does not wait; its failure is nobody's. */
  send(name: string, payload: unknown, call: Call): void
  /** Invocations that are neither over nor dead. */
  readonly underWay: ReadonlySet<Invocation>
  /** What the machine called, in order: to be delivered again. */
  readonly delivered: readonly { readonly name: string; readonly payload: unknown; readonly call: Call }[]
}

interface FunctionParts {
  readonly sim: Sim
  readonly shared: SharedPorts
  /** ms that the clock of an invocation is wrong by at the most. */
  readonly skew_ms: number
  /** Every sandbox is a process of its own; locally one process serves all. */
  readonly boot: string | undefined
}

const DELIVERIES: Readonly<Record<Caller, readonly FaultKind[]>> = {
  machine: ['twice', 'twice_at_once', 'never_run'],
  event: ['twice', 'twice_at_once', 'never_run'],
  route: [],
}
/** Lambda ends run-block after 900 s, and tells the handler 1.5 s before; routes end sooner. */
const LIFE_MS = 900_000
const GRACE_MS = 1_500

const handlers = new Map<string, Handler>()

/** Imports every handler once, so that no seed waits for a file. */
export async function loadHandlers(): Promise<void> {
  for (const { name, file, serves } of FUNCTIONS) {
    if (serves !== undefined && serves !== 'step') continue
    const module = await import(new URL(`../../functions/${file}`, import.meta.url).href)
    handlers.set(name, module.handler as Handler)
  }
}

/** The functions of the catalog as Lambda runs them: sandboxes that stay warm, die, and are called twice or never. */
export function createFunctions(parts: FunctionParts): Functions {
  const { sim } = parts
  const idle = new Map<string, Sandbox[]>()
  const underWay = new Set<Invocation>()
  const delivered: { readonly name: string; readonly payload: unknown; readonly call: Call }[] = []
  let count = 0

  const sandboxFor = (name: string): Sandbox => {
    const warm = idle.get(name)
    const kept = sim.random() < FRESH ? undefined : warm?.pop()
    return kept ?? openSandbox(sim, name, parts.shared, parts.boot ?? `boot${count}`)
  }
  const once = (name: string, payload: unknown, call: Call): Promise<unknown> => {
    const sandbox = sandboxFor(name)
    const over = Promise.withResolvers<unknown>()
    const control = new AbortController()
    const leave = () => {
      call.signal?.removeEventListener('abort', abort)
      stops.forEach((stop) => {
        stop()
      })
      underWay.delete(invocation)
    }
    const abort = () => control.abort(call.signal?.reason)
    count += 1
    const invocation: Invocation = {
      id: count,
      name,
      who: call.who,
      tenant: call.tenant,
      dead: false,
      left: false,
      skew: skewOf(sim, call.who, parts.skew_ms),
      give_up(error, zombie) {
        invocation.left = true
        invocation.dead = !zombie
        if (!zombie) leave()
        over.reject(hostError(error))
      },
    }
    underWay.add(invocation)
    if (call.signal?.aborted === true) abort()
    call.signal?.addEventListener('abort', abort, { once: true })
    const stops = [
      sim.scheduler.after(LIFE_MS - GRACE_MS, () =>
        control.abort(new Error('the time of this invocation is nearly over')),
      ),
      sim.scheduler.after(LIFE_MS, () => invocation.left || invocation.give_up('Sandbox.Timedout', sim.random() < 0.5)),
    ]
    if (sim.verbose) sim.trace(`${invocation.who}#${invocation.id} begins: ${JSON.stringify(payload).slice(0, 200)}`)
    const context = {
      world: sandbox.world,
      signal: control.signal,
      ...(call.principal === undefined ? {} : { principal: call.principal }),
    }
    runAs(invocation, () => handled(handlers.get(name), payload, context, sim))
      .then(over.resolve, over.reject)
      .finally(() => {
        if (invocation.dead) return
        leave()
        // Who was given up never serves again; what it still does is a zombie's.
        if (!invocation.left) idle.set(name, [...(idle.get(name) ?? []), sandbox])
      })
    return over.promise
  }
  const send = (name: string, payload: unknown, call: Call): void => {
    void sim.scheduler
      .turn()
      .then(() => once(name, payload, call))
      .catch(() => undefined)
  }
  const repeat = (fault: FaultKind | undefined, name: string, payload: unknown, call: Call): void => {
    if (fault === 'twice_at_once') send(name, payload, { ...call, who: `${call.who} twin` })
    if (fault !== 'twice') return
    const ms = sim.faults.size() ** 2 * 60_000
    sim.scheduler.after(ms, () => send(name, payload, { ...call, who: `${call.who} again` }))
  }
  return {
    send,
    underWay,
    delivered,
    async invoke(name, payload, call) {
      await sim.scheduler.turn()
      const fault = sim.faults.strike(`${name}/delivery`, call.who, DELIVERIES[call.from])
      if (fault !== undefined) sim.trace(`fault ${fault} of ${call.who}`)
      if (fault === 'never_run') return call.from === 'machine' ? neverAnswered(sim) : undefined
      if (call.from === 'machine') delivered.push({ name, payload, call })
      repeat(fault, name, payload, call)
      return once(name, payload, call)
    },
  }
}

const FRESH = 0.1

/** Step Functions waits for a call that went astray as long as Lambda may take, then says what it does not know. */
async function neverAnswered(sim: Sim): Promise<never> {
  await sim.scheduler.delay(60_000 + sim.faults.size() * LIFE_MS)
  throw hostError('Lambda.Unknown')
}

/** The answer over the wire; a stream is read by who asked for it, inside of the invocation. */
async function handled(
  handler: Handler | undefined,
  payload: unknown,
  context: Parameters<Handler>[1],
  sim: Sim,
): Promise<unknown> {
  if (handler === undefined) throw new Error('no such function')
  try {
    const answer = await handler(payload, context)
    const readBody = (payload as { readonly read_body?: (answer: unknown) => Promise<void> } | null)?.read_body
    if (readBody !== undefined) await readBody(answer)
    return answer
  } catch (error) {
    if (!isOwn(error)) sim.violate(38, `a function threw ${String(error).slice(0, 300)}`)
    if (error instanceof Error) error.stack = ''
    throw error
  }
}

function isOwn(error: unknown): boolean {
  if (error instanceof MachineSignal) return true
  if (!(error instanceof Error)) return false
  return (
    EIGHT.has(error.name) ||
    error.message === 'the time of this invocation is nearly over' ||
    error.name === 'AbortError'
  )
}

const EIGHT = new Set([
  'InvalidInput',
  'NotFound',
  'Conflict',
  'LimitExceeded',
  'Unavailable',
  'GateFailed',
  'Rejected',
  'Bug',
])

function hostError(name: string): Error {
  return Object.assign(new Error('injected'), { name, stack: '' })
}

/** Of one function's calls in one run some are late, some early. */
function skewOf(sim: Sim, who: string, most: number): number {
  if (most === 0) return 0
  const n = sim.faults.times(`skew ${who}`)
  return Math.round((hashed(sim.seed, `skew ${who} ${n}`) * 2 - 1) * most)
}
