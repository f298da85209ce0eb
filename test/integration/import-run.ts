import type { NewEvent, RunEvent } from '../../shared/runs/event.ts'
import { isRunEnd } from '../../shared/runs/event-types.ts'
import type { RunState } from '../../shared/runs/head.ts'
import { laneOwner, ordinal, PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import type { Append, Meta, RunStore } from '../../shared/runs/run-store.ts'

/** Appends the events of a run of one store to another, step by step as they were appended; times and ids stay. */
export async function importRun(store: RunStore, meta: Meta, events: readonly RunEvent[]): Promise<void> {
  const run = { tenant: meta.tenant, run_id: meta.run_id }
  const [first, ...rest] = events
  if (first === undefined) throw new Error('a run begins with an event')
  const times = { deadline_at: '2099-01-01T00:00:00.000Z', check_at: '2099-01-01T00:00:00.000Z' }
  await store.create({ meta: { ...meta, created_at: first.at }, context: {}, ...times, event: bare(first), outbox: [] })
  const over = new Set(rest.flatMap(({ block_id, item }) => (item === undefined ? [] : [block_id])))
  for (const step of stepsOf(rest)) {
    const [lane = '', place] = (step[0]?.id ?? '').split('/')
    const at = Number(place)
    const end = step.find(({ type }) => isRunEnd(type))
    const done = await store.append({
      run,
      lane,
      ordinal: at,
      guard: { below: at },
      at: step[0]?.at ?? '',
      events: step.map(bare),
      ...itemsOf(step, lane, at, over),
      ...(end === undefined ? {} : { state: end.type.slice('run:'.length) as RunState }),
    })
    if (!done.ok) throw new Error(`append of ${step[0]?.id} refused: ${done.because}`)
  }
}

/** What the lanes of foreach items ask of an append. */
function itemsOf(
  step: readonly RunEvent[],
  lane: string,
  place: number,
  over: ReadonlySet<string | undefined>,
): Pick<Append, 'item_of' | 'open_items' | 'drop_items'> {
  const { block = -1, item } = laneOwner(lane) ?? {}
  if (item !== undefined) {
    const { epoch } = readOrdinal(place)
    return { item_of: { block, below: ordinal({ epoch, attempt: 1, phase: PHASE.completed }) } }
  }
  if (!over.has(step[0]?.block_id)) return {}
  const ends = step.some(({ type }) => type === 'block:completed' || type === 'block:failed')
  const opens = step.some((event) => event.type === 'block:started' && event.data.items !== undefined)
  return { ...(ends ? { drop_items: { block } } : {}), ...(opens ? { open_items: { block } } : {}) }
}

function bare({ seq: _seq, id: _id, run_id: _run, at: _at, ...event }: RunEvent): NewEvent {
  return event
}

function stepsOf(events: readonly RunEvent[]): readonly (readonly RunEvent[])[] {
  const steps: RunEvent[][] = []
  let open = ''
  for (const event of events) {
    const place = event.id.slice(0, event.id.lastIndexOf('/'))
    if (place === open) steps.at(-1)?.push(event)
    else steps.push([event])
    open = place
  }
  return steps
}
