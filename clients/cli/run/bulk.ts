import type { Command, CommandOptions } from 'commander'
import type * as z from 'zod'
import { BULK_ROUTES, type BulkSchema } from '../../../shared/api/bulk-routes.ts'
import type { BulkAction } from '../../../shared/runs/bulk.ts'
import { labelWords } from '../../../shared/runs/labels.ts'
import { callApi, chooseTarget, commandLine, type Target } from '../server/api.ts'
import { count } from '../terminal/format.ts'
import { readLabelPairs } from '../terminal/input-values.ts'
import { type TargetOptions, wholeNumber, withReadingOptions, withTargetOptions } from '../terminal/options.ts'
import { requireConfirmation } from '../terminal/prompts.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

type Bulk = z.infer<typeof BulkSchema>
const PlanSchema = BULK_ROUTES['plan-bulk'].answer.loose()
const ShownSchema = BULK_ROUTES['get-bulk'].answer.loose()
const ListSchema = BULK_ROUTES['list-bulks'].answer.loose()
const ChangedSchema = BULK_ROUTES['change-bulk'].answer.loose()

interface BulkOptions extends TargetOptions {
  readonly why?: string
  readonly set?: readonly string[]
  readonly remove?: readonly string[]
  readonly plan?: true
  readonly yes?: true
}

/** `sluice run bulk ..`: one action on all runs that a search finds. Not there without `run`. */
export function addBulk(run: Command, session: Session, hidden?: CommandOptions): void {
  const bulk = run.command('bulk', hidden).description('do one thing to all runs that a search finds')
  for (const { action, words, options } of ACTS) {
    const command = withTargetOptions(bulk.command(action).description(words))
      .argument('<query...>', 'as sluice run search takes it')
      .option('--plan', 'only show which runs it would be done to')
      .option('--yes', 'without asking')
    options(command)
    command.action((query: readonly string[], given: BulkOptions) => doIt(session, action, query.join(' '), given))
  }
  withTargetOptions(bulk.command('start').description('start a bulk that was planned, within the hour'))
    .argument('<bulk-id>', 'as `run bulk list` shows it')
    .action((id: string, options: TargetOptions) => change(session, id, 'start', options))
  withTargetOptions(bulk.command('cancel').description('cancel a bulk: what was done by then stays done'))
    .argument('<bulk-id>', 'as `run bulk list` shows it')
    .action((id: string, options: TargetOptions) => change(session, id, 'cancel', options))
  withReadingOptions(bulk.command('show').description('how far a bulk is, and which runs it was not done to'))
    .argument('<bulk-id>', 'as `run bulk list` shows it')
    .action((id: string, options: TargetOptions) => show(session, id, options))
  withReadingOptions(bulk.command('list').description('bulks that were planned, newest first'))
    .option('--limit <n>', 'at most this many, 1 to 100 (default: 20)', wholeNumber(1, 100))
    .action((options: TargetOptions & { readonly limit?: number }) => list(session, options))
}

interface Act {
  readonly action: BulkAction
  readonly words: string
  readonly options: (command: Command) => void
}

const repeated = (one: string, all: readonly string[] = []) => [...all, one]

const ACTS: readonly Act[] = [
  {
    action: 'stop',
    words: 'stop all runs that a search finds',
    options: (command) => command.option('--why <text>', 'recorded with each'),
  },
  { action: 'retry', words: 'retry all runs that a search finds, each as it was', options: () => {} },
  {
    action: 'erase',
    words: 'erase all runs that a search finds for good',
    options: (command) => command.requiredOption('--why <text>', 'kept for good in each record: name nobody'),
  },
  {
    action: 'label',
    words: 'change the labels of all runs that a search finds',
    options: (command) =>
      command
        .option('--set <key=value>', 'a label to set; repeat it', repeated)
        .option('--remove <key>', 'a label to take away; repeat it', repeated),
  },
]

async function doIt(session: Session, action: BulkAction, q: string, options: BulkOptions): Promise<void> {
  const { url, json, why, plan, yes } = options
  const labels = action === 'label' ? labelChange(options) : undefined
  const target = chooseTarget(session, url)
  const body = { action, q, ...(why !== undefined && { reason: why }), ...(labels !== undefined && { labels }) }
  const planned = await callApi(target, PlanSchema, (api) => api.POST('/api/dag/bulk', { body }))
  const { bulk } = planned
  if (json !== true) sayPlan(session, planned)
  if (plan === true || bulk.count === 0) {
    if (json === true) session.say(jsonText(planned, 2))
    else if (bulk.count > 0)
      session.say(`Within the hour: ${commandLine(session, target, `run bulk start ${bulk.bulk_id}`)}`)
    return
  }
  const question = `${VERBS[action]} ${count(bulk.count, 'run')}?`
  await requireConfirmation(session, {
    question,
    yes: yes === true,
    instead: `Nothing was done: you did not say yes. The plan is ${bulk.bulk_id}.`,
  })
  await change(session, bulk.bulk_id, 'start', options)
}

function labelChange({ set = [], remove = [] }: BulkOptions) {
  if (set.length + remove.length === 0) {
    const detail = 'Cannot label: neither --set nor --remove is given. Give --set KEY=VALUE, as --set team=growth.'
    throw new Refused({ code: 'no_labels', detail }, { exitCode: 2 })
  }
  return { ...(set.length > 0 && { set: readLabelPairs(set) }), ...(remove.length > 0 && { remove: [...remove] }) }
}

const VERBS: Readonly<Record<BulkAction, string>> = {
  stop: 'Stop',
  retry: 'Retry',
  erase: 'Erase for good',
  label: 'Change the labels of',
}

/** The newest of the runs it would be done to, and how many there are. */
function sayPlan(session: Session, { bulk, first }: z.infer<typeof PlanSchema>): void {
  for (const run of first)
    session.say(oneLine(`${run.run_id}  ${run.state}  ${run.dag_name}  ${run.created_at}  ${run.starter}`))
  if (bulk.count > first.length) session.say(`and ${count(bulk.count - first.length, 'run')} more`)
  session.say(planWords(bulk))
}

function planWords(bulk: Bulk): string {
  const { action, labels, more, count: found } = bulk
  const set = labels?.set === undefined ? '' : ` set ${labelWords(labels.set)}`
  const remove = labels?.remove === undefined ? '' : ` remove ${labels.remove.join(' ')}`
  const others = more === true ? ' There are more, or may be: these are the newest that were found.' : ''
  return oneLine(`${bulk.bulk_id}: ${action}${set}${remove} ${count(found, 'run')}.${others}`)
}

async function change(session: Session, bulk_id: string, what: 'start' | 'cancel', { url, json }: TargetOptions) {
  const target = chooseTarget(session, url)
  const { bulk } = await callApi(target, ChangedSchema, (api) =>
    api.POST('/api/dag/bulk/{bulk_id}', { params: { path: { bulk_id } }, body: { do: what } }),
  )
  const ended = what === 'start' ? await untilOver(target, bulk) : bulk
  if (json === true) return session.say(jsonText({ bulk: ended }, 2))
  session.say(progressWords(ended))
  if (ended.state === 'running' || ended.refused > 0)
    session.say(`More: ${commandLine(session, target, `run bulk show ${bulk_id}`)}`)
}

/** Somebody who asked for few runs sees what became of them; the rest goes on by itself. */
const PATIENCE_MS = 20_000
const LOOK_MS = 400

async function untilOver(target: Target, started: Bulk): Promise<Bulk> {
  let bulk = started
  for (let waited = 0; waited < PATIENCE_MS && bulk.state === 'running'; waited += LOOK_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    bulk = (await read(target, bulk.bulk_id)).bulk
  }
  return bulk
}

function read(target: Target, bulk_id: string, cursor?: string) {
  const params = { path: { bulk_id }, query: { limit: 200, ...(cursor !== undefined && { cursor }) } }
  return callApi(target, ShownSchema, (api) => api.GET('/api/dag/bulk/{bulk_id}', { params }))
}

function progressWords({ bulk_id, action, state, count: all, looked, done, refused, cancelled }: Bulk): string {
  const who = cancelled === undefined ? '' : ` by ${cancelled.by}`
  const left = all - looked
  const rest = left === 0 ? '' : `, ${left} left`
  return oneLine(
    `${bulk_id}: ${action}, ${state}${who}: ${done} of ${count(all, 'run')} done, ${refused} refused${rest}.`,
  )
}

async function show(session: Session, bulk_id: string, { url, json }: TargetOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const shown = await read(target, bulk_id)
  const runs = [...shown.runs]
  for (let cursor = shown.next_cursor; cursor !== null; ) {
    const next = await read(target, bulk_id, cursor)
    runs.push(...next.runs)
    cursor = next.next_cursor
  }
  if (json === true) return session.say(jsonText({ bulk: shown.bulk, runs }, 2))
  session.say(progressWords(shown.bulk))
  for (const { run_id, outcome } of runs) {
    if (outcome?.refused !== undefined) session.say(oneLine(`${run_id}  refused: ${outcome.refused.message}`))
    else if (outcome?.run_id !== undefined) session.say(`${run_id}  retried as ${outcome.run_id}`)
  }
}

async function list(session: Session, { url, json, limit }: TargetOptions & { readonly limit?: number }) {
  const query = limit === undefined ? {} : { limit }
  const answer = await callApi(chooseTarget(session, url), ListSchema, (api) =>
    api.GET('/api/dag/bulk', { params: { query } }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  if (answer.bulks.length === 0) session.say('No bulk was planned.')
  for (const bulk of answer.bulks) session.say(`${progressWords(bulk)} ${oneLine(bulk.q)}`)
}
