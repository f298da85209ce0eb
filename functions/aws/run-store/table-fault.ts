import { Fault } from '../../../shared/errors.ts'
import { sdkFault } from '../sdk-fault.ts'

/** Fault Unavailable store_busy: other writers were always faster. */
export function busyItem(doing: string, tries: number): Fault {
  return new Fault('Unavailable', 'store_busy', `Cannot ${doing}: ${tries} tries met another writer. Try again.`)
}

/**
 * What a failed call of the table means, after the SDK's own retries: as every AWS call (functions/aws/sdk-fault.ts),
 * but an item past 400 KB is the caller's: LimitExceeded item_too_large.
 */
export function tableFault(thrown: unknown, operation: string): Fault {
  if (thrown instanceof Error && thrown.name === 'ValidationException' && /item size/i.test(thrown.message)) {
    const message =
      'Cannot write to the run store: the item would be larger than 400 KB. Store large values as objects.'
    return new Fault('LimitExceeded', 'item_too_large', message, { cause: thrown })
  }
  return sdkFault(thrown, { doing: 'use the run store', action: `dynamodb:${operation}` })
}
