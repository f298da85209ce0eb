import type { Block } from '../../../../shared/dag/dag.ts'
import type { RunEvent } from '../../../../shared/runs/event.ts'
import type { RunFold } from '../../../../shared/runs/run-fold.ts'

/** What the chain is looked for in: the document's order, and what happened. */
export interface CriticalParts {
  readonly blocks: readonly {
    readonly id: string
    readonly upstream: readonly string[]
    /** Blocks whose failed gates send the run back to it. */
    readonly sent_back_by?: readonly string[]
  }[]
  readonly spans: readonly Span[]
}

/** An attempt, or the wait for a person before it. */
export interface Span {
  readonly key: string
  readonly block_id: string
  readonly started_seq: number
  /** Absent: it goes on. */
  readonly ended_seq?: number
}

interface CriticalChain {
  readonly keys: ReadonlySet<string>
  /** Their blocks, each once, in the order they come up first. */
  readonly blocks: readonly string[]
}

/**
 * The chain of spans that determined when the run ended: what ended last, what ended last of all it waited for (the try
 * or the question before it, an upstream block, the block that sent it back), and so on to the first. While something
 * goes on, the newest that does is the last. By seq, not by time: two events of one millisecond still have an order.
 * O(spans x upstream).
 */
export function criticalChain({ blocks, spans }: CriticalParts): CriticalChain {
  const byBlock = Map.groupBy(spans, ({ block_id }) => block_id)
  const causes = new Map(blocks.map((block) => [block.id, causesOf(block)]))
  const chain: Span[] = []
  let span = lastOf(spans)
  while (span !== undefined) {
    chain.push(span)
    span = causeOf(span, causes.get(span.block_id) ?? [span.block_id], byBlock)
  }
  chain.reverse()
  return {
    keys: new Set(chain.map(({ key }) => key)),
    blocks: [...new Set(chain.map(({ block_id }) => block_id))],
  }
}

/** What each block of a document waits for, and which blocks send the run back to it. */
export function blockWaits(
  blocks: readonly Pick<Block, 'id' | 'upstream' | 'on_gate_fail'>[],
): CriticalParts['blocks'] {
  const back = Map.groupBy(
    blocks.flatMap(({ id, on_gate_fail = [] }) =>
      on_gate_fail.flatMap(({ route_to, reset_blocks }) => [route_to, ...reset_blocks].map((to) => ({ to, from: id }))),
    ),
    ({ to }) => to,
  )
  return blocks.map(({ id, upstream }) => ({
    id,
    upstream,
    sent_back_by: (back.get(id) ?? []).map(({ from }) => from),
  }))
}

function causesOf({ id, upstream, sent_back_by = [] }: CriticalParts['blocks'][number]): readonly string[] {
  return [...new Set([id, ...upstream, ...sent_back_by])]
}

/** What goes on ends later than everything that has ended; of several, what started last. */
function lastOf(spans: readonly Span[]): Span | undefined {
  return spans.reduce<Span | undefined>(
    (last, span) => (last === undefined || isLater(span, last) ? span : last),
    undefined,
  )
}

function isLater(a: Span, b: Span): boolean {
  const [endA, endB] = [a.ended_seq ?? Number.POSITIVE_INFINITY, b.ended_seq ?? Number.POSITIVE_INFINITY]
  return endA === endB ? a.started_seq > b.started_seq : endA > endB
}

/** Of all that ended before it started, what ended last: strictly before, so the walk ends. */
function causeOf(
  { started_seq }: Span,
  causes: readonly string[],
  byBlock: ReadonlyMap<string, readonly Span[]>,
): Span | undefined {
  const before = causes
    .flatMap((id) => byBlock.get(id) ?? [])
    .filter(({ ended_seq }) => ended_seq !== undefined && ended_seq < started_seq)
  return lastOf(before)
}

/**
 * The attempts of a run and the questions asked before them. Those of foreach items are inside that of their block, and
 * a question in the middle of an attempt is inside that attempt. O(events).
 */
export function attemptAndWaitSpans({ steps, approvals, seq }: RunFold, events: readonly RunEvent[]): readonly Span[] {
  const attempts = steps.flatMap(({ index, block_id, item, started_seq, ended_seq }): readonly Span[] =>
    item === undefined ? [{ key: `step ${index}`, block_id, started_seq, ...ended(ended_seq) }] : [],
  )
  const asked = Object.keys(approvals).length === 0 ? NONE : askedSeqs(events)
  const questions = Object.values(approvals).flatMap(({ approval_id, block_id, about, status }): readonly Span[] => {
    const seen = asked.get(approval_id)
    if (seen === undefined || (about !== undefined && about !== 'dispatch')) return []
    // Nobody decided one that is cancelled: it was open until the end.
    const end = status === 'pending' ? undefined : status === 'cancelled' ? seq : seen.last_seq
    return [{ key: approval_id, block_id, started_seq: seen.started_seq, ...ended(end) }]
  })
  return [...attempts, ...questions]
}

const NONE: ReadonlyMap<string, Asked> = new Map()

interface Asked {
  readonly started_seq: number
  readonly last_seq: number
}

/** When each question was asked, and the seq of what was said about it last. */
function askedSeqs(events: readonly RunEvent[]): ReadonlyMap<string, Asked> {
  const asked = new Map<string, Asked>()
  for (const { seq, type, data } of events) {
    if (!type.startsWith('approval:')) continue
    const { approval_id } = data as { readonly approval_id: string }
    asked.set(approval_id, { started_seq: asked.get(approval_id)?.started_seq ?? seq, last_seq: seq })
  }
  return asked
}

function ended(seq: number | undefined): Pick<Span, 'ended_seq'> {
  return seq === undefined ? {} : { ended_seq: seq }
}
