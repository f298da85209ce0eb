import type { Dag } from '../../dag/dag.ts'
import type { RunEvent } from '../event.ts'

export type Rerouted = Extract<RunEvent, { readonly type: 'block:rerouted' }>

/** What a bounce resets: blocks that have ended, both its ends, and everything between them. */
export function resetProblems(events: readonly RunEvent[], dag: Dag): readonly string[] {
  const after = downstreamOf(dag)
  const last = new Map<string, string>()
  const wrong: string[] = []
  for (const [i, event] of events.entries()) {
    if (event.type !== 'block:rerouted') note(last, event)
    else if (!isPartOfEarlier(events, i)) {
      const reset = partsOf(events, i).flatMap(({ data }) => data.reset)
      wrong.push(...sendProblems(event, reset, last), ...betweenProblems(event, new Set(reset), after))
      for (const id of reset) last.delete(id)
    }
  }
  return wrong
}

function note(last: Map<string, string>, { type, block_id, item }: RunEvent): void {
  if (block_id !== undefined && item === undefined) last.set(block_id, type)
}

/** A large hull, or several rules that fire together, take several events of one epoch of one module. */
function isPartOfEarlier(events: readonly RunEvent[], i: number): boolean {
  const [event, before] = [events[i], events[i - 1]]
  return event?.type === 'block:rerouted' && before?.type === 'block:rerouted' && placeOf(event) === placeOf(before)
}

function partsOf(events: readonly RunEvent[], i: number): readonly Rerouted[] {
  const parts: Rerouted[] = []
  for (const event of events.slice(i)) {
    if (event.type !== 'block:rerouted') break
    if (parts[0] !== undefined && placeOf(event) !== placeOf(parts[0])) break
    parts.push(event)
  }
  return parts
}

function placeOf({ id, data }: Rerouted): string {
  return `${id.split('/')[0]}/${data.epoch}`
}

const ENDED: readonly (string | undefined)[] = [
  'block:completed',
  'block:failed',
  'block:skipped',
  'block:cancelled',
  // A block after the bouncing one has nothing in this pass.
  undefined,
]

function sendProblems(
  { seq, block_id = '', data }: Rerouted,
  reset: readonly string[],
  last: ReadonlyMap<string, string>,
): readonly string[] {
  const wrong: string[] = []
  if (last.get(block_id) !== 'block:failed')
    wrong.push(`event ${seq}: block "${block_id}" is sent back without a failure`)
  for (const id of [data.to, block_id]) {
    if (!reset.includes(id)) wrong.push(`event ${seq}: block "${id}" is sent back and not reset`)
  }
  for (const id of reset) {
    if (!ENDED.includes(last.get(id))) wrong.push(`event ${seq}: block "${id}" is reset at ${last.get(id)}`)
  }
  return wrong
}

function betweenProblems(
  { seq, block_id = '' }: Rerouted,
  reset: ReadonlySet<string>,
  after: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const before = reach(upstreamOf(after), block_id)
  const left = [...reset].flatMap((id) => (after.get(id) ?? []).filter((to) => before.has(to) && !reset.has(to)))
  return left.length === 0 ? [] : [`event ${seq}: ${left.join(', ')} lies between and is not reset`]
}

function downstreamOf({ blocks }: Dag): ReadonlyMap<string, readonly string[]> {
  const after = new Map<string, string[]>(blocks.map(({ id }) => [id, []]))
  for (const { id, upstream } of blocks) for (const from of upstream) after.get(from)?.push(id)
  return after
}

function upstreamOf(after: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const before = new Map<string, string[]>([...after.keys()].map((id) => [id, []]))
  for (const [id, targets] of after) for (const to of targets) before.get(to)?.push(id)
  return before
}

/** The block itself, and all that are reached from it. */
function reach(arrows: ReadonlyMap<string, readonly string[]>, from: string): ReadonlySet<string> {
  const found = new Set([from])
  for (const id of found) for (const next of arrows.get(id) ?? []) found.add(next)
  return found
}
