import { PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { PAUSE_LANE, pausesSoFar, pauseWait } from '../../shared/runs/pause.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { restIfIdle } from '../runs/rest.ts'
import { type BlockCall, isStale } from './block-call.ts'
import { askPerson, retryBlock } from './block-report.ts'

/**
 * Whether what a state asks for has to wait until its run goes on after a pause: all that would begin something, or tell
 * what follows from it. What was begun is finished; a wait is nobody's work.
 */
export function isHeld(call: BlockCall, phase?: string): boolean {
  const { head, lane, block } = call
  if (head.state !== 'running' || head.paused === undefined || isStale(call)) return false
  const place = readOrdinal(lane ?? 0)
  if (place.outcome !== undefined) return false
  const isInFlight = lane !== undefined && place.phase >= PHASE.claimed && place.phase < PHASE.retrying
  return !(phase === 'close' && isInFlight && block.mode !== 'wait')
}

const LONGEST_SEC = 900

/**
 * Its state waits without anybody at work: `_hold_<id>` or `_ask_<id>` leaves its task token until the run goes on
 * (docs/adr/0104). A machine of before pauses comes back by itself, ever less often.
 */
export async function holdBlock(call: BlockCall, holds: boolean): Promise<never> {
  const { world, head } = call
  await restIfIdle(world, call)
  if (holds) throw askPerson(call, call.block.id)
  const stood = world.clock.now() - Date.parse(head.paused?.since ?? '')
  throw retryBlock(call, Math.min(LONGEST_SEC, 5 + Math.floor(Math.max(0, stood) / 4_000)))
}

/**
 * Whether the token waits now until the run goes on: token first, then HEAD; who lets it go on writes HEAD first, then reads
 * the tokens.
 */
export async function awaitResume({ runs, waits }: Pick<World, 'runs' | 'waits'>, run: RunKey, token: string) {
  const head = await runs.head(run, [PAUSE_LANE])
  if (head?.state !== 'running' || head.paused === undefined) return false
  const n = pausesSoFar(head)
  await waits.addToken(run, pauseWait(n), token)
  const now = await runs.head(run, [PAUSE_LANE])
  return now?.state === 'running' && now.paused !== undefined && pausesSoFar(now) === n
}
