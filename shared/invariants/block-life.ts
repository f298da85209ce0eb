import type { Block, Foreach } from '../dag/dag.ts'
import { beginsItems, fanOuts, type Pass, passEnd, passesOf, passName } from '../runs/block-passes.ts'
import type { EventType, RunEvent } from '../runs/event.ts'
import { questionNumber } from '../runs/ids.ts'
import type { Outcome } from '../runs/lane.ts'
import { eventPosition } from '../runs/run-fold.ts'
import type { BlockState } from '../runs/run-store-items.ts'
import { upstreamSkipReason } from '../runs/skip-rules.ts'
import { defineInvariant } from './invariant.ts'
import { judgedBlock } from './judged-block.ts'

/**
 * The states of a block, and those of an attempt a person is asked about: `asked`, `answered` (or so by items, which
 * share the question of their block), and `asked_twice` while its dispatch is asked about besides.
 */
type State = BlockState | 'asked' | 'answered' | 'asked_twice' | 'waiting'
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
  waiting: 'cancelled',
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
  'block:waiting': { running: 'waiting' },
  'block:match_failed': { waiting: 'waiting' },
  'block:woken': { waiting: 'running' },
  'budget:reserved': { running: 'running' },
  'budget:exceeded': WORKS,
  'step:started': { running: 'running' },
  'step:progress': { running: 'running' },
  'block:output': { running: 'running' },
  'block:gate': WORKS,
  'block:retrying': { running: 'retrying', answered: 'retrying' },
  'block:completed': { running: 'completed', answered: 'completed' },
  'block:failed': { running: 'failed', answered: 'failed', ready: 'failed', retrying: 'failed', waiting: 'failed' },
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

export const blockMoves = defineInvariant({
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
    if (next === undefined) wrong.push(`${passName(pass)}: event ${event.seq} ${event.type} in state ${state}`)
    state = next ?? state
    const { epoch } = eventPosition(event)
    if (epoch !== pass.epoch)
      wrong.push(`${passName(pass)}: event ${event.seq} of epoch ${epoch} in epoch ${pass.epoch}`)
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
  return (isAnswer || event.type === 'approval:requested') && questionNumber(event.data.approval_id) !== undefined
}

type Outcomes = Map<string, Outcome>
type Skipped = Extract<RunEvent, { readonly type: 'block:skipped' }>

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  'block:completed': 'completed',
  'block:failed': 'failed',
  'block:skipped': 'skipped',
  'block:cancelled': 'cancelled',
}

export const starts = defineInvariant({
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
    if (!endedByItself(events)) return wrong
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
  const skip = upstreamSkipReason(block, (id) => outcomes.get(id))
  return skip === undefined
    ? []
    : [`block "${block.id}": event ${seq} ${type} though ${skip.because.join(', ')} did not`]
}

/** Whether a later bounce takes it back, or nobody came to settle the run: then it is judged by what was known. */
function isSuperseded(events: readonly RunEvent[], { block_id = '', seq }: Skipped): boolean {
  if (!endedByItself(events)) return true
  return events.slice(seq).some((event) => event.type === 'block:rerouted' && event.data.reset.includes(block_id))
}

function endedByItself(events: readonly RunEvent[]): boolean {
  return ['run:completed', 'run:failed'].includes(events.at(-1)?.type ?? '')
}

function skipProblems({ seq, data }: Skipped, block: Block | undefined, outcomes: Outcomes): readonly string[] {
  if (block === undefined) return []
  const open = block.upstream.filter((id) => !outcomes.has(id))
  if (open.length > 0) return [`block "${block.id}": event ${seq} block:skipped before ${open.join(', ')} ended`]
  const due = upstreamSkipReason(block, (id) => outcomes.get(id))
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

/** What the safety policy can allow at the most (shared/settings/settings.ts). */
const HIGHEST_CAP = 100

export const attempts = defineInvariant({
  n: 10,
  title: "attempts are numbered 1, 2, .. and end at the cap; only lost ones come on top of a block's own",
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag, max_attempts = HIGHEST_CAP }) {
    const blocks = new Map(dag.blocks.map((block) => [block.id, block]))
    const tries = (pass: Pass) => {
      const block = blocks.get(pass.block_id)
      return block === undefined ? 1 : Math.max(1, judgedBlock(pass, block).retry.max_attempts)
    }
    return passesOf(events).flatMap((pass) => [
      ...numberProblems(pass),
      ...lossProblems(pass, max_attempts),
      ...tryProblems(pass, Math.min(tries(pass), max_attempts)),
    ])
  },
})

/** Not the block's own tries: lost with its function, or given up since a person changed its inputs. */
const ON_TOP: ReadonlySet<string> = new Set(['ATTEMPT_LOST', 'inputs_edited'])

function numberProblems(pass: Pass): readonly string[] {
  const numbers = pass.events.flatMap(({ type, attempt }) => (type === 'block:started' ? [attempt] : []))
  if (numbers.every((attempt, i) => attempt === i + 1)) return []
  return [`${passName(pass)}: attempts are numbered ${numbers.join(' ')}`]
}

/** As many may be lost as may be tried. */
function lossProblems(pass: Pass, cap: number): readonly string[] {
  const lost = pass.events.filter((event) => 'code' in event.data && event.data.code === 'ATTEMPT_LOST').length
  return lost > cap ? [`${passName(pass)}: ${lost} attempts were lost, at most ${cap} may be`] : []
}

function tryProblems(pass: Pass, tries: number): readonly string[] {
  const again = pass.events.filter((event) => event.type === 'block:retrying')
  const counted = again.filter(({ data }) => !ON_TOP.has(data.code))
  const last = counted[tries - 1]
  if (last === undefined) return []
  return [`${passName(pass)}: event ${last.seq}: tried again after try ${tries} of ${tries}`]
}

const BLOCK_ENDS: ReadonlySet<string> = new Set(['block:completed', 'block:failed', 'block:cancelled', 'block:skipped'])

export const blockEnds = defineInvariant({
  n: 7,
  title:
    'a block ends once an epoch, an attempt only after it started; an item lives within its block, and begins while that may succeed',
  of: 'log',
  needs: ['events'],
  check({ events, dag }) {
    const passes = passesOf(events)
    const lists = fanOuts(dag?.blocks ?? [])
    const blocks = new Map(passes.filter(({ item }) => item === undefined).map((pass) => [keyOf(pass), pass]))
    return passes.flatMap((pass) => {
      const wrong = [...endProblems(pass), ...unstartedProblems(pass)]
      if (pass.item !== undefined) return [...wrong, ...spanProblems(pass, blocks.get(keyOf(pass)))]
      const foreach = lists.get(pass.block_id)
      return foreach === undefined ? wrong : [...wrong, ...itemEndProblems(pass, passes, foreach)]
    })
  },
})

function keyOf({ block_id, epoch }: Pass): string {
  return `${epoch}/${block_id}`
}

function endProblems(pass: Pass): readonly string[] {
  const ends = pass.events.filter(({ type }) => BLOCK_ENDS.has(type))
  if (ends.length < 2) return []
  return [`${passName(pass)} ended ${ends.length} times in epoch ${pass.epoch}: events ${seqsOf(ends)}`]
}

const OF_ATTEMPT: ReadonlySet<string> = new Set([
  'block:completed',
  'block:output',
  'block:retrying',
  'block:asked',
  'block:resumed',
])

/** A failure without an attempt is a refusal; any other end of an attempt needs its start. */
function unstartedProblems(pass: Pass): readonly string[] {
  const begun = new Set<number | undefined>()
  return pass.events.flatMap(({ type, seq, attempt }) => {
    if (type === 'block:started') begun.add(attempt)
    const isOfAttempt = OF_ATTEMPT.has(type)
    const isWrong = (isOfAttempt || (type === 'block:failed' && attempt !== undefined)) && !begun.has(attempt)
    return isWrong ? [`${passName(pass)}: event ${seq} ${type} of attempt ${attempt}, which had not started`] : []
  })
}

/** Nothing of an item before its block began or after it ended. */
function spanProblems(pass: Pass, block: Pass | undefined): readonly string[] {
  const from = block?.events.find(({ type }) => type === 'block:started')?.seq ?? Number.POSITIVE_INFINITY
  const to = (block && passEnd(block)?.seq) ?? Number.POSITIVE_INFINITY
  const outside = pass.events.filter(({ seq }) => seq < from || seq > to)
  return outside.length === 0 ? [] : [`${passName(pass)}: events ${seqsOf(outside)} outside of its block's life`]
}

function seqsOf(events: readonly RunEvent[]): string {
  return events.map(({ seq }) => seq).join(', ')
}

/**
 * A foreach block completes when all its items have ended, and fails by them only past what it tolerates; from there on no
 * item begins, and none is tried again.
 */
function itemEndProblems(pass: Pass, passes: readonly Pass[], foreach: Lenience): readonly string[] {
  const { tolerate } = foreach
  const begun = pass.events.findLast((event) => beginsItems(event) && event.data.items !== undefined)
  const end = passEnd(pass)
  const items = passes.filter(({ block_id, item, epoch }) => {
    return block_id === pass.block_id && item !== undefined && epoch === pass.epoch
  })
  const late = lateProblems(pass, items, foreach)
  const failed = items.filter(isFailed).length
  if (end?.type === 'block:failed' && end.data.code === 'items_failed' && failed <= tolerate) {
    return [...late, `${passName(pass)}: failed though ${failed} of ${tolerate} tolerated items did (event ${end.seq})`]
  }
  if (end?.type !== 'block:completed' || isTaken(end)) return late
  const count = begun !== undefined && beginsItems(begun) ? (begun.data.items?.count ?? 0) : 0
  const ended = items.filter((item) => passEnd(item) !== undefined).length
  if (ended === count && failed <= tolerate) return late
  return [
    ...late,
    `${passName(pass)}: completed with ${ended} of ${count} items ended, ${failed} failed (event ${end.seq})`,
  ]
}

type Lenience = Pick<Foreach, 'tolerate' | 'fail_fast'>

function isFailed(item: Pass): boolean {
  return passEnd(item)?.type === 'block:failed'
}

/** The store counts in the update that claims, so this holds to the event. */
function lateProblems(pass: Pass, items: readonly Pass[], { tolerate, fail_fast }: Lenience): readonly string[] {
  if (fail_fast !== true) return []
  const failures = items.filter(isFailed).flatMap((item) => passEnd(item)?.seq ?? [])
  const last = failures.toSorted((a, b) => a - b)[tolerate]
  if (last === undefined) return []
  const late = items.flatMap(({ events }) => events.filter((event) => beginsItems(event) && event.seq > last))
  const seqs = late.map(({ seq }) => seq).join(', ')
  return late.length === 0
    ? []
    : [`${passName(pass)}: items begin (events ${seqs}) after too many failed (event ${last})`]
}

/** A kept result stands in for the items. */
function isTaken(end: RunEvent): boolean {
  return end.type === 'block:completed' && end.data.cached_from !== undefined
}
