import type { Declared } from '../principal.ts'
import type { RunBudget } from './run-budget.ts'

/** Stored run states; `paused_approval` is derived on read, never stored. */
export const RUN_STATES = ['running', 'completed', 'partial', 'blocked', 'failed', 'cancelled', 'iterated'] as const
export type RunState = (typeof RUN_STATES)[number]

export interface HeadApproval {
  readonly block: number
  /** `cancelled`: its block was stopped before anybody decided. */
  readonly status: 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled'
  readonly expires_at: string
  readonly digest: string
  readonly decided_by?: string
  readonly decided_at?: string
  /** The person, where `decided_by` is not their own name. */
  readonly decided_person?: string
  readonly via?: string
  readonly declared?: Declared
  readonly feedback_ref?: string
  /** What is asked about; absent = a dispatch. */
  readonly about?: AskedAbout
  /** Of the people who approved, in order, where one is not enough. */
  readonly votes?: readonly Vote[]
  /** The inputs the approver changed, as a JSON object. */
  readonly edits_ref?: string
  /** When somebody is to be reminded or asked besides; absent = only the expiry is to come. */
  readonly next_at?: string
  /** How many reminders and escalations came. */
  readonly told?: number
  readonly escalated?: true
  /** Rejected with the wish for another run in place of this one. */
  readonly iterate?: RestartMode
}

/** `dispatch`: of a block, before its work; the others come up in the middle of an attempt (asks). */
export const ASKED_ABOUT = ['dispatch', 'pre_gates', 'post_gates', 'budget'] as const
export type AskedAbout = (typeof ASKED_ABOUT)[number]

/** One person's yes. `at`: ISO time. */
export interface Vote {
  readonly by: string
  /** Where `by` is not their own name. */
  readonly person?: string
  readonly via: string
  readonly declared?: Declared
  readonly at: string
}

/** What the next run of an iteration is given: results and feedback, or the feedback alone. */
export const RESTART_MODES = ['refine', 'from_scratch'] as const
export type RestartMode = (typeof RESTART_MODES)[number]

/** An effect owed to the world, written in the same update as its cause. `id` is unique in the run. */
export type OutboxEntry = { readonly id: string; readonly at: string } & (
  | { readonly kind: 'start_run' }
  /** And every child run its blocks still wait for. */
  | { readonly kind: 'stop_execution'; readonly cause: string }
  | { readonly kind: 'send_token'; readonly approval_id: string }
  /** A child that has ended answers its parent's task tokens. */
  | { readonly kind: 'answer_parent' }
  /** A block that was stopped alone: its child run, if it waits for one, is stopped too. */
  | { readonly kind: 'stop_child'; readonly child: string; readonly cause: string }
  /** Gives back the run's place among the active ones; the oldest queued run takes it. */
  | { readonly kind: 'release_lease' }
  /** The end of the run's hash chain is put where nobody can rewrite it (anchor.ts). */
  | { readonly kind: 'anchor' }
  /** A caller is told of the answer to its question, where `research.webhook` is configured. */
  | { readonly kind: 'webhook' }
  /**
   * One endpoint of `webhooks` is told of the run's events from `from_seq` on. It stands there from the first update of
   * the run until the endpoint was told of its end: what is owed follows from it and the log (docs/adr/0054).
   */
  | {
      readonly kind: 'endpoint'
      readonly endpoint: string
      readonly from_seq: number
      /** Failed tries of the event at `from_seq`, or the first wanted one after it. */
      readonly tries?: number
      /** Of the first failure since it took a message last. */
      readonly failing_since?: string
      /** No try before. */
      readonly due_at?: string
    }
  /** People are told, where Slack is configured. */
  | { readonly kind: 'notify'; readonly about: NotifyAbout; readonly approval_id?: string }
)

/** What people are told of. */
export type NotifyAbout =
  | 'asked'
  | 'reminded'
  | 'escalated'
  | 'voted'
  | 'decided'
  | 'expired'
  | 'cancelled'
  | 'run_ended'

/**
 * What HEAD knows of one bounce module (lane `m<k>`): how often it was sent back, and for each rule that fired, by
 * `<block index>.<rule>`, how often and in which epoch last. The epoch of a block is the greatest `epoch` among the
 * rules that reset it, or that in `also` (0 = none): blocks of the module that were not reset keep their outputs.
 */
export interface HeadModule {
  readonly epoch: number
  readonly rules: Readonly<Record<string, FiredRule>>
  /** Epochs of blocks no rule names, by index: they were skipped, and what they waited for has begun again. */
  readonly also?: Readonly<Record<string, number>>
}

/** `feedback_ref`: JSON lines, the verdicts that sent the blocks back; their next prompts carry them. */
export interface FiredRule {
  readonly count: number
  readonly epoch: number
  readonly feedback_ref?: string
}

/** When a run ended, and why. */
export interface RunEnding {
  readonly at: string
  readonly code: string
  readonly reason: string
}

/** The HEAD item as readers see it: the one serialisation point of a run (docs/architecture.md, "HEAD"). */
export interface Head {
  readonly state: RunState
  /** seq of the newest event. */
  readonly seq: number
  /** Lane key -> ordinal, item lanes among them; only the lanes asked for when the reader named some. */
  readonly lanes: Readonly<Record<string, number>>
  /** Lane keys with an attempt in flight: `3`, or `3.12` for an item of a foreach block. */
  readonly running: readonly string[]
  readonly approvals: Readonly<Record<string, HeadApproval>>
  /** Bounce modules by number; one that never bounced is absent (epoch 0). */
  readonly modules: Readonly<Record<string, HeadModule>>
  /** Child runs by lane of the block that waits for them. */
  readonly children: Readonly<Record<string, string>>
  readonly deadline_at: string
  /** When the sweeper must look at this run; present while the run lives or its outbox is not empty. */
  readonly check_at?: string
  readonly outbox: readonly OutboxEntry[]
  readonly budget: RunBudget
  /** Of bodies, as appends told it (docs/adr/0068); absent in runs that began before they were counted. */
  readonly stored_bytes?: number
  /** Of a run that has ended: as its last event says. Absent also in runs that ended before it was kept. */
  readonly ended?: RunEnding
  /** It waits for a place among the active runs, or did so to its end; never false. */
  readonly queued?: true
}
