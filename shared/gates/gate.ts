import type * as z from 'zod'
import type { Json } from '../text/json.ts'
import type { Program } from './compile-programs.ts'
import type { GatePorts } from './gate-ports.ts'

/** What a port holds, as far as its type says: file and artifact are text to a gate, json may hold anything. */
export type Held = 'text' | 'number' | 'boolean'

/** What a gate may look at. For pre-gates `outputs` is empty; a port name looks in outputs first, then inputs. */
export interface GateFacts {
  readonly inputs: Readonly<Record<string, Json>>
  readonly outputs: Readonly<Record<string, Json>>
  /** Of ports of type file and artifact, whose values are texts here: their object refs. */
  readonly refs?: Readonly<Record<string, string>>
  /** This attempt's measured cost and wall time; null = unknown. */
  readonly measured: {
    readonly cost_usd: number | null
    readonly latency_ms: number | null
    /** Tokens in and out of this attempt. */
    readonly tokens?: number | null
  }
  /** Who answered and how it ended; absent for pre-gates and wherever nothing was dispatched. */
  readonly answer?: { readonly provider: string; readonly model: string; readonly finish_reason: string }
  /** When the verdict is asked for, ISO 8601 UTC; absent = a check that needs it answers `error`. */
  readonly at?: string
}

/** The answer of one check. `reason` is one sentence for people; `facts` small JSON (at most 512 bytes inline). */
export interface CheckResult {
  readonly passed: boolean
  readonly reason: string
  readonly facts?: Readonly<Record<string, Json>>
  /**
   * Nothing was judged: what it reads is missing, of a type it does not read, unknown, or more than it reads. It fails,
   * and fails negated too: `not: true` passes only on what was looked at.
   */
  readonly unfit?: true
  /** The check could not be carried out (out of time, not available here): recorded as `error`, never as passed. */
  readonly error?: true
}

/** A check as a document writes it, without its type, and what comes of it. */
export interface GateExample {
  readonly check: Readonly<Record<string, Json>>
  readonly inputs?: GateFacts['inputs']
  readonly outputs?: GateFacts['outputs']
  readonly measured?: GateFacts['measured']
  readonly answer?: NonNullable<GateFacts['answer']>
  readonly at?: string
  readonly passes: boolean
  /** Only a place with this port can carry it out. */
  readonly needs?: 'http' | 'shell' | 'provider' | 'objectFacts'
}

/**
 * One gate kind: adding one is this object in a file of its own plus a line in registry.ts (CONTRIBUTING.md, "A gate").
 * `check` is pure and total: it never throws for any value of any type; missing, null or wrong-typed ports FAIL.
 */
export interface Gate<Params> {
  readonly type: string
  /** One sentence for the generated reference. */
  readonly summary: string
  /** At least one that passes and one that does not; each is a test and stands in the generated reference. */
  readonly examples: readonly GateExample[]
  /** Strict: unknown parameters are errors when the DAG is parsed. */
  readonly params: z.ZodType<Params>
  /** Ports this check reads: they must exist on the block. */
  reads(params: Params): readonly string[]
  /** What it can look into, besides lists and objects; anything else is unfit, negated too. Absent = anything. */
  judges?(params: Params, port: string): readonly Held[]
  /** Of a check that looks at anything: what could pass, besides lists and objects. Absent = anything. */
  passesOn?(params: Params): readonly Held[]
  /** Of a check that holds two ports against each other: which, and whether it passes where they are equal or differ. */
  compares?(params: Params): { readonly ports: readonly [string, string]; readonly passes: 'equal' | 'not_equal' }
  /** What it compiles: known to compile once the DAG is parsed. `path` is the parameter it stands in. */
  programs?(params: Params): readonly Program[]
  /** What decides the verdict besides those ports (a measurement, say): it goes into the input hash. */
  sees?(params: Params, facts: GateFacts): Json
  /** The model it asks: known when the DAG is parsed, where the providers of the place are. */
  asks?(params: Params): { readonly provider: string; readonly model: string }
  check(params: Params, facts: GateFacts, ports: GatePorts): CheckResult | Promise<CheckResult>
}

/** The recorded verdict (docs/gates.md). `error` is not passed: a gate that crashes or times out fails closed. */
export interface Verdict {
  readonly name: string
  readonly type: string
  readonly passed: boolean
  readonly status: 'passed' | 'failed' | 'error' | 'waived'
  readonly reason: string
  readonly facts: Readonly<Record<string, Json>>
  readonly duration_ms: number
  /** sha256 of the check and of the port values it reads: same hash, same verdict. */
  readonly input_hash: string
  /** Of a gate of the project: the hash of the code that judged. */
  readonly version?: string
}
