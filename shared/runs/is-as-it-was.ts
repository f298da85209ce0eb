import type { Append } from './append.ts'
import type { HeadApproval } from './head.ts'

/** Whether an approval is as the writer of an append says that it was. */
export function isAsItWas(now: HeadApproval | undefined, was: NonNullable<Append['approval']>['was']): boolean {
  if (was === null) return now === undefined
  if (now === undefined) return false
  return was === 'pending' ? now.status === was : JSON.stringify(now) === JSON.stringify(was)
}
