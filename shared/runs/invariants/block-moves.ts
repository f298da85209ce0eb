import type { EventType, RunEvent } from '../event.ts'
import { eventPlace } from '../event-place.ts'
import type { BlockState } from '../run-items.ts'
import { invariant } from './invariant.ts'
import { nameOf, type Pass, passesOf } from './passes.ts'

type Moves = Readonly<Partial<Record<BlockState, BlockState>>>

const CANCELLED: Moves = {
  pending: 'cancelled',
  ready: 'cancelled',
  running: 'cancelled',
  retrying: 'cancelled',
  paused_approval: 'cancelled',
}

/**
 * By the event that came and the state it found: the state it leads to (spec dag, "Block states"). block:started of a
 * further try stands for retrying -> pending -> ready -> running. Events that are not here are of no block.
 */
const MOVES: Readonly<Partial<Record<EventType, Moves>>> = {
  'block:ready': { pending: 'ready' },
  'block:started': { ready: 'running', retrying: 'running' },
  'budget:reserved': { running: 'running' },
  'budget:exceeded': { running: 'running' },
  'block:output': { running: 'running' },
  'block:gate': { running: 'running' },
  'block:retrying': { running: 'retrying' },
  'block:completed': { running: 'completed' },
  'block:failed': { running: 'failed', ready: 'failed', retrying: 'failed' },
  'block:skipped': { pending: 'skipped' },
  'block:cancelled': CANCELLED,
  'approval:requested': { ready: 'paused_approval', retrying: 'paused_approval' },
  'approval:reminded': { paused_approval: 'paused_approval' },
  'approval:escalated': { paused_approval: 'paused_approval' },
  'approval:decided': { paused_approval: 'ready' },
  'approval:expired': { paused_approval: 'ready' },
}

export const blockMoves = invariant({
  n: 8,
  title: 'every block moves as the diagram of block states allows',
  of: 'log',
  needs: ['events'],
  check: ({ events }) => passesOf(events).flatMap(moveProblems),
})

function moveProblems(pass: Pass): readonly string[] {
  const wrong: string[] = []
  // The items of a foreach block begin with it: they need no event of their own to be ready.
  let state: BlockState = pass.item === undefined ? 'pending' : 'ready'
  for (const event of pass.events) {
    const next: BlockState | undefined = isPartVote(event) ? state : MOVES[event.type]?.[state]
    if (next === undefined) wrong.push(`${nameOf(pass)}: event ${event.seq} ${event.type} in state ${state}`)
    state = next ?? state
    const { epoch } = eventPlace(event)
    if (epoch !== pass.epoch) wrong.push(`${nameOf(pass)}: event ${event.seq} of epoch ${epoch} in epoch ${pass.epoch}`)
  }
  return wrong
}

/** An approval that is not the last one a quorum waits for leaves the block where it is. */
function isPartVote(event: RunEvent): boolean {
  return event.type === 'approval:decided' && event.data.decision === 'approve' && event.data.have < event.data.need
}
