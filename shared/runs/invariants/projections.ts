import { canonicalJson } from '../../canonical.ts'
import type { RunEvent } from '../event.ts'
import { laneKey } from '../lane-key.ts'
import { readOrdinal } from '../ordinal.ts'
import type { BlockProjection, BlockState } from '../run-items.ts'
import { invariant } from './invariant.ts'

export const projections = invariant({
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
