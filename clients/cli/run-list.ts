import type { Command, CommandOptions } from 'commander'
import * as z from 'zod'
import { RUN_ROUTES } from '../../shared/api/run-routes.ts'
import { callApi, chooseTarget } from './api.ts'
import { jsonText } from './json-text.ts'
import { cut, oneLine } from './plain-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface ListOptions extends TargetOptions {
  readonly status?: string
  readonly dag?: string
  readonly limit?: string
  readonly cursor?: string
}

export function addList(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('list', hidden).description('runs, newest first'))
    .option('--status <state>', 'only runs in this state: running, completed, failed, cancelled')
    .option('--dag <name>', 'only runs of this DAG')
    .option('--limit <n>', 'at most this many, 1 to 500 (default: 50)')
    .option('--cursor <cursor>', 'continue a list: the cursor its last line names')
    .action((options: ListOptions) => list(session, options))
}

async function list(session: Session, { url, json, ...filter }: ListOptions): Promise<void> {
  const query = new URLSearchParams(Object.entries(filter)).toString()
  const path = `/api/dag/runs${query === '' ? '' : `?${query}`}`
  const answer = await callApi(chooseTarget(session, url), ListSchema, { path })
  if (json === true) return session.say(jsonText(answer, 2))
  if (answer.runs.length === 0) return session.say('No runs.')
  for (const run of answer.runs) {
    const state = run.state === 'paused_approval' ? 'approval' : run.state
    const at = run.created_at.replace(/\.\d+Z$/, 'Z')
    session.say(cut(`${run.run_id}  ${state.padEnd(9)}  ${at}  ${oneLine(run.dag_name)}`, session.size().columns))
  }
  if (answer.next_cursor !== null) session.say(`More: sluice run list --cursor ${answer.next_cursor}`)
}

/** Members the list shows; a newer server may say more. */
const ListSchema = RUN_ROUTES['list-runs'].answer
  .extend({
    runs: z.array(
      z.looseObject({ run_id: z.string(), dag_name: z.string(), state: z.string(), created_at: z.string() }),
    ),
  })
  .loose()
