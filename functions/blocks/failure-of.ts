import { Fault } from '../../shared/errors.ts'
import type { BlockCall } from './block-call.ts'
import type { Failure } from './end-attempt.ts'
import { shortText } from './short-text.ts'

/** A provider that asks for more than an hour is asked again after one. */
const LONGEST_WAIT_MS = 3_600_000

/** A fault as the failure it is recorded as; what we did not foresee is named without its internals. */
export function failureOf({ world, block }: Pick<BlockCall, 'world' | 'block'>, error: unknown): Failure {
  if (error instanceof Fault) {
    const wait = error.facts.retry_after_ms
    const after = typeof wait === 'number' && wait > 0 ? { retry_after_ms: Math.min(wait, LONGEST_WAIT_MS) } : {}
    const retry = error.name === 'Unavailable'
    return { code: error.code, reason: shortText(error.message), retry, feedback: [], ...after }
  }
  world.log.error('block failed unexpectedly', { block_id: block.id, error: String(error) })
  return { code: 'unexpected', reason: 'an unexpected error in the block; the log has it', retry: false, feedback: [] }
}
