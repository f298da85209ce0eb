import { Fault } from '../../shared/errors.ts'
import type { FaultPlan } from './fault-plan.ts'
import type { Invocation } from './invocation.ts'
import type { Random } from './rng.ts'
import type { Scheduler } from './scheduler.ts'

/** What everything in one simulated seed shares. */
export interface Sim {
  readonly seed: number
  readonly scheduler: Scheduler
  readonly faults: FaultPlan
  /** For ids, in the order they are asked for. */
  readonly random: Random
  readonly violations: string[]
  readonly lines: string[]
  /** Keep a line for each port call, not only for what is out of the ordinary. */
  readonly verbose: boolean
  /** When faults and people end, virtual ms. */
  readonly calm_at: number
  /** Tenant by run id, as far as starts were asked for. */
  readonly tenants: Map<string, string>
  trace(line: string): void
  step(invocation: Invocation, point: string): void
  /** Something that must never be, by the number of its invariant; each text once. */
  violate(invariant: number | string, words: string): void
  unavailable(where: string): Fault
}

export function createSim(parts: Pick<Sim, 'seed' | 'scheduler' | 'faults' | 'random' | 'verbose' | 'calm_at'>): Sim {
  const violations: string[] = []
  const lines: string[] = []
  const began = parts.scheduler.now()
  const trace = (line: string) => {
    const ms = parts.scheduler.now() - began
    lines.push(`${(ms / 1_000).toFixed(3).padStart(9)} ${line}`)
  }
  return {
    ...parts,
    tenants: new Map(),
    violations,
    lines,
    trace,
    step(invocation, point) {
      if (parts.verbose) trace(`${invocation.who}#${invocation.id} ${point}`)
    },
    violate(invariant, words) {
      const line = `${invariant}: ${words}`
      if (violations.includes(line) || violations.length >= MOST) return
      violations.push(line)
      trace(`VIOLATION ${line}`)
    },
    unavailable: (where) => new Fault('Unavailable', 'store_busy', `injected at ${where}`),
  }
}

/** One mistake may show at every step. */
const MOST = 20
