import type { Dag } from '../dag/dag.ts'
import type { RunEvent } from '../runs/event.ts'
import type { RunState } from '../runs/head.ts'
import type { Json } from '../text/json.ts'
import type { Seen } from './scripts.ts'

/** A call that a script, a recording or a step of the project answered. */
export interface PlayedCall {
  readonly kind: 'model' | 'step' | 'tool'
  /** The provider, the step or the tool as the document names it. */
  readonly name: string
  /** Of a provider. */
  readonly model?: string
  /** What a model was shown. */
  readonly seen?: Seen
}

/** A run of the case: the one it started, one that took its place, or a child. */
export interface PlayedRun {
  readonly run_id: string
  readonly dag: Dag
  readonly events: readonly RunEvent[]
  readonly is_child: boolean
}

/** What came of a case that was played. Everything expected is judged by this alone. */
export interface PlayedCase {
  readonly status: RunState
  readonly code?: string
  readonly reason?: string
  readonly final_status?: string
  /** State of every block of the document at the end. */
  readonly blocks: Readonly<Record<string, { readonly state: string; readonly attempt: number }>>
  /** Verdicts by `block.gate`, in order. */
  readonly gates: Readonly<Record<string, readonly PlayedVerdict[]>>
  /** Values by `block.port`, of completed blocks. */
  readonly outputs: Readonly<Record<string, Json>>
  /** Texts by name. */
  readonly artifacts: Readonly<Record<string, string>>
  /** Blocks of which people were asked, a question each. */
  readonly asked: readonly string[]
  readonly calls: readonly PlayedCall[]
  readonly usd: number
  readonly tokens: number
  /** Virtual seconds from start to end. */
  readonly waited_sec: number
  /** Real ones. */
  readonly took_ms: number
  /** The run of the case, those after it and their children. */
  readonly runs: readonly PlayedRun[]
  /** What kept it from being played as it is written: a script without an answer, a decision nobody was asked for. */
  readonly problems: readonly string[]
}

interface PlayedVerdict {
  readonly status: 'passed' | 'failed' | 'error' | 'waived'
  readonly reason: string
}
