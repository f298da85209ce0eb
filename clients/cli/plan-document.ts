import { planDag } from '../../shared/plan/plan-dag.ts'
import { costTable } from './cost-table.ts'
import { jsonText } from './json-text.ts'
import { planLines } from './plan-lines.ts'
import type { PlanOptions } from './plan-options.ts'
import { readDagFile, refusing } from './read-dag-file.ts'
import { usage } from './refused.ts'
import { renderPlan } from './render-plan.ts'
import type { Session } from './session.ts'
import { settingsHere } from './settings-here.ts'

/** `sluice plan FILE`, or the DAGs of stdin. */
export async function planDocument(
  session: Session,
  file: string | undefined,
  options: PlanOptions & { readonly cost?: true },
): Promise<void> {
  if (options.ndjson === true) {
    if (file !== undefined) throw usage('Give a file or --ndjson, not both: with --ndjson the DAGs come on stdin.')
    return await planLines(session)
  }
  if (file === undefined) throw usage('Name the DAG file to plan, or say --ndjson.')
  const dag = readDagFile(file, 'plan')
  const { durations, defaultDuration: default_duration, items } = options
  const settings = settingsHere()
  const max_parallel = options.maxParallel ?? settings.safety.max_parallel
  const planned = refusing(() => planDag(dag, { durations, default_duration, items, max_parallel }, settings))
  if (options.json === true) session.say(jsonText(planned, 2))
  else if (options.cost === true) for (const line of costTable(planned.cost)) session.say(line)
  else for (const line of renderPlan(planned, session.size().columns)) session.say(line)
}
