import { type Command, type CommandOptions, Option } from 'commander'
import * as z from 'zod'
import { RUN_ROUTES } from '../../../shared/api/run-routes.ts'
import type { ShownState } from '../../../shared/runs/head.ts'
import { labelWords } from '../../../shared/runs/labels.ts'
import { callApi, chooseTarget, commandLine, type Target } from '../server/api.ts'
import { costWords, count, durationWords } from '../terminal/format.ts'
import { type TargetOptions, wholeNumber, withReadingOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { cut, jsonText, oneLine } from '../terminal/text.ts'

interface ListOptions extends TargetOptions {
  readonly status?: ShownState | 'approval'
  readonly dag?: string
  readonly limit?: number
  readonly cursor?: string
  readonly children?: true
}

export function addList(parent: Command, session: Session, hidden?: CommandOptions): void {
  withReadingOptions(parent.command('list', hidden).description('runs, newest first'))
    .addOption(new Option('--status <state>', 'only runs in this state, as the list shows it').choices(STATES))
    .option('--dag <name>', 'only runs of this DAG')
    .option('--children', 'also runs that blocks of other runs started')
    .option('--limit <n>', 'at most this many, 1 to 500 (default: 50)', wholeNumber(1, 500))
    .option('--cursor <cursor>', 'continue a list: the cursor its last line names')
    .action((options: ListOptions) => list(session, options))
}

async function list(session: Session, options: ListOptions): Promise<void> {
  const { url, json } = options
  const target = chooseTarget(session, url)
  const answer = await callApi(target, ListSchema, (api) =>
    api.GET('/api/dag/runs', { params: { query: queryOf(options) } }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  sayRuns(session, answer, 'No runs.')
  if (answer.next_cursor !== null) session.say(`More: ${moreOf(session, target, options, answer.next_cursor)}`)
}

/** A line a run. */
export function sayRuns(
  session: Session,
  answer: Pick<z.infer<typeof ListSchema>, 'runs' | 'damaged'>,
  nothing: string,
): void {
  warnOfDamaged(session, answer.damaged)
  if (answer.runs.length === 0) session.say(nothing)
  const columns = session.terminal ? session.size().columns : Number.POSITIVE_INFINITY
  for (const run of answer.runs) {
    const state = run.state === 'paused_approval' ? 'approval' : run.state
    const at = run.created_at.replace(/\.\d+Z$/, 'Z')
    const name = `${run.parent === undefined ? '' : 'child '}${oneLine(run.dag_name)}`
    const facts = [run.run_id, state.padEnd(9), at, name, ...factsOf(run)]
    session.say(cut(facts.join('  '), columns))
  }
}

function warnOfDamaged(session: Session, damaged: z.infer<typeof ListSchema>['damaged'] = []): void {
  for (const { run_id, item, seen, fix } of damaged) {
    session.warn(`warning: run ${run_id} cannot be listed: its ${item} is damaged (${oneLine(seen)}). ${fix}`)
  }
}

/** What an older server does not tell is left out. */
function factsOf({
  created_at,
  ended_at,
  tokens = 0,
  usd = 0,
  unpriced_tokens,
  labels = {},
}: Listed): readonly string[] {
  const took = ended_at ? [durationWords(Date.parse(ended_at) - Date.parse(created_at))] : []
  const used = tokens === 0 ? [] : [count(tokens, 'token')]
  const told = [...took, ...used, costWords({ tokens, usd, unpriced_tokens }), oneLine(labelWords(labels))]
  return told.filter((fact) => fact !== '')
}

function queryOf({ children, dag, limit, cursor, ...options }: ListOptions) {
  const status = options.status === 'approval' ? 'paused_approval' : options.status
  return {
    ...(status !== undefined && { status }),
    ...(dag !== undefined && { dag }),
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
    ...(children !== true && { role: 'root' as const }),
  }
}

/** The same list, further on. */
function moreOf(session: Session, target: Target, options: ListOptions, cursor: string): string {
  const { children, status, dag, limit } = options
  const given = Object.entries({ status, dag, limit, cursor }).filter(([, value]) => value !== undefined)
  const same = given.map(([key, value]) => ` --${key} ${value}`)
  if (children === true) same.push(' --children')
  return commandLine(session, target, `run list${same.join('')}`)
}

/** `approval` is how the list shortens paused_approval. */
const STATES = [...RUN_ROUTES['list-runs'].answer.shape.runs.element.shape.state.options, 'approval']

/** Members the list shows; a newer server may say more. */
const ListedSchema = z.looseObject({
  run_id: z.string(),
  dag_name: z.string(),
  state: z.string(),
  created_at: z.string(),
  ended_at: z.string().nullish(),
  tokens: z.number().optional(),
  usd: z.number().nullable().optional(),
  unpriced_tokens: z.number().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  parent: z.looseObject({ run_id: z.string() }).optional(),
})
type Listed = z.infer<typeof ListedSchema>

export const ListSchema = RUN_ROUTES['list-runs'].answer.extend({ runs: z.array(ListedSchema) }).loose()
