import { type Json, sha256 } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import type { BegunItems } from './begun-items.ts'
import type { BlockCall, BlockInputs } from './block-call.ts'
import type { AttemptEnd, Failure } from './end-attempt.ts'
import { failureOf } from './failure-of.ts'
import { judgeProduced } from './judge-produced.ts'
import type { Produced } from './produced.ts'
import { type ItemEnd, readItems } from './read-items.ts'
import { readValues } from './read-outputs.ts'
import { shortText } from './short-text.ts'

/** How a foreach block ended whose items have: too many failures, else its lists against its post-gates. */
export async function judgeItems(
  call: BlockCall,
  begun: BegunItems,
  inputs: BlockInputs['values'],
): Promise<AttemptEnd> {
  const { attempt } = begun
  try {
    const ends = await readItems(call, begun)
    const failure = itemsFailed(call, ends)
    if (failure !== undefined) return { attempt, verdicts: [], gate_events: [], failure }
    const latency_ms = Math.max(0, call.world.clock.now() - Date.parse(begun.since))
    const end = await judgeProduced(call, attempt, inputs, await listsOf(call, ends), latency_ms)
    // Another try would run no item again: what failed here stays so.
    return end.failure === undefined ? end : { ...end, failure: { ...end.failure, retry: false } }
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return { attempt, verdicts: [], gate_events: [], failure: { ...failureOf(call, error), retry: false } }
  }
}

/** Items whose failure the reason names. */
const NAMED = 5

function itemsFailed({ block }: BlockCall, ends: readonly ItemEnd[]): Failure | undefined {
  const failed = ends.filter(({ outcome }) => outcome !== 'completed')
  const tolerate = block.foreach?.tolerate ?? 0
  if (failed.length <= tolerate) return undefined
  const named = failed.slice(0, NAMED).map(({ item, why }) => `item ${item}: ${why}`)
  const more = failed.length > NAMED ? `; and ${failed.length - NAMED} more` : ''
  const reason = `${failed.length} of ${ends.length} items failed, tolerated are ${tolerate}: ${named.join('; ')}${more}`
  return {
    code: 'items_failed',
    reason: shortText(reason),
    retry: false,
    feedback: named.map((line) => shortText(line)),
  }
}

/** How many items' outputs are read at once. */
const READ_AT_ONCE = 40

/** Each output as a list in item order: null where a failed item is tolerated, or one gave nothing for a port. */
async function listsOf({ world, run, block }: BlockCall, ends: readonly ItemEnd[]): Promise<Produced> {
  const made: Readonly<Record<string, Json>>[] = []
  for (let i = 0; i < ends.length; i += READ_AT_ONCE) {
    const some = ends.slice(i, i + READ_AT_ONCE)
    made.push(...(await Promise.all(some.map(({ outputs }) => readValues(world, run.tenant, outputs)))))
  }
  const ports = Object.keys(block.outputs)
  const values = Object.fromEntries(ports.map((port) => [port, made.map((outputs) => outputs[port] ?? null)]))
  return { values, problems: [], facts: factsOf(ends) }
}

/** The items' own events hold what they cost. */
function factsOf(ends: readonly ItemEnd[]): Produced['facts'] {
  const failed = ends.filter(({ outcome }) => outcome !== 'completed').length
  const hash = sha256('')
  return {
    provider: 'foreach',
    model: 'items',
    params_hash: hash,
    prompt_hash: hash,
    tokens_in: 0,
    tokens_out: 0,
    finish_reason: 'stop',
    note: `${ends.length} items${failed === 0 ? '' : `, ${failed} failed`}`,
  }
}
