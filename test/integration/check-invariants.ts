import { type RunEvent, RunEventSchema } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold.ts'
import { chainOf } from '../../shared/runs/hash-chain.ts'
import { isRunEnd } from '../../shared/runs/is-run-end.ts'
import { bounceProblems, passesOf } from './check-bounces.ts'
import { itemProblems } from './check-items.ts'
import { attemptProblems, moveProblems } from './check-lane.ts'
import type { PlannedBlock } from './random-runs.ts'

/** What is wrong with the log of an ended run, by the invariants of spec reliability; empty = nothing. */
export function brokenInvariants(
  events: readonly RunEvent[],
  blocks: readonly PlannedBlock[],
  fail_fast = false,
): readonly string[] {
  return [
    ...logProblems(events),
    ...bounceProblems(events, blocks, fail_fast),
    ...blocks.flatMap((block) => blockProblems(events, block)),
  ]
}

/** 1, 2, 4, 5: seqs, ids, the one terminal event. Every event is one its schema knows, and can be hashed. */
function logProblems(events: readonly RunEvent[]): readonly string[] {
  const wrong: string[] = []
  if (events.some(({ seq }, i) => seq !== i + 1)) wrong.push(`1: seqs are ${events.map(({ seq }) => seq).join(' ')}`)
  if (new Set(events.map(({ id }) => id)).size !== events.length) wrong.push('2: an event id twice')
  const ends = events.filter(({ type }) => isRunEnd(type)).length
  if (ends !== 1) wrong.push(`5: ${ends} terminal events`)
  if (!isRunEnd(events.at(-1)?.type ?? '')) wrong.push(`4: the last event is ${events.at(-1)?.type}`)
  for (const event of events) {
    const issue = RunEventSchema.safeParse(event).error?.issues[0]
    if (issue !== undefined) wrong.push(`event ${event.seq} ${event.type}: ${issue.path.join('.')} ${issue.message}`)
    if (Buffer.byteLength(JSON.stringify(event)) > 1_400) wrong.push(`20: event ${event.seq} ${event.type} is large`)
  }
  if (chainOf(events).length !== 64) wrong.push('no hash chain')
  if (foldRun(events).seq !== events.length) wrong.push('the fold did not reach the last event')
  return wrong
}

/** Each epoch of a block is a life of its own (decisions, "Bounces and epochs"). */
function blockProblems(events: readonly RunEvent[], block: PlannedBlock): readonly string[] {
  return [
    ...passesOf(events, block.id).flatMap((pass) => [
      ...moveProblems(pass, 'pending'),
      ...attemptProblems(pass, block.tries),
      ...gateProblems(pass, block),
      ...approvalProblems(pass, block),
    ]),
    ...startProblems(events, block),
    ...itemProblems(events, block),
  ].map((problem) => `${block.id}: ${problem}`)
}

/** 9, and that a block is skipped only for upstreams that ended otherwise than it needs them, or by its own condition. */
function startProblems(events: readonly RunEvent[], block: PlannedBlock): readonly string[] {
  return events.flatMap((event, i) => {
    if (event.block_id !== block.id || event.item !== undefined) return []
    // A skip must hold to the end: what it was for may have begun again since.
    const seen = event.type === 'block:skipped' && isLastOf(events, event) ? events : events.slice(0, i)
    return orderProblems(event, block, (other) => outcomeIn(passesOf(seen, other).at(-1) ?? []))
  })
}

/** Whether it is the end of the block in a run that `_settle` ended. */
function isLastOf(events: readonly RunEvent[], { block_id = '', seq }: RunEvent): boolean {
  const isSettled = ['run:completed', 'run:failed'].includes(events.at(-1)?.type ?? '')
  return isSettled && passesOf(events, block_id).at(-1)?.at(-1)?.seq === seq
}

type Outcomes = (id: string) => string | undefined

function orderProblems(event: RunEvent, block: PlannedBlock, outcomeOf: Outcomes): readonly string[] {
  const unmet = block.upstream.filter((id) => !isMet(block, id, outcomeOf))
  if (event.type === 'block:started' || event.type === 'approval:requested') {
    return unmet.length === 0 ? [] : [`9: ${event.type} (event ${event.seq}) before ${unmet.join(', ')} completed`]
  }
  if (event.type !== 'block:skipped') return []
  const { because, condition } = event.data
  const isRight = condition === 'when' ? block.when === true && unmet.length === 0 : isReason(event, block, outcomeOf)
  return isRight ? [] : [`skipped (event ${event.seq}) because of ${because.join(', ')} (${condition ?? 'upstream'})`]
}

function isMet({ mends = [] }: PlannedBlock, id: string, outcomeOf: Outcomes): boolean {
  const outcome = outcomeOf(id)
  return outcome === 'block:completed' || (outcome === 'block:failed' && mends.includes(id))
}

function isReason(
  { data }: Extract<RunEvent, { type: 'block:skipped' }>,
  block: PlannedBlock,
  outcomeOf: Outcomes,
): boolean {
  const { upstream, mends = [] } = block
  const unmet = upstream.filter((id) => !isMet(block, id, outcomeOf))
  const named = mends.filter((id) => outcomeOf(id) !== 'block:completed')
  const wanted = data.condition === 'depends' ? named : unmet.filter((id) => !mends.includes(id))
  const isSame = wanted.length === data.because.length && wanted.every((id) => data.because.includes(id))
  return isSame && unmet.length > 0 && upstream.every((id) => outcomeOf(id) !== undefined)
}

function outcomeIn(pass: readonly RunEvent[]): string | undefined {
  return pass.find(({ type }) => ['block:failed', 'block:skipped', 'block:completed'].includes(type))?.type
}

/** 11: every gate was judged in the attempt that completed, and passed. */
function gateProblems(mine: readonly RunEvent[], { gates }: PlannedBlock): readonly string[] {
  const done = mine.find(({ type }) => type === 'block:completed')
  if (done === undefined) return []
  const passed = mine.filter((event) => {
    return event.type === 'block:gate' && event.attempt === done.attempt && event.data.phase === 'post'
  })
  const failed = passed.filter((event) => event.type === 'block:gate' && event.data.status !== 'passed')
  if (failed.length > 0) return [`11: completed although ${failed.length} gates failed`]
  return passed.length === gates ? [] : [`11: completed with ${passed.length} verdicts of ${gates} gates`]
}

/** 13, 15: one answer, in time; nothing is dispatched without a consent. */
function approvalProblems(mine: readonly RunEvent[], { asks }: PlannedBlock): readonly string[] {
  const answers = mine.filter(({ type }) => type === 'approval:decided' || type === 'approval:expired')
  const asked = mine.find((event) => event.type === 'approval:requested')
  const [answer] = answers
  const late =
    answer?.type === 'approval:decided' && asked?.type === 'approval:requested' && answer.at > asked.data.expires_at
  const isDispatched = asks !== undefined && mine.some(({ type }) => type === 'block:output')
  return [
    ...(answers.length > 1 ? [`13: ${answers.length} answers to one question`] : []),
    ...(late ? ['13: decided after it expired'] : []),
    ...(isDispatched && !isConsent(answer) ? ['13: dispatched without consent'] : []),
  ]
}

function isConsent(answer: RunEvent | undefined): boolean {
  if (answer?.type === 'approval:decided') return answer.data.decision === 'approve'
  return answer?.type === 'approval:expired' && answer.data.on_timeout === 'approve'
}
