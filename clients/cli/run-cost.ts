import type { Command, CommandOptions } from 'commander'
import { GET_RUN } from '../../shared/api/get-run.ts'
import { callApi, chooseTarget } from './api.ts'
import { costLines } from './cost-lines.ts'
import { costReport } from './cost-report.ts'
import { fetchEvents } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

export function addCost(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(
    parent
      .command('cost', hidden)
      .description('what a run cost, by block, attempt and model, its budget, and what it stored'),
  )
    .argument('<run-id>')
    .action((runId: string, options: TargetOptions) => cost(session, runId, options))
}

async function cost(session: Session, runId: string, { url, json }: TargetOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const { run } = await callApi(target, RunSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id: runId } } }),
  )
  const report = costReport(await fetchEvents(target, runId))
  const { run_id, dag_name, state, budget, storage } = run
  const stored = storage === undefined ? {} : { storage }
  if (json === true) return session.say(jsonText({ run_id, dag_name, state, ...report, budget, ...stored }, 2))
  for (const line of costLines({ dag_name, state, budget, ...stored }, report)) session.say(line)
}

/** Members the report shows; a newer server may say more. */
const RunSchema = GET_RUN.answer
  .pick({ run: true })
  .extend({
    run: GET_RUN.answer.shape.run
      .pick({ run_id: true, dag_name: true, state: true, budget: true, storage: true })
      .loose(),
  })
  .loose()
