import { AsyncLocalStorage } from 'node:async_hooks'
import type { World } from '../../shared/world.ts'
import type { FaultKind } from './fault-plan.ts'
import type { Sim } from './sim.ts'

/** One call of a function. Once it is dead none of its calls is answered any more. */
export interface Invocation {
  readonly id: number
  /** The function's name in the catalog. */
  readonly name: string
  /** Tells its calls apart from others of the same function, whatever else happens in the run. */
  readonly who: string
  /** Whose data it may touch; undefined: the sweep and the like. */
  readonly tenant: string | undefined
  dead: boolean
  /** Its caller was told that it died. */
  left: boolean
  /** Its sandbox stands still until then: it cannot even extend a lease. */
  thaws?: Promise<void>
  /** How wrong its clock is, ms. */
  skew: number
  /** Ends it for its caller: `zombie` goes on unseen. */
  give_up(error: string, zombie: boolean): void
}

/** The ports one sandbox holds: as in Lambda it serves one invocation at a time, and stays warm for the next. */
export interface Sandbox {
  readonly world: World
}

/** Whose code runs: also what an invocation left behind when it ended is its own, not that of the next. */
const running = new AsyncLocalStorage<Invocation>()

export function runAs<T>(invocation: Invocation, work: () => T): T {
  return running.run(invocation, work)
}

export function currentInvocation(): Invocation {
  const invocation = running.getStore()
  if (invocation === undefined) throw new Error('a port was called outside of an invocation')
  return invocation
}

/** What may happen at a call of a port, before and after it is done. */
export interface PointKinds {
  readonly before: readonly FaultKind[]
  readonly after: readonly FaultKind[]
}

/** A method of a port as one function calls it: a pair of fault points. */
export interface PortMethod {
  readonly port: string
  /** `<function>/<port>.<method>`, and the two points of it. */
  readonly point: string
  readonly before: string
  readonly after: string
  readonly kinds: PointKinds
  /** The call waits for its turn first, so that other invocations come in between. */
  readonly turn: boolean
}

/** Made for each who waits: one for all would keep everybody who ever waited. */
const never = () => new Promise<never>(() => undefined)
/** Longer than a lease lasts. */
const SLOWEST_MS = 60_000
const LONGEST_FROST_MS = 120_000
/** The share of zombies that stand still for a while. */
const FROZEN = 0.7

/** One call of a port, through the fault points around it. */
export async function throughPoints<T>(
  sim: Sim,
  { port, point, before, after, kinds, turn }: PortMethod,
  work: () => Promise<T>,
): Promise<T> {
  const invocation = currentInvocation()
  if (turn) await sim.scheduler.turn()
  if (isHeld(invocation)) await ifAlive(invocation)
  const first = sim.faults.strike(before, invocation.who, kinds.before, port)
  if (first !== undefined) await meet(sim, invocation, before, first)
  sim.step(invocation, point)
  const answer = await work()
  if (isHeld(invocation)) await ifAlive(invocation)
  const second = sim.faults.strike(after, invocation.who, kinds.after)
  if (second !== undefined) await meet(sim, invocation, after, second)
  return answer
}

/** Meets what the plan has for this point: a wait, an error, or the end of the invocation. */
async function meet(sim: Sim, invocation: Invocation, where: string, kind: FaultKind): Promise<void> {
  sim.trace(`fault ${kind} at ${where} of ${invocation.who}#${invocation.id}`)
  switch (kind) {
    case 'slow':
      await sim.scheduler.delay(sim.faults.size() ** 3 * SLOWEST_MS)
      return ifAlive(invocation)
    case 'crash':
      invocation.give_up('Runtime.ExitError', false)
      await never()
      return
    case 'zombie':
      invocation.give_up('Lambda.Unknown', true)
      if (sim.faults.size() < FROZEN)
        invocation.thaws = sim.scheduler.delay((sim.faults.size() / FROZEN) * LONGEST_FROST_MS)
      return ifAlive(invocation)
    default:
      throw sim.unavailable(where)
  }
}

function isHeld({ dead, thaws }: Invocation): boolean {
  return dead || thaws !== undefined
}

/** For calls whose answer is in doubt: never when the invocation has died meanwhile; later while it is frozen. */
export async function ifAlive(invocation: Invocation): Promise<void> {
  if (invocation.dead) await never()
  if (invocation.thaws !== undefined) await invocation.thaws
}
