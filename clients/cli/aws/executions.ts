import type { TemplateResource } from '../../../shared/plan/idle-cost.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import type { AwsAccount } from './aws-account.ts'
import { allResources, type Templates } from './deploy-summary.ts'

/** What Lambda keeps for functions without a reservation of their own. Source: Lambda guide, "Reserved concurrency". */
export const KEPT_FREE = 100

/** Functions that reserve executions: Lambda refuses that in the middle of a deployment, so it is said before. */
export async function checkConcurrency(session: Session, templates: Templates, account: AwsAccount): Promise<void> {
  const reserving = reservations(Object.values(allResources(templates)))
  if (reserving.length === 0) return
  const { limit, free } = await account.concurrency()
  // What this stage has already is not taken again. One that reserves less gives the rest back, but nobody says when.
  const has = await Promise.all(
    reserving.map(async ({ name, count: of }) => Math.min(of, await account.reservedBy(name))),
  )
  const already = sum(has)
  const all = sum(reserving.map(({ count: of }) => of))
  const told = already === 0 ? '' : `, ${already} of them already`
  session.say(`\nFunctions reserve ${all} concurrent executions${told}; the account has ${limit}, ${free} unreserved.`)
  const wanted = all - already
  if (wanted === 0 || free - wanted >= KEPT_FREE) return
  const missing = wanted + KEPT_FREE - free
  const detail = `Cannot reserve ${wanted}${already === 0 ? '' : ' more'} concurrent executions: ${free} are unreserved and Lambda keeps ${KEPT_FREE} of them free. Ask for ${limit + missing} or more (Service Quotas, "Concurrent executions"), or set \`reserved_concurrency: false\` in sluice.yaml: then open streams and runs may use up what the sweep, decisions and stops need. Shell gates reserve five whatever it says, without shell_gates.allow none.`
  throw new Refused({ code: 'too_few_executions', detail })
}

/** Functions with executions of their own; one whose name only AWS will know is not there yet. */
function reservations(resources: readonly TemplateResource[]) {
  return resources.flatMap(({ Properties: { FunctionName = '', ReservedConcurrentExecutions } = {} }) =>
    ReservedConcurrentExecutions === undefined
      ? []
      : [{ name: String(FunctionName), count: Number(ReservedConcurrentExecutions) }],
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
