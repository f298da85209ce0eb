import type { Block } from '../../dag/dag.ts'
import { upstreamSkip } from '../conditions.ts'
import type { RunEvent } from '../event.ts'
import type { Outcome } from '../ordinal.ts'
import { invariant } from './invariant.ts'

type Outcomes = Map<string, Outcome>
type Skipped = Extract<RunEvent, { readonly type: 'block:skipped' }>

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  'block:completed': 'completed',
  'block:failed': 'failed',
  'block:skipped': 'skipped',
  'block:cancelled': 'cancelled',
}

export const starts = invariant({
  n: 9,
  title: 'a block starts, asks or is skipped only when every upstream has ended, and as its conditions say',
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag }) {
    const blocks = new Map(dag.blocks.map((block) => [block.id, block]))
    const standing: Standing = { outcomes: new Map(), epochs: new Map(), skips: new Map() }
    const wrong = events.flatMap((event) => {
      if (event.type === 'block:rerouted') return resetBlocks(event, standing)
      const block = blocks.get(event.block_id ?? '')
      return block === undefined || event.item !== undefined ? [] : moveBlock(events, event, block, standing)
    })
    if (!isSettled(events)) return wrong
    // A skip that stands must hold to the end: what it was for may have begun again since.
    const { outcomes, skips } = standing
    return [...wrong, ...[...skips].flatMap(([id, skip]) => skipProblems(skip, blocks.get(id), outcomes))]
  },
})

function moveBlock(
  events: readonly RunEvent[],
  event: RunEvent,
  block: Block,
  { outcomes, skips }: Standing,
): readonly string[] {
  const wrong: string[] = []
  if (event.type === 'block:started' || event.type === 'approval:requested') {
    wrong.push(...startProblems(event, block, outcomes))
  }
  if (event.type === 'block:skipped') {
    skips.set(block.id, event)
    if (isSuperseded(events, event)) wrong.push(...skipProblems(event, block, outcomes))
  }
  const outcome = OUTCOMES[event.type]
  if (outcome !== undefined) outcomes.set(block.id, outcome)
  return wrong
}

interface Standing {
  readonly outcomes: Outcomes
  readonly epochs: Map<string, number>
  readonly skips: Map<string, Skipped>
}

function resetBlocks(
  { data }: Extract<RunEvent, { readonly type: 'block:rerouted' }>,
  { outcomes, epochs, skips }: Standing,
): readonly [] {
  for (const id of data.reset) {
    if (data.epoch <= (epochs.get(id) ?? 0)) continue
    epochs.set(id, data.epoch)
    outcomes.delete(id)
    skips.delete(id)
  }
  return []
}

function startProblems({ type, seq }: RunEvent, block: Block, outcomes: Outcomes): readonly string[] {
  const open = block.upstream.filter((id) => !outcomes.has(id))
  if (open.length > 0) return [`block "${block.id}": event ${seq} ${type} before ${open.join(', ')} ended`]
  const skip = upstreamSkip(block, (id) => outcomes.get(id))
  return skip === undefined
    ? []
    : [`block "${block.id}": event ${seq} ${type} though ${skip.because.join(', ')} did not`]
}

/** Whether a later bounce takes it back, or nobody came to settle the run: then it is judged by what was known. */
function isSuperseded(events: readonly RunEvent[], { block_id = '', seq }: Skipped): boolean {
  if (!isSettled(events)) return true
  return events.slice(seq).some((event) => event.type === 'block:rerouted' && event.data.reset.includes(block_id))
}

function isSettled(events: readonly RunEvent[]): boolean {
  return ['run:completed', 'run:failed'].includes(events.at(-1)?.type ?? '')
}

function skipProblems({ seq, data }: Skipped, block: Block | undefined, outcomes: Outcomes): readonly string[] {
  if (block === undefined) return []
  const open = block.upstream.filter((id) => !outcomes.has(id))
  if (open.length > 0) return [`block "${block.id}": event ${seq} block:skipped before ${open.join(', ')} ended`]
  const due = upstreamSkip(block, (id) => outcomes.get(id))
  const isByWhen = data.condition === 'when' && block.when !== undefined && due === undefined
  const isSame = due !== undefined && due.condition === data.condition && sameSet(due.because, data.because)
  if (isByWhen || isSame) return []
  return [
    `block "${block.id}": event ${seq} block:skipped (${data.condition ?? 'upstream'}) names ${data.because.join(', ')}`,
  ]
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one))
}
