import type { RunEvent } from '../runs/event.ts'
import { foldRun } from '../runs/fold-run.ts'
import type { Head } from '../runs/head.ts'
import { laneKey, laneOwner, readOrdinal } from '../runs/lane.ts'
import type { RunFold } from '../runs/run-fold.ts'
import type { BlockProjection, BlockState } from '../runs/run-store-items.ts'
import { canonicalJson } from '../text/json.ts'
import { defineInvariant } from './invariant.ts'

export const headOfEvents = defineInvariant({
  n: 23,
  title: 'what is stored of the run is the fold of its events, and so is every answer about it',
  of: 'store',
  needs: ['events', 'head'],
  check({ events, head, dag }) {
    const fold = foldRun(events)
    const ids = dag?.blocks.map(({ id }) => id)
    return [
      ...(fold.state === head.state ? [] : [`HEAD says ${head.state}, the fold ${fold.state}`]),
      ...laneProblems(events, head),
      ...approvalProblems(fold, head),
      ...moduleProblems(events, head),
      ...(ids === undefined ? [] : runningProblems(fold, head, ids)),
    ]
  },
})

/** Each lane stands where its newest event says; those of items leave with the end of their block. */
function laneProblems(events: readonly RunEvent[], { lanes }: Head): readonly string[] {
  const newest = new Map<string, number>()
  for (const { id } of events) {
    const [lane = '', ordinal] = id.split('/')
    newest.set(lane, Math.max(newest.get(lane) ?? 0, Number(ordinal)))
  }
  const wrong = [...newest].flatMap(([lane, ordinal]) => {
    const stands = lanes[lane]
    if (stands === ordinal || (stands === undefined && laneOwner(lane)?.item !== undefined)) return []
    return [`lane ${lane} is at ${stands ?? 'nothing'}, its events are at ${ordinal}`]
  })
  return [...wrong, ...Object.keys(lanes).flatMap((lane) => (newest.has(lane) ? [] : [`lane ${lane} has no event`]))]
}

/** The end of a run leaves a pending question as it is: the fold tells that it was cancelled with it. */
function approvalProblems(fold: RunFold, { approvals }: Head): readonly string[] {
  const ids = new Set([...Object.keys(fold.approvals), ...Object.keys(approvals)])
  return [...ids].flatMap((id) => {
    const told = fold.approvals[id]?.status
    const status = approvals[id]?.status
    if (status === told || (told === 'cancelled' && status === 'pending')) return []
    return [`approval ${id} is ${status ?? 'not there'}, the fold says ${told ?? 'nothing of it'}`]
  })
}

function moduleProblems(events: readonly RunEvent[], { modules }: Head): readonly string[] {
  const epochs = new Map<string, number>()
  for (const event of events) {
    if (event.type === 'block:rerouted') epochs.set(event.id.split('/')[0]?.slice(1) ?? '', event.data.epoch)
  }
  const keys = new Set([...epochs.keys(), ...Object.keys(modules)])
  return [...keys].flatMap((key) => {
    const [stored, told] = [modules[key]?.epoch ?? 0, epochs.get(key) ?? 0]
    return stored === told ? [] : [`bounce module ${key} is in epoch ${stored}, its events in ${told}`]
  })
}

/** Who holds a place among the running does run. A run that has ended has none to give. */
function runningProblems(fold: RunFold, head: Head, ids: readonly string[]): readonly string[] {
  if (head.state !== 'running') return []
  return head.running.flatMap((lane) => {
    const { block, item } = laneOwner(lane) ?? { block: -1 }
    const known = fold.blocks[ids[block] ?? '']
    const state = item === undefined ? known?.state : known?.items?.[item]?.state
    return state === 'running' ? [] : [`lane ${lane} counts as running, its events say ${state ?? 'nothing'}`]
  })
}

export const projections = defineInvariant({
  n: 22,
  title: 'every projection is what the events of its lane say up to it',
  of: 'store',
  needs: ['events', 'projections'],
  check({ events, projections: stored }) {
    const lanes = Map.groupBy(events, ({ id }) => id.split('/')[0] ?? '')
    return stored.flatMap((one) => {
      const lane = laneKey(one)
      return problemsOf(one, lanes.get(lane) ?? []).map((problem) => `the projection of lane ${lane} ${problem}`)
    })
  },
})

const STATES: Readonly<Record<string, BlockState>> = {
  'block:started': 'running',
  'block:asked': 'paused_approval',
  'block:resumed': 'running',
  'block:retrying': 'retrying',
  'block:completed': 'completed',
  'block:failed': 'failed',
  'block:skipped': 'skipped',
  'block:cancelled': 'cancelled',
}

function problemsOf(one: BlockProjection, lane: readonly RunEvent[]): readonly string[] {
  const { epoch, attempt } = readOrdinal(one.ordinal)
  const told = lane.filter(({ id }) => ordinalOf(id) <= one.ordinal && readOrdinal(ordinalOf(id)).epoch === epoch)
  if (!told.some(({ id }) => ordinalOf(id) === one.ordinal)) return [`is of a step (${one.ordinal}) no event tells of`]
  const last = told.findLast(({ type }) => STATES[type] !== undefined)
  const state = STATES[last?.type ?? ''] ?? 'ready'
  const wrong: string[] = []
  if (one.state !== state) wrong.push(`says ${one.state}, the events say ${state}`)
  if (one.attempt !== attempt) wrong.push(`says attempt ${one.attempt}, the events say ${attempt}`)
  if (state === 'completed' && !isSame(one.outputs, outputsOf(told, attempt)))
    wrong.push('has other outputs than were recorded')
  return wrong
}

function ordinalOf(id: string): number {
  return Number(id.split('/')[1])
}

function outputsOf(events: readonly RunEvent[], attempt: number) {
  const output = events.findLast((event) => event.type === 'block:output' && event.attempt === attempt)
  return output?.type === 'block:output' ? output.data.outputs : undefined
}

function isSame(a: BlockProjection['outputs'], b: BlockProjection['outputs']): boolean {
  return canonicalJson(a ?? {}) === canonicalJson(b ?? {})
}
