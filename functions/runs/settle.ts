import * as z from 'zod'
import { MachineSignal } from '../../shared/errors.ts'
import { type GoalEnding, goalEnding } from '../../shared/goals/goal-ending.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { blockEpoch, blockOutcome, type Head } from '../../shared/runs/head.ts'
import { readOrdinal } from '../../shared/runs/lane.ts'
import { samePause } from '../../shared/runs/pause.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { readEvaluation } from '../record/evaluation.ts'
import { MachineInputSchema, type Pinned, readPinned, toRunKey, unavailableIfMissing } from '../record/pinned-run.ts'
import { concludeResearch } from '../research/conclusion.ts'
import { endRun } from './end-run.ts'
import { makePivotRun } from './goal-pivot.ts'
import { restIfIdle } from './rest.ts'

const PAGE = 500

/**
 * `_settle`: gives the run its verdict from its lanes, once; a run that has ended already keeps what it has. One that is
 * judged by more than its blocks is sent to `_decide_completion` first, and then ends as that says.
 */
export const handler = functionHandler({
  name: 'settle',
  input: z.strictObject({ in: MachineInputSchema, holds: z.literal(true).optional() }),
  async run({ in: input, holds }, world) {
    const run = toRunKey(input)
    // The blocks have read it: failing for it now, the execution would contradict what another call gives as verdict.
    const pinned = await readPinned(world, run).catch(unavailableIfMissing(`the document of run "${run.run_id}"`))
    const head = await world.runs.head(run)
    if (head === undefined || head.state !== 'running') return { end: head?.state ?? 'failed' }
    // It would end, and others would begin by that.
    if (head.paused !== undefined && holds === true) {
      await restIfIdle(world, { ...pinned, run })
      throw waitForResume()
    }
    const isResearch = pinned.meta.kind === 'research'
    const ended = isResearch ? await concludeResearch(world, pinned.meta) : await verdictOf(world, run, pinned, head)
    const isJudged = pinned.meta.goal !== undefined && ended.state === 'completed'
    const verdict = isJudged ? await judgedVerdict(world, run, pinned, ended.reason) : ended
    if (verdict === undefined) return { end: 'decide' }
    const isEnded = await endUnlessPaused(world, run, { ...verdict, stop: false }, holds === true ? head : undefined)
    return isEnded
      ? { end: verdict.state, code: verdict.code }
      : { end: (await world.runs.head(run, []))?.state ?? 'failed' }
  },
})

/** `seen`: HEAD as it was read, of a machine that can wait. */
async function endUnlessPaused(
  world: Parameters<typeof endRun>[0],
  run: RunKey,
  ending: Parameters<typeof endRun>[2],
  seen: Head | undefined,
): Promise<boolean> {
  const done = await endRun(world, run, seen === undefined ? ending : { ...ending, while: samePause(seen) })
  // Paused in between, or let go on: `_hold` sees which.
  if (!done.ok && done.because === 'already' && seen !== undefined) throw waitForResume()
  return done.ok
}

/** `_hold` waits until the run goes on, and comes back. */
function waitForResume(): MachineSignal {
  return new MachineSignal('AskPerson', { s: 0 })
}

/** What counts is how each block ended in its newest epoch: a failure that was mended by a bounce is none. */
async function verdictOf(world: Pick<World, 'runs'>, run: RunKey, pinned: Pinned, head: Head) {
  const { blocks } = pinned.dag
  const outcomes = new Map(blocks.map(({ id }) => [id, blockOutcome(pinned, head, id)]))
  const withOutcome = (outcome: string | undefined) => blocks.filter(({ id }) => outcomes.get(id) === outcome)
  const [unfinished] = withOutcome(undefined)
  if (unfinished !== undefined) {
    const reason = `Block "${unfinished.id}" has no outcome, though its machine came to its end`
    return { state: 'failed', code: 'unfinished_block', reason, block_id: unfinished.id } as const
  }
  const failed = [...withOutcome('failed'), ...withOutcome('cancelled')]
  if (failed.length === 0) {
    return {
      state: 'completed',
      code: 'completed',
      reason: completedWords(blocks.length, withOutcome('skipped').length),
    } as const
  }
  const first = await firstFailure(world, run, pinned, head, new Set(failed.map(({ id }) => id)))
  const block_id = first?.block_id ?? ''
  if (first?.type === 'block:cancelled') {
    return {
      state: 'failed',
      code: 'block_cancelled',
      reason: `Block "${block_id}" was ${first.data.reason}`,
      block_id,
    } as const
  }
  const reason = `Block "${block_id}" failed: ${first?.data.reason}`
  return { state: 'failed', code: first?.data.code ?? 'block_failed', reason, block_id } as const
}

function completedWords(blocks: number, skipped: number): string {
  if (skipped === 0) return blocks === 1 ? 'its one block completed' : `all ${blocks} blocks completed`
  const were = skipped === 1 ? '1 was' : `${skipped} were`
  return `${blocks - skipped} of ${blocks} blocks completed, ${were} skipped by conditions`
}

type Failed = Extract<RunEvent, { type: 'block:failed' | 'block:cancelled' }>

/** The run names its first failure in event order, of those that stand; a block somebody stopped is one. */
async function firstFailure(
  world: Pick<World, 'runs'>,
  run: RunKey,
  pinned: Pinned,
  head: Head,
  failed: ReadonlySet<string>,
): Promise<Failed | undefined> {
  const stands = ({ id, block_id = '' }: RunEvent) => {
    const [lane, position] = id.split('/')
    if (!failed.has(block_id) || lane !== String(pinned.index.get(block_id))) return false
    return readOrdinal(Number(position)).epoch === blockEpoch(pinned, head, block_id)
  }
  for (let since = 0; ; ) {
    const events = await world.runs.events(run, since, PAGE)
    const found = events.find((event): event is Failed => isFailure(event) && stands(event))
    const last = events.at(-1)
    if (found !== undefined || last === undefined) return found
    since = last.seq
  }
}

function isFailure({ type }: RunEvent): boolean {
  return type === 'block:failed' || type === 'block:cancelled'
}

/**
 * The verdict that the evaluation of a run gives it, whose blocks ended well (`words` say how); undefined = there is
 * none yet. A run that goes on by itself names the run that does.
 */
async function judgedVerdict(
  world: Pick<World, 'runs' | 'objects' | 'clock' | 'settings' | 'steps'>,
  run: RunKey,
  pinned: Pinned,
  words: string,
): Promise<(GoalEnding & { readonly next_run?: string }) | undefined> {
  const found = await readEvaluation(world, run)
  if (found === undefined) return undefined
  const ending = goalEnding(found.evaluation.completion, words)
  const next_run = await makePivotRun(world, run, pinned, found.evaluation)
  return { ...ending, reason: shortRedacted(ending.reason), ...(next_run === undefined ? {} : { next_run }) }
}
