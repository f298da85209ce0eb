import { type Command, Option } from 'commander'
import { chooseTarget } from './api.ts'
import { approvalLine } from './approval-lines.ts'
import { commandLine } from './command-line.ts'
import { fetchApprovals, type InboxQuery } from './fetch-approvals.ts'
import { jsonText } from './json-text.ts'
import { oneLine } from './plain-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'

interface ListOptions extends TargetOptions {
  readonly status: NonNullable<InboxQuery['status']>
  readonly limit?: number
  readonly cursor?: string
}

export function addApprovalsList(parent: Command, session: Session): void {
  const status = new Option('--status <status>', 'open ones, those decided, expired or cancelled, or all')
  withTarget(parent.command('list').description('what people are asked over all runs, longest waiting first'))
    .addOption(status.choices(['pending', 'decided', 'all']).default('pending'))
    .option('--limit <n>', 'at most this many, 1 to 100 (default: 20)', wholeNumber(1, 100))
    .option('--cursor <cursor>', 'continue a list: the cursor its last line names')
    .action((options: ListOptions) => list(session, options))
}

async function list(session: Session, { url, json, status, limit, cursor }: ListOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const values = json === true ? {} : ({ values: 'refs' } as const)
  const further = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) }
  const page = await fetchApprovals(target, { status, ...further, ...values })
  if (json === true) return session.say(jsonText(page, 2))
  const { damaged = [] } = page
  warnOfDamaged(session, damaged)
  if (page.approvals.length + damaged.length === 0 && page.next_cursor === null)
    session.say(NONE[status] ?? 'No approvals.')
  const columns = session.terminal ? session.size().columns : Number.POSITIVE_INFINITY
  for (const approval of page.approvals) session.say(approvalLine(approval, columns))
  if (page.next_cursor === null) return
  const same = limit === undefined ? '' : ` --limit ${limit}`
  const words = `approvals list --status ${status}${same} --cursor ${page.next_cursor}`
  session.say(`More: ${commandLine(session, target, words)}`)
}

type Damaged = NonNullable<Awaited<ReturnType<typeof fetchApprovals>>['damaged']>

function warnOfDamaged(session: Session, damaged: Damaged): void {
  for (const { approval_id, run_id, item, seen, fix } of damaged) {
    const damage = item === 'APPROVAL' ? 'it is damaged' : `${item} of run ${run_id} is damaged`
    session.warn(`warning: approval ${approval_id} cannot be shown: ${damage} (${oneLine(seen)}). ${fix}`)
  }
}

const NONE: Readonly<Record<string, string>> = {
  pending: 'Nobody is asked anything.',
  decided: 'Nothing was decided yet.',
}
