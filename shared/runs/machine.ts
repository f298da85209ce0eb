import type { Json } from '../text/json.ts'

/** The execution input, always exactly this, written by start-run alone. */
export interface MachineInput {
  readonly v: 1
  readonly tenant: string
  readonly run_id: string
  /** Where releases are gradual: the one the run began with, */
  readonly release?: string
  /** and the version of each function that works for it (shared/runs/release.ts). */
  readonly code?: Readonly<Record<string, string>>
}

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED'

export interface Execution {
  readonly status: ExecutionStatus
  readonly error?: string
  readonly cause?: string
}

export type TokenAnswer = { readonly ok: Json } | { readonly error: string; readonly cause: string }

/** A part of a machine: its placeholder in the texts that start it, and its own text. */
export interface MachineText {
  readonly key: string
  readonly text: string
}

/** Which machines of inline documents may go; times in ms since 1970. */
export interface ClearLimits {
  /** Those on which no run was started since then, */
  readonly unused_since: number
  /** and where there are more than so many, of the longest unused */
  readonly most: number
  /** those on which none was started since then. */
  readonly crowded_since: number
}

/** Versions that were replaced before then, ms since 1970. */
export interface ReplacedBefore {
  /** Of whole machines: runs that wait for their start name one. */
  readonly machines: number
  /** Of their parts: an execution starts one as late as it comes there. */
  readonly parts: number
}

/** Step Functions, or the local interpreter of the same text. Suite: test/conformance/machine/machine-suite.ts. */
export interface Machine {
  /**
   * Creates the machine of an inline DAG once per hash, with the machines it starts where it is too large for one; the
   * answer is what `start` takes.
   */
  ensure(definition: string, hash: string, parts?: readonly MachineText[]): Promise<string>
  /**
   * The machine of a document this place deploys, as `ensure` would answer it; where deploying is what makes machines,
   * none is made here: Fault NotFound machine_unknown.
   */
  deployed(definition: string, hash: string, parts?: readonly MachineText[]): Promise<string>
  /** What `ensure` would answer, without making anything: who may not start executions names the machine so. */
  named(definition: string, hash: string, parts?: readonly MachineText[]): Promise<string>
  /** Execution name = run id; 'exists' when it was started before. */
  start(start: {
    readonly machine: string
    readonly name: string
    readonly input: MachineInput
    /** The run's outbox owes this start until it is settled: the place may keep the execution after it has answered. */
    readonly owed?: true
  }): Promise<'started' | 'exists'>
  describe(machine: string, name: string): Promise<Execution | undefined>
  /**
   * Removes machines that `ensure` made and nothing needs: those within the limits on which nothing runs. A start that
   * comes too late finds none, and makes it again. Answers how many it removed.
   */
  clear(limits: ClearLimits): Promise<number>
  /** Removes versions of deployed machines that later deployments replaced. Answers how many; where none are made, 0. */
  prune(before: ReplacedBefore): Promise<number>
  /** New runs begin with the release before this one; 'nothing' = there is none, or this place has no releases. */
  takeBack(because: string): Promise<'taken_back' | 'nothing'>
  /** With its parts, executions `<name>-<k>`. */
  stop(machine: string, name: string, cause: string): Promise<void>
  /** 'gone' = already used, expired or unknown: counts as done. */
  answer(token: string, answer: TokenAnswer): Promise<'taken' | 'gone'>
  /** Says that whoever will answer the token is at work: a state with HeartbeatSeconds waits on. 'gone' as above. */
  beat(token: string): Promise<'taken' | 'gone'>
  /** True only when the process that held a lease can no longer exist (locally: another boot id). */
  holderGone(holder: string): boolean
}

/** The machines that may go if nothing runs on them, longest unused first. `used_at`: ms since 1970. */
export function machinesToClear<T extends { readonly used_at: number }>(
  machines: readonly T[],
  { unused_since, most, crowded_since }: ClearLimits,
): readonly T[] {
  const tooMany = machines.length - most
  return machines
    .toSorted((a, b) => a.used_at - b.used_at)
    .filter(({ used_at }, i) => used_at < unused_since || (i < tooMany && used_at < crowded_since))
}

/** Those that another one replaced before then; the newest was not replaced. `made_at`: ms since 1970. */
export function versionsToPrune<T extends { readonly made_at: number }>(
  versions: readonly T[],
  before: number,
): readonly T[] {
  const byAge = versions.toSorted((a, b) => a.made_at - b.made_at)
  return byAge.filter((_, i) => (byAge[i + 1]?.made_at ?? Number.POSITIVE_INFINITY) < before)
}
