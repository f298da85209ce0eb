import * as z from 'zod'
import { Fault } from '../errors.ts'
import type { Json } from '../text/json.ts'
import { type RunEvent, RunEventSchema } from './event.ts'
import { isRunEnd } from './event-types.ts'
import { hashAfter } from './hash-chain.ts'
import type { Head } from './head.ts'
import type { RunNote } from './labels.ts'
import type { EndedRun, Meta, RunLink, StoredGoalAttempt } from './run-store.ts'
import type { ApprovalItem, ArtifactItem, BlockProjection, ContextItem } from './run-store-items.ts'

/** One line of the copy of a run. The first is `run`; the others come in any order, events by seq. */
export type RunLine =
  | { readonly run: CopiedHead }
  | { readonly event: RunEvent }
  | { readonly block: BlockProjection }
  | { readonly approval: ApprovalItem }
  | { readonly artifact: ArtifactItem }
  | { readonly note: RunNote }
  | { readonly words: readonly string[] }
  | { readonly link: RunLink }
  | { readonly goal_attempt: StoredGoalAttempt }

/** `sealed`: how far the chain was closed where it ran, and the hash there. */
export interface CopiedHead {
  readonly v: 1
  readonly meta: Meta
  /** Without what it owes: that stays where it ran. */
  readonly head: Head
  readonly context: ContextItem
  readonly sealed: { readonly seq: number; readonly hash: string }
}

/** An ended run, and what its lineage has, where it is the root of one. */
export interface CopiedRun extends EndedRun {
  readonly sealed: CopiedHead['sealed']
  readonly links: readonly RunLink[]
  readonly goal_attempts: readonly StoredGoalAttempt[]
}

const text = z.string()
const whole = z.int().min(0)

/** What each kind of line has at the least; the first is read by itself. */
const LINES = {
  event: RunEventSchema,
  block: z.looseObject({ block: whole, item: whole.optional(), ordinal: whole, state: text, attempt: whole }),
  approval: z.looseObject({ id: text, block: whole, block_id: text, digest: text, requested_at: text }),
  artifact: z.looseObject({ name: text, ref: text, sha256: text }),
  note: z.looseObject({ id: text, at: text, by: text }),
  words: z.array(text),
  link: z.looseObject({ run_id: text, from: text, kind: text, at: text }),
  goal_attempt: z.looseObject({ n: whole, run_id: text, at: text }),
} as const satisfies Readonly<Record<Exclude<LineKind, 'run'>, z.ZodType>>

type LineKind = RunLine extends infer Line ? (Line extends unknown ? keyof Line : never) : never

/** Reads the lines of a copy. Fault InvalidInput bad_copy says which line, and what is wrong with it. */
export function readCopiedRun(lines: readonly Json[], tenant: string): CopiedRun {
  const lists: Record<keyof typeof LINES, unknown[]> = {
    ...{ event: [], block: [], approval: [], artifact: [], note: [], words: [], link: [], goal_attempt: [] },
  }
  const [first, ...others] = lines.map(memberOf)
  if (first?.[0] !== 'run') throw badCopy('its first line is no run', 'what `sluice stage export` wrote')
  for (const [i, [kind, value]] of others.entries()) lists[kindOf(kind, i + 2)].push(readLine(kind, value, i + 2))
  // Written by an export: what neither the chain nor the checks below hold is the importer's word.
  const { v, ...head } = first[1] as unknown as CopiedHead
  if (v !== 1) throw badCopy(`it is of version ${JSON.stringify(v)}`, 'version 1, which this program writes')
  const run = {
    ...head,
    events: lists.event,
    projections: lists.block,
    approvals: lists.approval,
    artifacts: lists.artifact,
    notes: lists.note,
    words: lists.words.flat(),
    links: lists.link,
    goal_attempts: lists.goal_attempt,
  } as CopiedRun
  const problem = problemOf(run, tenant)
  if (problem !== undefined) throw badCopy(problem, 'a run that ended, whole, as it was exported')
  return { ...run, head: withoutDebts(run.head) }
}

function memberOf(line: Json, i: number): readonly [string, Json] {
  const members = typeof line === 'object' && line !== null ? Object.entries(line) : []
  const [only, ...others] = members
  if (only === undefined || others.length > 0) {
    throw badCopy(`line ${i + 1} has not one member`, 'an object of one member a line')
  }
  return only
}

function kindOf(kind: string, line: number): keyof typeof LINES {
  if (Object.hasOwn(LINES, kind)) return kind as keyof typeof LINES
  throw badCopy(`line ${line} is of kind "${kind}"`, `after the first line ${Object.keys(LINES).join(', ')}`)
}

function readLine(kind: string, value: Json, line: number): unknown {
  const read = LINES[kindOf(kind, line)].safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw badCopy(`line ${line} is no ${kind}: ${issue?.path.join('.')}: ${issue?.message}`, 'records of this version')
}

/** What it owes, and when it is looked at, are of the place where it ran. */
export function withoutDebts({ check_at: _, ...head }: Head): Head {
  return { ...head, outbox: [] }
}

/** The first thing in a copy that does not fit together; undefined = it does. */
function problemOf(run: CopiedRun, tenant: string): string | undefined {
  return partMissing(run) ?? wrongTenant(run, tenant) ?? wrongLog(run) ?? wrongBirth(run) ?? wrongDecision(run)
}

function partMissing({ meta, head, context, sealed }: Partial<CopiedRun>): string | undefined {
  const { lanes, running, approvals, modules, children, budget } = head ?? {}
  const parts = {
    meta,
    head,
    context,
    sealed,
    lanes,
    running,
    approvals,
    modules,
    children,
    budget,
    values: context?.values,
  }
  const missing = Object.entries(parts).find(([, part]) => typeof part !== 'object' || part === null)
  return missing === undefined ? undefined : `"${missing[0]}" is missing in its first line`
}

function wrongTenant({ meta }: CopiedRun, tenant: string): string | undefined {
  if (meta.tenant === tenant) return undefined
  return `it is of tenant "${meta.tenant}", and the caller of "${tenant}"; names of bodies hold the tenant`
}

function wrongLog({ meta: { run_id }, head, events, sealed }: CopiedRun): string | undefined {
  const wrong = events.findIndex((event, i) => event.seq !== i + 1 || event.run_id !== run_id)
  if (wrong >= 0) return `event ${wrong + 1} of run ${run_id} is not the one that follows`
  if (head.seq !== events.length) return `HEAD of run ${run_id} is at event ${head.seq}, and there are ${events.length}`
  const last = events.at(-1)?.type ?? 'none'
  if (!events.some(({ type }) => isRunEnd(type)) || last !== `run:${head.state}`) {
    return `run ${run_id} is ${head.state}, and its last event is ${last}`
  }
  const closed = hashAfter(events.slice(0, sealed.seq))
  return closed === sealed.hash ? undefined : `the hash chain of run ${run_id} does not hold at event ${sealed.seq}`
}

function wrongBirth({ meta, events: [started] }: CopiedRun): string | undefined {
  const { run_id, dag_hash, inputs_hash } = meta
  const isSame = started?.type === 'run:started' && started.data.dag_hash === dag_hash
  return isSame && started.data.inputs_hash === inputs_hash ? undefined : `run ${run_id} did not begin as its META says`
}

/** Who decided, by which way and on what, HEAD says as the event does: no other check compares these. */
function wrongDecision({ meta: { run_id }, head, events }: CopiedRun): string | undefined {
  const decided = events.filter((event) => event.type === 'approval:decided')
  const wrong = Object.entries(head.approvals).find(([id, { decided_by, digest, via, feedback_ref }]) => {
    const data = decided.findLast((event) => event.data.approval_id === id)?.data
    if (decided_by === undefined || data === undefined) return false
    const isSame = data.digest === digest && data.via === via && data.feedback_ref === feedback_ref
    return !isSame || `${data.by.kind}:${data.by.id}` !== decided_by
  })
  return wrong === undefined
    ? undefined
    : `HEAD of run ${run_id} and its events differ in who decided ${wrong[0]}, and on what`
}

export function badCopy(seen: string, allowed: string): Fault {
  const message = `Cannot take this copy: ${seen}. Allowed is ${allowed}. Export it again where it ran.`
  return new Fault('InvalidInput', 'bad_copy', message)
}
