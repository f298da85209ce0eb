import * as z from 'zod'
import { canonicalJson } from '../../shared/canonical.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold.ts'
import { chainOf } from '../../shared/runs/hash-chain.ts'
import type { RunFold } from '../../shared/runs/run-fold.ts'

const text = z.string()

/** What is compared of GET run; a newer server may say more. */
export const FoldedRunSchema = z.looseObject({
  run: z.looseObject({ state: text, last_seq: z.int(), tokens: z.number() }),
  blocks: z.record(text, z.looseObject({ state: text, attempt: z.int(), epoch: z.int() })),
  steps: z.array(z.looseObject({ block_id: text })),
})
type FoldedRun = z.infer<typeof FoldedRunSchema>

interface Answers {
  readonly events: readonly RunEvent[]
  readonly run: FoldedRun
  readonly seal: ChainEnd | null
  readonly anchor: ChainEnd | null
}

interface ChainEnd {
  readonly seq: number
  readonly hash: string
}

/** One thing this command worked out by itself, and what was wrong with the server's answer. */
export interface Recomputed {
  readonly title: string
  readonly problems: readonly string[]
}

/** The chain and the fold, from the replayed events alone: whoever changed the store cannot also have told us so. */
export function recomputeRun({ events, run, seal, anchor }: Answers): readonly Recomputed[] {
  return [
    { title: 'replay: every event once, in order', problems: orderProblems(events) },
    { title: 'hash chain of the replay', problems: seal === null ? [] : chainProblems(events, seal) },
    ...(anchor === null ? [] : [{ title: 'anchor of the replay', problems: anchorProblems(events, anchor) }]),
    { title: 'fold of the replay = GET run', problems: foldProblems(events, run) },
  ]
}

function orderProblems(events: readonly RunEvent[]): readonly string[] {
  const at = events.findIndex(({ seq }, i) => seq !== i + 1)
  return at < 0 ? [] : [`event ${events[at]?.seq} came where event ${at + 1} was due`]
}

function chainProblems(events: readonly RunEvent[], { seq, hash }: ChainEnd): readonly string[] {
  if (events.length < seq) return [`the chain is closed at event ${seq}, the replay has ${events.length} events`]
  const own = chainOf(events.slice(0, seq))
  return own === hash ? [] : [`at event ${seq} the chain is ${own}, the server says ${hash}`]
}

function anchorProblems(events: readonly RunEvent[], { seq, hash }: ChainEnd): readonly string[] {
  if (events.length !== seq) return [`the run was anchored at event ${seq}, the replay has ${events.length} events`]
  const own = chainOf(events)
  return own === hash ? [] : [`at event ${seq} the chain is ${own}, the anchor says ${hash}`]
}

/** GET run was asked first: what happened since is not in it. */
function foldProblems(events: readonly RunEvent[], { run, blocks, steps }: FoldedRun): readonly string[] {
  if (orderProblems(events).length > 0) return ['the replay has gaps: there is nothing to fold']
  const fold = foldRun(events.slice(0, run.last_seq))
  const wrong: string[] = []
  if (stateOf(run.state) !== fold.state) wrong.push(`GET run says ${run.state}, the fold ${fold.state}`)
  if (run.tokens !== fold.tokens) wrong.push(`GET run says ${run.tokens} tokens, the fold ${fold.tokens}`)
  if (run.last_seq !== fold.seq) wrong.push(`GET run is of event ${run.last_seq}, the replay ends at ${fold.seq}`)
  if (canonicalJson(steps) !== canonicalJson(fold.steps)) wrong.push('the steps differ')
  return [...wrong, ...Object.entries(blocks).flatMap(([id, block]) => blockProblems(id, block, fold))]
}

/** These two are derived from what is stored: to a fold both are a running run. */
function stateOf(shown: string): string {
  return shown === 'pending' || shown === 'paused_approval' ? 'running' : shown
}

function blockProblems(id: string, block: FoldedRun['blocks'][string], fold: RunFold): readonly string[] {
  const unseen = fold.state === 'running' ? 'pending' : 'cancelled'
  const told = Object.hasOwn(fold.blocks, id) ? fold.blocks[id] : undefined
  const { state, attempt, epoch } = told ?? { state: unseen, attempt: 0, epoch: 0 }
  if (block.state === state && block.attempt === attempt && block.epoch === epoch) return []
  return [`block "${id}" is ${block.state} (attempt ${block.attempt}), the fold says ${state} (attempt ${attempt})`]
}
