import { Fault } from '../errors.ts'
import { isRunEnd } from '../runs/event-types.ts'
import { approvedCalls, callsBeforeTurns, frozenTools, taint, turnsOnce } from './agents.ts'
import { approvedActions } from './approved-actions.ts'
import { attempts, blockEnds, blockMoves, starts } from './block-life.ts'
import { bounces } from './bounces.ts'
import { budget, spent } from './budget.ts'
import { decisionEffects, decisions } from './decisions.ts'
import { eventIds, eventSizes, executionEnd, finalState, nothingAfterEnd, oneEnd, seqs } from './event-log.ts'
import { gatesBeforeCompletion, verdictsAgain } from './gates.ts'
import { goal } from './goal.ts'
import type { Invariant, RunParts, StoredRun } from './invariant.ts'
import { refs, storedBytes } from './objects.ts'
import { pauses } from './pauses.ts'
import { lostOnce, ownOutcomes, stepBegins } from './steps.ts'
import { headOfEvents, projections } from './stored-state.ts'
import { waits } from './waits.ts'

/** What one check found. `left_out`: why it could not be asked; then nothing is known, and it counts as no failure. */
export interface Checked {
  readonly n: number
  readonly title: string
  readonly ok: boolean
  readonly problems: readonly string[]
  readonly left_out?: string
}

/**
 * Every invariant of a stored run, by number. Of a run that is read while it moves, give `log` parts alone. `between` is
 * called after each: of a thousand blocks one check takes milliseconds.
 */
export async function checkRun(
  run: StoredRun,
  asked: readonly Invariant[] = INVARIANTS,
  between = async (): Promise<void> => {},
): Promise<readonly Checked[]> {
  const found: Checked[] = []
  for (const one of asked) {
    const { n, title } = one
    const left_out = whyLeftOut(one, run)
    if (left_out !== undefined) found.push({ n, title, ok: true, problems: [], left_out })
    else {
      const problems = await problemsOf(one, run)
      found.push({ n, title, ok: problems.length === 0, problems })
      await between()
    }
  }
  return found
}

function whyLeftOut({ needs, at_rest }: Invariant, run: StoredRun): string | undefined {
  const missing = needs.filter((part) => run[part] === undefined)
  if (missing.length > 0) return `not at hand: ${missing.map((part) => NAMES[part]).join(', ')}`
  return at_rest === true && !isAtRest(run) ? 'the run is not at rest yet' : undefined
}

/** Ended, and nothing is owed any more. */
function isAtRest({ events, head }: StoredRun): boolean {
  return isRunEnd(events.at(-1)?.type ?? '') && head?.outbox.length === 0
}

const NAMES: Readonly<Record<keyof RunParts, string>> = {
  events: 'its events',
  head: 'HEAD of this moment',
  meta: 'META',
  dag: 'its document',
  projections: 'its projections',
  approvals: 'its approvals',
  approvals_of: 'the questions of earlier runs',
  artifacts: 'its artifacts',
  context: 'its context',
  execution: 'its execution',
  read: 'a reader of objects',
  isolate: 'an isolate',
  before: 'an earlier look',
  max_attempts: 'the cap of attempts',
}

/** A run whose parts are so damaged that a check cannot read them is not in order; of a store that is away, Unavailable. */
async function problemsOf(one: Invariant, run: StoredRun): Promise<readonly string[]> {
  try {
    // whyLeftOut() saw every part this one needs.
    return await one.check(run as RunParts)
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return [`it cannot be checked: ${error instanceof Error ? error.message : String(error)}`]
  }
}

/** The invariants that one stored run can be asked about (docs/invariants.md), by number. */
export const INVARIANTS: readonly Invariant[] = [
  seqs,
  eventIds,
  nothingAfterEnd,
  oneEnd,
  finalState,
  blockEnds,
  blockMoves,
  starts,
  attempts,
  gatesBeforeCompletion,
  verdictsAgain,
  decisions,
  decisionEffects,
  budget,
  spent,
  eventSizes,
  refs,
  projections,
  headOfEvents,
  bounces,
  goal,
  executionEnd,
  approvedActions,
  storedBytes,
  stepBegins,
  lostOnce,
  waits,
  ownOutcomes,
  turnsOnce,
  callsBeforeTurns,
  approvedCalls,
  taint,
  frozenTools,
  pauses,
]

/** The hash chain as a check of its own, number 0: it needs what only the store knows, how far it is closed. */
export function checkChain(
  { events, head }: StoredRun,
  seal: { readonly seq: number; readonly matches: boolean } | undefined,
): Checked {
  const problems: string[] = []
  if (seal?.matches === false) problems.push(`events 1..${seal.seq} are not those the chain was closed over`)
  // Whoever ends a run, else the sweeper, closes the rest; until then the outbox or check_at keeps it in sight.
  const isAtRest = isRunEnd(events.at(-1)?.type ?? '') && head?.outbox.length === 0 && head.check_at === undefined
  if (isAtRest && seal?.seq !== events.length) {
    problems.push(`the chain is closed at event ${seal?.seq ?? 0}, the run ended with event ${events.length}`)
  }
  const checked = { n: 0, title: CHAIN_TITLE, ok: problems.length === 0, problems }
  return seal === undefined ? { ...checked, left_out: 'this run has no chain' } : checked
}

export const CHAIN_TITLE = 'the stored events are those its hash chain was closed over'
