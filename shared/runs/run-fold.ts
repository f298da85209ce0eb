import type { Declared } from '../auth/declared-client.ts'
import type { FinalStatus } from '../goals/decision-table.ts'
import type { Stage } from '../research/stages.ts'
import type { EventData, RunEvent, StoredValue } from './event.ts'
import type { AskedAbout, HeadApproval, RestartMode, RunState, Vote } from './head.ts'
import { laneOwner, readOrdinal } from './lane.ts'
import type { BlockState } from './run-store-items.ts'

/** One attempt: an entry of `steps` in the answer about a run. */
export interface StepFold {
  /** 1..n in the order of started_seq, without gap. */
  readonly index: number
  readonly block_id: string
  readonly epoch: number
  readonly attempt: number
  /** Of a foreach block: whose attempt it is. */
  readonly item?: number
  /** An attempt after which another try was due has failed. */
  readonly state: 'running' | 'completed' | 'failed' | 'cancelled'
  readonly started_seq: number
  readonly started_at: string
  readonly ended_seq?: number
  readonly ended_at?: string
  /** Ref of the output, of the first port by name when there are several; all of them are in the block's `outputs`. */
  readonly output_ref?: string
}

/** One item of a foreach block at its newest attempt. */
export interface ItemFold {
  readonly state: BlockState
  readonly attempt: number
  readonly error?: { readonly code: string; readonly reason: string }
  /** It waits, as its document says. */
  readonly waits?: true
  /** Of a call of an agent: the tool, as its document names it. */
  readonly tool?: string
}

/** A wait as its events tell it. */
export type WaitFold = Pick<EventData<'block:waiting'>, 'for' | 'until' | 'name' | 'key'> & {
  readonly since: string
  readonly ended_by?: EventData<'block:woken'>['by']
  readonly ended_at?: string
}

/** A block that appears in events. Gates, outputs and error are those of its newest attempt. */
export interface BlockFold {
  readonly state: BlockState
  /** 0 before the first. */
  readonly attempt: number
  readonly epoch: number
  /** Attempts of this epoch, up to the newest, that were no try of `retry` (docs/adr/0009); absent when there are none. */
  readonly untried?: number
  /** Start of the epoch's first attempt. */
  readonly started_at?: string
  readonly ended_at?: string
  readonly outputs?: Readonly<Record<string, StoredValue>>
  readonly gates: readonly EventData<'block:gate'>[]
  readonly error?: { readonly code: string; readonly reason: string }
  /** While retrying: when the next attempt may start. */
  readonly due_at?: string
  /** While a step works: how far it last said it is. */
  readonly progress?: EventData<'step:progress'>
  /** What the step of its newest attempt wrote. */
  readonly log?: NonNullable<EventData<'block:output'>['log']>
  /** The child run of its newest attempt (mode dag). */
  readonly child?: string
  /** What it waits for, or what it waited for in its newest attempt, and what ended that (mode wait). */
  readonly wait?: WaitFold
  /** The run whose result stands in for a dispatch. */
  readonly cached_from?: string
  /** While skipped: the upstream blocks that did not complete. */
  readonly because?: readonly string[]
  /** While skipped: which condition of its own was not true. */
  readonly condition?: 'when' | 'depends' | undefined
  /** How many items a foreach block began with. */
  readonly item_count?: number
  /** Of an agent that acts: the first turn of its newest attempt. Its turns and calls are the items. */
  readonly first_turn?: number
  /** Those that have started, by number; once too many of them have failed also the others, which are skipped. */
  readonly items?: Readonly<Record<string, ItemFold>>
  /** Of every attempt of every epoch together. */
  readonly tokens_in: number
  readonly tokens_out: number
  /** Sum of the known prices; absent when none is known. */
  readonly usd_micros?: number
  /** Tokens nobody knows a price of; absent when there are none. */
  readonly unpriced_tokens?: number
}

/** An approval as its events tell it: `cancelled` when the run ended before anybody decided. */
export interface ApprovalFold {
  readonly approval_id: string
  readonly block_id: string
  readonly status: HeadApproval['status']
  readonly digest: string
  readonly requested_at: string
  readonly expires_at: string
  readonly approvers: readonly string[]
  readonly quorum: number
  readonly decided_by?: string
  readonly decided_at?: string
  readonly decided_person?: string
  readonly via?: string
  readonly declared?: Declared
  readonly feedback_ref?: string
  readonly waited_ms?: number
  readonly about?: AskedAbout
  readonly votes?: readonly Vote[]
  readonly edits_ref?: string
  readonly iterate?: RestartMode
  /** Of a call of an agent: nobody is asked before later calls of its tool. */
  readonly rest?: true
  /** Of a call of an agent: it was to do nothing more. */
  readonly stop?: true
  /** How many reminders came. */
  readonly reminded?: number
  /** Who may decide besides, since it was escalated. */
  readonly escalated_to?: readonly string[]
}

/** A stage of the research chain, at its step `n`; `ref` is the state of the chain after it. */
interface StageFold {
  readonly stage: Stage
  readonly n: number
  readonly at: string
  readonly ref: string
}

/** A run as its events tell it; it knows only the blocks that appear in them. Plain data, equal for equal events. */
export interface RunFold {
  /** seq of the newest event folded; 0 before the first. */
  readonly seq: number
  readonly state: RunState
  /** Why it ended. */
  readonly code?: string
  readonly reason?: string
  readonly block_id?: string
  /** The linked run that comes after it: it was iterated, or tries its goal again by itself. */
  readonly next_run?: string
  /** What its gates made of it, and the row of their table. */
  readonly final_status?: FinalStatus
  readonly row?: string | number
  /** How its completion was judged; absent = it was not, or not yet. */
  readonly goal?: EventData<'goal:evaluated'>
  readonly started_at?: string
  readonly ended_at?: string
  /** It was started into the queue, and nothing is known of a block of it yet. */
  readonly queued?: true
  /** While somebody keeps it from going on: since when, who and why. */
  readonly paused?: EventData<'run:paused'> & { readonly since: string }
  /** Milliseconds it stood in pauses that are over; absent = none. */
  readonly stood_ms?: number
  /** Of a research run: the stage recorded last. */
  readonly stage?: StageFold
  readonly blocks: Readonly<Record<string, BlockFold>>
  readonly steps: readonly StepFold[]
  readonly approvals: Readonly<Record<string, ApprovalFold>>
  readonly tokens: number
  /** Sum of the known prices; absent when none is known. */
  readonly usd_micros?: number
  /** Tokens nobody knows a price of; absent when there are none. */
  readonly unpriced_tokens?: number
}

/** Epoch, attempt and item stand in the event's id, `<lane>/<ordinal>/<i>`. */
export function eventPosition({ id, attempt }: RunEvent): Pick<StepFold, 'epoch' | 'attempt' | 'item'> {
  const [lane = '', position] = id.split('/')
  const place = readOrdinal(Number(position))
  const item = laneOwner(lane)?.item
  return { epoch: place.epoch, attempt: attempt ?? place.attempt, ...(item === undefined ? {} : { item }) }
}

/** One text for all events of one attempt of a block, or of an item of it. */
export function attemptOf(event: RunEvent): string {
  const { epoch, attempt, item } = eventPosition(event)
  return `${epoch}/${attempt}/${item ?? ''}/${event.block_id}`
}
