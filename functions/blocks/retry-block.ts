import { MachineSignal } from '../../shared/errors.ts'
import type { BlockCall } from './block-call.ts'
import type { PreparedAttempt } from './prepare-attempt.ts'

/** The machine comes back after `s` seconds, in the same epoch of its bounce module. */
export function retryBlock({ e }: { readonly e?: number | undefined }, s = 0): MachineSignal {
  return new MachineSignal('RetryBlock', e === undefined ? { s } : { s, e })
}

/**
 * A block nobody has decided on goes back to be asked about, unless it is over before its dispatch: it fails as it is, or
 * an earlier result, approved then, stands in for its work.
 */
export function requireEnd(call: BlockCall, { failure, taken }: Pick<PreparedAttempt, 'failure' | 'taken'>): void {
  if (failure === undefined && taken === undefined) throw retryBlock(call)
}
