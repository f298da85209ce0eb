import { type Command, type CommandOptions, Option } from 'commander'
import * as z from 'zod'
import { RUN_ROUTES } from '../../shared/api/run-routes.ts'
import { callApi, chooseTarget, type Target } from './api.ts'
import { commandLine } from './command-line.ts'
import { jsonText } from './json-text.ts'
import { cut, oneLine } from './plain-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'

interface ListOptions extends TargetOptions {
  readonly status?: string
  readonly dag?: string
  readonly limit?: number
  readonly cursor?: string
  readonly children?: true
}

export function addList(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('list', hidden).description('runs, newest first'))
    .addOption(new Option('--status <state>', 'only runs in this state, as the list shows it').choices(STATES))
    .option('--dag <name>', 'only runs of this DAG')
    .option('--children', 'also runs that blocks of other runs started')
    .option('--limit <n>', 'at most this many, 1 to 500 (default: 50)', wholeNumber(1, 500))
    .option('--cursor <cursor>', 'continue a list: the cursor its last line names')
    .action((options: ListOptions) => list(session, options))
}

async function list(session: Session, { url, json, children, ...filter }: ListOptions): Promise<void> {
  const role = children === true ? {} : { role: 'root' }
  const given = { ...filter, ...(filter.status === 'approval' && { status: 'paused_approval' }), ...role }
  const query = Object.entries(given)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join('&')
  const path = `/api/dag/runs${query === '' ? '' : `?${query}`}`
  const target = chooseTarget(session, url)
  const answer = await callApi(target, ListSchema, { path })
  if (json === true) return session.say(jsonText(answer, 2))
  if (answer.runs.length === 0) return session.say('No runs.')
  for (const run of answer.runs) {
    const state = run.state === 'paused_approval' ? 'approval' : run.state
    const at = run.created_at.replace(/\.\d+Z$/, 'Z')
    const name = `${run.parent === undefined ? '' : 'child '}${oneLine(run.dag_name)}`
    session.say(cut(`${run.run_id}  ${state.padEnd(9)}  ${at}  ${name}`, session.size().columns))
  }
  if (answer.next_cursor !== null)
    session.say(`More: ${moreOf(session, target, { ...filter, children }, answer.next_cursor)}`)
}

/** The same list, further on. */
function moreOf(
  session: Session,
  target: Target,
  { children, ...filter }: Omit<ListOptions, 'url' | 'json' | 'children'> & { readonly children: true | undefined },
  cursor: string,
): string {
  const same = Object.entries({ ...filter, cursor }).map(([key, value]) => ` --${key} ${value}`)
  if (children === true) same.push(' --children')
  return commandLine(session, target, `run list${same.join('')}`)
}

/** `approval` is how the list shortens paused_approval. */
const STATES = [...RUN_ROUTES['list-runs'].answer.shape.runs.element.shape.state.options, 'approval']

/** Members the list shows; a newer server may say more. */
const ListSchema = RUN_ROUTES['list-runs'].answer
  .extend({
    runs: z.array(
      z.looseObject({
        run_id: z.string(),
        dag_name: z.string(),
        state: z.string(),
        created_at: z.string(),
        parent: z.looseObject({ run_id: z.string() }).optional(),
      }),
    ),
  })
  .loose()
