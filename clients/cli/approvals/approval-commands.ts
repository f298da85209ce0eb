import { type Command, Option } from 'commander'
import * as z from 'zod'
import { asksWaiver } from '../../../shared/runs/approval.ts'
import { RESTART_MODES, type RestartMode } from '../../../shared/runs/head.ts'
import { agentItemWords, questionItem } from '../../../shared/runs/turns-and-calls.ts'
import type { paths } from '../../api/schema.generated.ts'
import { callApi, chooseTarget, commandLine, type Target } from '../server/api.ts'
import { ApprovalSchema } from '../server/approval-schema.ts'
import { count, durationWords } from '../terminal/format.ts'
import { type TargetOptions, wholeNumber, withReadingOptions, withTargetOptions } from '../terminal/options.ts'
import { requireTerminalOrYes } from '../terminal/prompts.ts'
import { Refused, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { cut, jsonText, oneLine } from '../terminal/text.ts'
import { fetchAudit } from './audit.ts'
import { type Decided, decidedLine, rejectionFields, showAndDecide } from './decide-approval.ts'
import { changeWarnings, questionLines } from './question-lines.ts'

/** `sluice approvals ..`: the inbox over all runs, and the record of what was decided. */
export function addApprovals(parent: Command, session: Session): void {
  const approvals = parent.command('approvals').description('what people are asked over all runs')
  addApprovalsList(approvals, session)
  addApprovalsShow(approvals, session)
  addApprovalsDecide(approvals, session)
  addApprovalsExport(approvals, session)
}

interface ListOptions extends TargetOptions {
  readonly status: NonNullable<InboxQuery['status']>
  readonly limit?: number
  readonly cursor?: string
}

function addApprovalsList(parent: Command, session: Session): void {
  const status = new Option('--status <status>', 'open ones, those decided, expired or cancelled, or all')
  withReadingOptions(parent.command('list').description('what people are asked over all runs, longest waiting first'))
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

function addApprovalsShow(parent: Command, session: Session): void {
  withReadingOptions(
    parent.command('show').description('all of one approval: what is asked and shown, risk, cost, votes'),
  )
    .argument('<approval-id>')
    .action((id: string, options: TargetOptions) => show(session, id, options))
}

async function show(session: Session, id: string, { url, json }: TargetOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const approval = await fetchApproval(target, id)
  if (json === true) return session.say(jsonText(approval, 2))
  for (const line of approvalLines(approval, session.settings.command)) session.say(line)
  if (approval.status !== 'pending' || !approval.may_decide.allowed) return
  const waive = `run waive ${approval.run_id} --approval ${id} --feedback ".."`
  session.say(`Decide: ${commandLine(session, target, asksWaiver(approval) ? waive : `approvals approve ${id}`)}`)
}

/** One approval of the inbox on one line: id, risk or outcome, how long, where, what is asked. */
export function approvalLine(approval: InboxApproval, columns: number): string {
  const { approval_id, status, age_ms, dag_name, block_id, prompt, may_decide, risk } = approval
  const state = status === 'pending' ? `${risk.level} risk` : status
  const mine = status === 'pending' && !may_decide.allowed ? ' (not yours)' : ''
  const other = changeWarnings(approval).length > 0 ? ' (not as deployed)' : ''
  const item = questionItem(approval_id)
  const call = item === undefined ? '' : ` ${agentItemWords(item, approval.tool)}`
  const what = oneLine(`${dag_name}/${block_id}${call}${other}${mine}`)
  const times = durationWords(age_ms).padStart(11)
  return cut(`${oneLine(approval_id)}  ${oneLine(state).padEnd(11)}  ${times}  ${what}  ${oneLine(prompt)}`, columns)
}

/** All of it: what is asked and shown, at which risk and cost, and whether the caller may decide. */
export function approvalLines(approval: InboxApproval, command: string): readonly string[] {
  const { run_id, dag_name, risk, may_decide, status } = approval
  const mine =
    may_decide.allowed || status !== 'pending' ? [] : [`You may not decide: ${may_decide.reason ?? may_decide.code}`]
  const head = `Approval ${approval.approval_id} of run ${run_id} (${dag_name}): ${status}${outcomeWords(approval)}`
  return [
    head,
    ...changeWarnings(approval),
    `${status === 'pending' ? 'Waits' : 'Waited'} for ${durationWords(approval.age_ms)}.`,
    `Risk ${risk.level}: ${risk.because.join('; ')}.`,
    costLine(approval),
    ...mine,
  ]
    .map(oneLine)
    .concat(questionLines({ ...approval, reminded: approval.reminders }, 4_000, command))
}

function outcomeWords({ status, decided_by, decided_at, feedback }: InboxApproval): string {
  if (status === 'pending') return ''
  const by = decided_by === undefined ? '' : ` by ${decided_by}`
  const at = decided_at === undefined ? '' : ` at ${decided_at}`
  return `${by}${at}${feedback === undefined ? '' : `: ${feedback}`}`
}

function costLine({ cost }: InboxApproval): string {
  const { spent, to_come } = cost
  const before = `${count(spent.tokens, 'token')}, ${spent.usd === null ? 'at an unknown price' : `$${spent.usd}`}`
  const { tokens, usd } = to_come
  const after = usd === null ? 'at an unknown price' : `$${usd.expected}, $${usd.high} at the most`
  return `Spent so far: ${before}. To come after a yes: about ${tokens.expected} tokens, ${after}.`
}

function addApprovalsDecide(parent: Command, session: Session): void {
  withTargetOptions(parent.command('approve').description('show what is asked, and approve: each by itself'))
    .argument('<approval-id...>')
    .option('--feedback <text>', 'a remark recorded with each decision')
    .option('--yes', 'decide without being asked: needed where no terminal is, and recorded')
    .action((ids: readonly string[], options: DecideOptions) => decideEach(session, 'approve', ids, options))
  const modes = new Option('--restart-mode <mode>', 'what that run is given: results and feedback, or feedback alone')
  withTargetOptions(parent.command('reject').description('reject what is asked: each by itself'))
    .argument('<approval-id...>')
    .option('--feedback <text>', 'why: recorded with each decision')
    .option('--yes', 'decide without being asked: needed where no terminal is, and recorded')
    .option('--iterate', 'another run takes the place of the run, where on_reject is iterate')
    .option('--no-iterate', 'the block fails all the same')
    .addOption(modes.choices(RESTART_MODES))
    .action((ids: readonly string[], options: DecideOptions) => decideEach(session, 'reject', ids, options))
}

/** One that cannot be decided is reported and hides no other; the exit code is 1 then. */
async function decideEach(
  session: Session,
  decision: 'approve' | 'reject',
  ids: readonly string[],
  options: DecideOptions,
): Promise<void> {
  requireTerminalOrYes(session, decision, options.yes === true)
  const target = chooseTarget(session, options.url)
  const results: Result[] = []
  for (const id of new Set(ids)) {
    const result = await decideOne(session, target, decision, id, options)
    results.push(result)
    if (options.json !== true && !result.decided) session.warn(`${id}: NOT decided [${result.code}] ${result.detail}`)
  }
  if (options.json === true) session.say(jsonText({ results }, 2))
  if (results.some(({ decided }) => !decided)) process.exitCode = 1
}

interface DecideOptions extends TargetOptions {
  readonly feedback?: string
  readonly yes?: true
  readonly iterate?: boolean
  readonly restartMode?: RestartMode
}

/** What became of one of several. */
type Result = { readonly approval_id: string } & (
  | { readonly decided: true; readonly run_id: string; readonly status: string }
  | { readonly decided: false; readonly code: string; readonly detail: string }
)

/** Decides one approval by its id and says so; what cannot be decided is a result like another. */
async function decideOne(
  session: Session,
  target: Target,
  decision: 'approve' | 'reject',
  id: string,
  options: DecideOptions,
): Promise<Result> {
  try {
    const approval = await fetchApproval(target, id)
    const answer = await decideThis(session, target, { approval, decision }, options)
    const what = `block ${approval.block_id} of ${approval.run_id}`
    if (options.json !== true) session.say(`${id}: ${decidedLine(decision, answer, what)}`)
    return { approval_id: id, decided: true, run_id: approval.run_id, status: answer.approval.status }
  } catch (error) {
    // Without a server nothing else will work either.
    if (!(error instanceof Refused) || OF_ALL.has(error.reason.code)) throw error
    return { approval_id: id, decided: false, code: error.reason.code, detail: error.reason.detail }
  }
}

const OF_ALL: ReadonlySet<string> = new Set(['no_server', 'not_sluice', 'usage'])

function decideThis(
  session: Session,
  target: Target,
  { approval, decision }: { readonly approval: InboxApproval; readonly decision: 'approve' | 'reject' },
  options: DecideOptions,
): Promise<Decided> {
  const { yes = false, json = false } = options
  const lines = approvalLines(approval, session.settings.command)
  const more = rejectionFields(options)
  requireTheirs(approval)
  return showAndDecide(session, target, { runId: approval.run_id, approval, decision, lines, yes, json, more })
}

/** Nobody is asked about what is over, or is not theirs. */
function requireTheirs({ approval_id, status, decided_by, decided_at, may_decide }: InboxApproval): void {
  if (status === 'pending' && may_decide.allowed) return
  const by = decided_by === undefined ? '' : ` by ${decided_by}`
  const at = decided_at === undefined ? '' : ` at ${decided_at}`
  const why = status === 'pending' ? (may_decide.reason ?? 'you may not.') : `it is already ${status}${by}${at}.`
  const code = status === 'pending' ? (may_decide.code ?? 'not_an_approver') : 'already_decided'
  throw new Refused({ code, detail: `Cannot decide approval "${approval_id}": ${why}` })
}

interface ExportOptions extends TargetOptions {
  readonly run?: string
  readonly since?: string
}

function addApprovalsExport(parent: Command, session: Session): void {
  withReadingOptions(
    parent.command('export').description('the record of every decision as JSON lines, oldest first a run'),
  )
    .option('--run <run-id>', 'of this run only')
    .option('--since <time>', 'only what happened then or later: 2026-01-31, or with a time 2026-01-31T12:00:00Z')
    .action((options: ExportOptions) => exportAudit(session, options))
}

async function exportAudit(session: Session, { url, run, since }: ExportOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const from = since === undefined ? undefined : timeOf(since)
  const runs = run === undefined ? runsAsked(target, from) : [run]
  for await (const id of runs) {
    const lines = (await fetchAudit(target, id)).filter(({ at }) => from === undefined || at >= from)
    if (lines.length > 0) await session.write(lines.map((line) => `${jsonText(line)}\n`).join(''))
  }
}

function timeOf(since: string): string {
  const read = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(since) ? Date.parse(since) : Number.NaN
  if (Number.isFinite(read)) return new Date(read).toISOString()
  throw usageError(
    `Cannot use --since "${since}": a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z, is needed.`,
  )
}

/** Every run that asked people something; with `from` those in which something was open or was closed since. */
async function* runsAsked(target: Target, from: string | undefined): AsyncGenerator<string> {
  const seen = new Set<string>()
  let cursor: string | undefined
  do {
    const query = { status: 'all', values: 'refs', limit: 100, ...(cursor !== undefined && { cursor }) } as const
    const { approvals, next_cursor } = await fetchApprovals(target, query)
    for (const { run_id, status, decided_at = '' } of approvals) {
      // Nothing happens to an approval after it is closed.
      if (status !== 'pending' && from !== undefined && decided_at < from) continue
      if (seen.has(run_id)) continue
      seen.add(run_id)
      yield run_id
    }
    cursor = next_cursor ?? undefined
  } while (cursor !== undefined)
}

const text = z.string()
const range = z.looseObject({ low: z.number(), expected: z.number(), high: z.number() })

/** What the CLI shows of the inbox (shared/api/approval-routes.ts has all of it); a newer server may say more. */
const EntrySchema = ApprovalSchema.extend({
  run_id: text,
  dag_name: text,
  age_ms: z.number(),
  reminders: z.int(),
  may_decide: z.looseObject({ allowed: z.boolean(), code: text.optional(), reason: text.optional() }),
  risk: z.looseObject({ level: text, because: z.array(text).readonly() }),
  cost: z.looseObject({
    spent: z.looseObject({ tokens: z.number(), usd: z.number().nullable() }),
    to_come: z.looseObject({ tokens: range, usd: range.nullable() }),
  }),
}).loose()
export type InboxApproval = z.infer<typeof EntrySchema>

type InboxQuery = NonNullable<paths['/api/dag/approvals']['get']['parameters']['query']>

const DamagedSchema = z.looseObject({ run_id: text, approval_id: text, item: text, seen: text, fix: text })

const PageSchema = z.looseObject({
  approvals: z.array(EntrySchema).readonly(),
  damaged: z.array(DamagedSchema).readonly().optional(),
  next_cursor: text.nullable(),
})
type Page = z.infer<typeof PageSchema>

/** One page of the inbox; members that are absent are left to the server. */
function fetchApprovals(target: Target, query: InboxQuery): Promise<Page> {
  return callApi(target, PageSchema, (api) => api.GET('/api/dag/approvals', { params: { query } }))
}

/** One approval, open or not; Refused unknown_approval. */
async function fetchApproval(target: Target, id: string): Promise<InboxApproval> {
  const { approvals } = await fetchApprovals(target, { approval_id: id })
  const [found] = approvals
  if (found !== undefined) return found
  const detail = `Cannot find approval "${id}": there is no such one. \`sluice approvals list --status all\` shows those there are.`
  throw new Refused({ code: 'unknown_approval', detail })
}
