import { type Anchor, type AnchorVersion, anchorKey } from '../runs/anchors.ts'
import { isRunEnd } from '../runs/event-types.ts'
import { hashAfter } from '../runs/hash-chain.ts'
import type { Checked } from './check-run.ts'
import type { StoredRun } from './invariant.ts'

/** What `run verify` was told of the anchor. */
export interface AnchorLook {
  /** Absent = anchors are off. */
  readonly versions?: readonly AnchorVersion[]
  readonly now: number
}

/** The anchor that counts: the first object of the run, whatever was put over it later. */
export interface FoundAnchor extends Pick<Anchor, 'seq' | 'hash' | 'events'>, Omit<AnchorVersion, 'body'> {}

export const ANCHOR_CHECK = 41
export const ANCHOR_TITLE = 'an ended run is the one whose hash was written where nobody can change it'

/** Time for what the run owes at its end, with some failures in between. */
const LATEST_MS = 15 * 60_000

/** The log against its anchor, check 41. Events that were cut where HEAD stands are the whole log of an ended run. */
export function checkAnchor(
  stored: StoredRun,
  { versions, now }: AnchorLook,
): { readonly checked: Checked; readonly anchor?: FoundAnchor } {
  const answer = (problems: readonly string[], left_out?: string): Checked => {
    const checked = { n: ANCHOR_CHECK, title: ANCHOR_TITLE, ok: problems.length === 0, problems }
    return left_out === undefined ? checked : { ...checked, left_out }
  }
  if (versions === undefined) return { checked: answer([], 'not anchored: audit.anchor is none in the settings') }
  const [first, ...others] = versions
  if (first === undefined) return { checked: withoutAnchor(stored, now, answer) }
  const later = others.map(({ key, written_at, body }) =>
    body === undefined
      ? `${key} was marked as deleted at ${written_at}; the anchor under the mark is still there`
      : `another object was put to ${key} at ${written_at}; the first one counts`,
  )
  const read = readAnchor(first)
  if (typeof read === 'string') return { checked: answer([read, ...later]) }
  const { body: _, ...version } = first
  const anchor = { ...version, seq: read.seq, hash: read.hash, events: read.events }
  return { checked: answer([...differences(stored, read, first), ...later]), anchor }
}

function withoutAnchor(
  { events, meta }: StoredRun,
  now: number,
  answer: (problems: readonly string[], left_out?: string) => Checked,
): Checked {
  const end = events.at(-1)
  if (end === undefined || !isRunEnd(end.type)) return answer([], 'the run has not ended')
  if (meta?.anchor === undefined) return answer([], 'not anchored: the run started before audit.anchor was set')
  const since = now - Date.parse(end.at)
  if (since < LATEST_MS) return answer([], 'not anchored yet: it ended less than 15 minutes ago')
  return answer([`there is no anchor, though the run ended at ${end.at} and audit.anchor is ${meta.anchor}`])
}

function readAnchor({ key, body, written_at }: AnchorVersion): Anchor | string {
  if (body === undefined) return `${key} is a mark of deletion of ${written_at}, and no anchor is under it`
  try {
    const read = JSON.parse(body)
    if (read?.format === 'sluice-anchor/1' && typeof read.hash === 'string' && Number.isInteger(read.seq)) return read
  } catch {}
  return `${key} cannot be read as an anchor`
}

function differences({ events }: StoredRun, anchor: Anchor, { key, locked_until }: AnchorVersion): readonly string[] {
  const { seq, hash, events: counted, run_id } = anchor
  const problems: string[] = []
  if (key !== anchorKey(anchor)) problems.push(`the anchor at ${key} says it is of run ${run_id}, event ${seq}`)
  if (counted !== seq) problems.push(`the anchor is of ${counted} events, up to event ${seq}`)
  if (events.length !== seq)
    problems.push(`the run was anchored at event ${seq}, the log ends with event ${events.length}`)
  const own = hashAfter(events.slice(0, seq))
  if (own !== hash) problems.push(`at event ${seq} the chain was ${hash} when it was anchored, and is ${own} now`)
  if (locked_until === undefined) problems.push(`${key} is not locked: whoever may delete objects can delete it`)
  return problems
}
