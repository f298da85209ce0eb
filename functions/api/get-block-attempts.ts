import type { BlockAttempt } from '../../shared/api/get-block.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { attemptEvents, viewAttempt } from '../../shared/runs/attempt-view.ts'
import type { RunFold } from '../../shared/runs/run-fold.ts'
import { attemptCalls } from './get-block-calls.ts'
import { attemptInputs, type InputSources } from './get-block-inputs.ts'

/** Attempts in one answer. */
const MOST = 50

/**
 * Of all texts and values in one answer, in characters: a function answers at most 6 MB, and a character may take six
 * bytes. The newest attempts come first; where the room ends values are told by their hashes, texts are cut.
 */
const ROOM = 900_000

/** The attempts of a block, or of one item of it, that one answer has room for. */
export async function viewAttempts(
  sources: InputSources,
  block: Block,
  item: number | undefined,
  fold: RunFold,
): Promise<{ readonly attempts: readonly BlockAttempt[]; readonly attempts_cut: boolean }> {
  const parts = { ...sources, read: once(sources.read) }
  const steps = fold.steps.filter((step) => step.block_id === block.id && step.item === item)
  const room = { left: ROOM }
  const attempts: BlockAttempt[] = []
  for (const step of steps.slice(-MOST).toReversed()) {
    const own = attemptEvents(parts.events, step)
    const calls = await attemptCalls(parts.read, own, room)
    const inputs = await attemptInputs(parts, block, step, own, room)
    attempts.unshift({ ...viewAttempt(step, own, fold), ...inputs, ...calls })
  }
  return { attempts, attempts_cut: steps.length > MOST }
}

/** Attempts share most of what they were given. */
function once(read: InputSources['read']): InputSources['read'] {
  const known = new Map<string, ReturnType<typeof read>>()
  return (ref) => {
    const found = known.get(ref) ?? read(ref)
    known.set(ref, found)
    return found
  }
}
