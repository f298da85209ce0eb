import { askNumber } from '../ask-id.ts'
import type { EventType, RunEvent } from '../event.ts'
import { eventPlace } from '../event-place.ts'
import type { BlockState } from '../run-items.ts'
import { invariant } from './invariant.ts'
import { nameOf, type Pass, passesOf } from './passes.ts'

/**
 * The states of a block, and those of an attempt a person is asked about: `asked`, `answered` (or so by items, which
 * share the question of their block), and `asked_twice` while its dispatch is asked about besides.
 */
type State = BlockState | 'asked' | 'answered' | 'asked_twice'
type Moves = Readonly<Partial<Record<State, State>>>

const CANCELLED: Moves = {
  pending: 'cancelled',
  ready: 'cancelled',
  running: 'cancelled',
  retrying: 'cancelled',
  paused_approval: 'cancelled',
  asked: 'cancelled',
  answered: 'cancelled',
  asked_twice: 'cancelled',
}

/** An attempt goes on from its answer as from its work. */
const WORKS: Moves = { running: 'running', answered: 'answered' }

/**
 * By the event that came and the state it found: the state it leads to. block:started of a
 * further try stands for retrying -> pending -> ready -> running. Events that are not here are of no block.
 */
const MOVES: Readonly<Partial<Record<EventType, Moves>>> = {
  'block:ready': { pending: 'ready' },
  'block:started': { ready: 'running', retrying: 'running' },
  'block:asked': { running: 'asked', answered: 'asked' },
  'block:resumed': { answered: 'running' },
  'budget:reserved': { running: 'running' },
  'budget:exceeded': WORKS,
  'block:output': { running: 'running' },
  'block:gate': WORKS,
  'block:retrying': { running: 'retrying', answered: 'retrying' },
  'block:completed': { running: 'completed', answered: 'completed' },
  'block:failed': { running: 'failed', answered: 'failed', ready: 'failed', retrying: 'failed' },
  'block:skipped': { pending: 'skipped' },
  'block:cancelled': CANCELLED,
  'approval:requested': { ready: 'paused_approval', retrying: 'paused_approval', answered: 'asked_twice' },
  'approval:decided': { paused_approval: 'ready', asked_twice: 'answered' },
  'approval:expired': { paused_approval: 'ready', asked_twice: 'answered' },
}

/** The same of a question in the middle of an attempt; while items of a block ask, the block itself is at work. */
const ASKS: Readonly<Partial<Record<EventType, Moves>>> = {
  'approval:requested': { asked: 'asked', running: 'running' },
  'approval:decided': { asked: 'answered', running: 'running' },
  'approval:expired': { asked: 'answered', running: 'running' },
}

const STAYS: ReadonlySet<string> = new Set(['paused_approval', 'asked', 'asked_twice', 'running'])

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
  let state: State = pass.item === undefined ? 'pending' : 'ready'
  for (const event of pass.events) {
    const next = nextState(state, event)
    if (next === undefined) wrong.push(`${nameOf(pass)}: event ${event.seq} ${event.type} in state ${state}`)
    state = next ?? state
    const { epoch } = eventPlace(event)
    if (epoch !== pass.epoch) wrong.push(`${nameOf(pass)}: event ${event.seq} of epoch ${epoch} in epoch ${pass.epoch}`)
  }
  return wrong
}

function nextState(state: State, event: RunEvent): State | undefined {
  const { type } = event
  if (type === 'approval:reminded' || type === 'approval:escalated' || isPartVote(event)) {
    return STAYS.has(state) ? state : undefined
  }
  if (isOfAsk(event)) return ASKS[type]?.[state]
  const next = MOVES[type]?.[state]
  // Its question and the answer stand with its block.
  return next === 'asked' && event.item !== undefined ? 'answered' : next
}

/** An approval that is not the last one a quorum waits for leaves the block where it is. */
function isPartVote(event: RunEvent): boolean {
  return event.type === 'approval:decided' && event.data.decision !== 'reject' && event.data.have < event.data.need
}

function isOfAsk(event: RunEvent): boolean {
  const isAnswer = event.type === 'approval:decided' || event.type === 'approval:expired'
  return (isAnswer || event.type === 'approval:requested') && askNumber(event.data.approval_id) !== undefined
}
