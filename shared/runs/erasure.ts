import { Fault } from '../errors.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson } from '../text/json.ts'
import type { RunState } from './head.ts'

/** As a run is named (shared/runs/run-store.ts reads this file). */
interface RunName {
  readonly tenant: string
  readonly run_id: string
}

/** Who did it, when and why: in their own words, which stay. */
export interface SaidWhy {
  readonly by: string
  /** The person, where `by` is not their own name. */
  readonly person?: string
  /** ISO time. */
  readonly at: string
  readonly reason: string
}

/** What a run was, without a word of what it was about. */
export interface ErasedRun {
  readonly dag_name: string
  readonly dag_hash: string
  readonly state: RunState
  readonly created_at: string
  readonly ended_at?: string
  /** The end of its hash chain: how many events it had, and the hash of the last. */
  readonly seq: number
  readonly hash: string
  /** The run whose block waited for it. */
  readonly parent?: string
}

/** `asked`: all of it is there. `emptying`: its items go. `bodies`: its bodies go, but those that others name. */
export const ERASURE_STEPS = ['asked', 'emptying', 'bodies', 'erased'] as const
type ErasureStep = (typeof ERASURE_STEPS)[number]

/** How far the look for others that name the same bodies has come. */
export interface LookForOthers {
  /** ISO time it began: runs that came later, or were at work since, are looked at once more at its end. */
  readonly since: string
  readonly of: 'runs' | 'graph' | 'again' | 'done'
  /** The cursor of the next page; absent = from the first. */
  readonly after?: string
}

/** An erasure, from its request to the record that proves it. */
export interface Erasure extends SaidWhy {
  /** Goes up with each write. */
  readonly version: number
  readonly step: ErasureStep
  /** The runs below it, which go with it; of one of those it is empty. */
  readonly children: readonly string[]
  /** It was asked for while the run went on, and begins at its end; the runs below it are found then. */
  readonly when_ended?: true
  /** Of one of those: the run it goes with, whose erasure is its own. */
  readonly of?: string
  /** Absent until its items go. */
  readonly run?: ErasedRun
  readonly look?: LookForOthers
  /** Messages that asked people: how many Slack was told to delete. */
  readonly slack_messages?: number
  /** Bodies it named: how many were erased, and how many stay because somebody else names them. */
  readonly bodies?: { readonly named: number; readonly erased?: number; readonly kept?: number }
  /** How often a copy from before brought its bodies again: they were erased once more. */
  readonly brought_back?: number
  /** Webhooks and buses that are still to be told that it was erased; no part of the record. */
  readonly untold?: readonly string[]
  /** Those that did not take it in time. */
  readonly not_told?: readonly string[]
  readonly erased_at?: string
  /** Goes on from the hash of the run's last event over this record; `sluice run verify` computes it again. */
  readonly proof?: string
}

/** What stands beside a run, and stays when it is gone. */
export interface RunMark {
  /** While it is there nothing of the run is removed, by nobody and by no age. */
  readonly hold?: SaidWhy
  readonly erasure?: Erasure
  /** ISO time at which somebody must look at it. */
  readonly check_at?: string
}

/** By their hashes. */
export interface ErasingBodies {
  readonly bodies: readonly string[]
  readonly spared: readonly string[]
}

/** What webhooks and buses may want to be told besides the events of runs. */
export const RUN_ERASED = 'run:erased'

/** Bodies of an erasure a part, as hashes: on AWS a part is an item of 400 KB at most. */
export const HASHES_A_PART = 4_000

/**
 * Holds and erasures of runs, as a part of the run store. Reads are consistent; every write is one conditional write and safe
 * to repeat. Suite: test/conformance/run-store-erasure-suite.ts.
 */
export interface RunMarks {
  mark(run: RunName): Promise<RunMark | undefined>
  /** Once: who held it first stays. `erasing`: it is too late. Nothing of the run grows too old from then on. */
  holdRun(run: RunName, hold: SaidWhy, check_at: string): Promise<'held' | 'erasing' | 'unknown_run'>
  /** False: nobody held it. */
  releaseRun(run: RunName): Promise<boolean>
  /** Once: of two that ask the first asks for both, and its erasure is answered. `held`: nothing was written. */
  beginErasure(run: RunName, erasure: Erasure, check_at: string | undefined): Promise<Erasure | 'held'>
  /** Compare-and-set on the version. `check_at` undefined: nobody looks at it again. */
  moveErasure(run: RunName, to: Erasure, check_at: string | undefined): Promise<boolean>
  /** When it is looked at next. */
  moveMark(run: RunName, was: string, to: string): Promise<void>
  /** The bodies that are to go, and those of them that stay since others name them. */
  erasing(run: RunName): Promise<ErasingBodies>
  /** What is to go: the whole list, the same whoever repeats it. */
  keepErasing(run: RunName, hashes: readonly string[]): Promise<void>
  /** These stay. Adds: what one worker found is not forgotten by another. */
  spareBodies(run: RunName, hashes: readonly string[]): Promise<void>
  /** Removes everything that is stored of a run under its id; what is not there any more stays away. No run of its id is made again. */
  eraseItems(run: RunName): Promise<void>
  /** Takes a kept result away if it is one of this run. */
  dropCached(run: RunName, block_hash: string, inputs_hash: string): Promise<void>
  /** Removes the hashes of its bodies. Where the store is a file of ours: nothing of what was removed is left in it. */
  sweepOut(run: RunName): Promise<void>
}

/** The record an erasure leaves, here or as it was answered: what is read of it; everything in it counts. */
export interface ErasureRecord extends Pick<Erasure, 'step' | 'at'> {
  readonly of?: string | undefined
  readonly run?: Pick<ErasedRun, 'hash'> | undefined
  readonly proof?: string | undefined
  readonly version?: number
  readonly look?: LookForOthers
  readonly untold?: readonly string[] | undefined
  readonly not_told?: readonly string[] | undefined
}

/**
 * The hash that goes on from the run's last one over the record of its erasure: whoever has the record computes it again, and
 * whoever has the hash of the last event (an anchor, a copy of the events) sees that it is the record of that run.
 */
export function proofOf(run_id: string, erasure: ErasureRecord): string {
  const { version: _, step: _step, look: _look, proof: _proof, untold: _untold, not_told: _not, ...record } = erasure
  return sha256(`${erasure.run?.hash ?? ''}${canonicalJson({ run_id, ...record })}`)
}

/** Whoever asks for a run that was erased, or is being erased and is not there any more. */
export function runErasedFault({ run_id }: RunName, { at, by, erased_at }: Erasure): Fault {
  const when = erased_at === undefined ? `it is being erased since ${at}` : `it was erased ${erased_at}`
  const message = `Cannot show run "${run_id}": ${when}, by ${by}. \`sluice run erasure ${run_id}\` shows the record that is left.`
  return new Fault('NotFound', 'run_erased', message, { status: 410, facts: { run_id, by, at, erased_at } })
}

const REF = /objstore:\/\/([A-Za-z0-9][A-Za-z0-9._-]{0,63})\/([0-9a-f]{64})/g

/** Hashes of the objects of this tenant that a text names by ref. */
export function namedObjects(tenant: string, text: string): readonly string[] {
  return [...text.matchAll(REF)].flatMap(([, owner, hash = '']) => (owner === tenant ? [hash] : []))
}

/** Hashes in a text, by ref or alone: whoever keeps one may read its object. */
export function hashesIn(text: string): readonly string[] {
  return text.match(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g) ?? []
}
