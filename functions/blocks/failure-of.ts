import { Fault } from '../../shared/errors.ts'
import type { BlockCall } from './block-call.ts'
import type { Failure } from './end-attempt.ts'

/** A fault as the failure it is recorded as; what we did not foresee is named without its internals. */
export function failureOf({ world, block }: Pick<BlockCall, 'world' | 'block'>, error: unknown): Failure {
  if (error instanceof Fault) {
    const wait = error.facts.retry_after_ms
    const after = typeof wait === 'number' ? { retry_after_ms: wait } : {}
    const retry = error.name === 'Unavailable'
    return { code: error.code, reason: error.message.slice(0, 600), retry, feedback: [], ...after }
  }
  world.log.error('block failed unexpectedly', { block_id: block.id, error: String(error) })
  return { code: 'unexpected', reason: 'an unexpected error in the block; the log has it', retry: false, feedback: [] }
}
