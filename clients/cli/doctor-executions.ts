import { type Check, check } from './check.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'

/** Of a deployment: what the sweep, decisions and stops reserve, and what Lambda keeps free besides (docs/deploy.md). */
const NEEDED = 124
/** One for each block that works at once, and each open stream of events. */
const PLENTY = 1_000

/** Whether the account of a deployment has room for its functions; nothing where the command is about no deployment. */
export async function executionChecks({ signed }: Session): Promise<readonly Check[]> {
  if (signed === undefined) return []
  try {
    const { limit, free } = await signed.executions()
    const says = `the account has ${limit} concurrent executions of Lambda, ${free} unreserved`
    if (limit >= PLENTY) return [check.ok('executions', says)]
    const why =
      limit < NEEDED
        ? `a stage reserves 24 and Lambda keeps 100 free, so \`sluice deploy\` needs ${NEEDED}`
        : 'each block that works and each open stream takes one'
    const fix = `ask for ${PLENTY} (Service Quotas, AWS Lambda, "Concurrent executions")`
    return [check.warning('executions', `${says}; ${why}`, fix)]
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return [check.skipped('executions', `not asked: ${error.reason.detail}`)]
  }
}
