import type { RunEvent } from '../../../shared/runs/event.ts'
import type { RunFold } from '../../../shared/runs/run-fold.ts'
import type { Span } from './critical-path.ts'

/**
 * The attempts of a run and the questions asked before them. Those of foreach items are inside that of their block, and
 * a question in the middle of an attempt is inside that attempt. O(events).
 */
export function criticalSpans({ steps, approvals, seq }: RunFold, events: readonly RunEvent[]): readonly Span[] {
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
