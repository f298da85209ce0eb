import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { withPlace } from '../clients/cli/place/with-place.ts'
import { sayRunGoal } from '../clients/cli/run/goal.ts'
import { startAndWatch } from '../clients/cli/run/start-and-watch.ts'
import type { Target } from '../clients/cli/server/api.ts'
import { openSession } from '../clients/cli/terminal/session.ts'
import { runDemo } from './run-demo.ts'

/**
 * `npm run demo:goals`: dags/churn-analysis.yaml with three targets. Trained and verified the same way, it ends SUCCESS
 * with one that the data meet; where they do not it ends PARTIAL and tries again by itself with more columns, which
 * reaches the second target, and never the third: that ends BLOCKED.
 */
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { 'data-dir': folder } = parseArgs({
  options: { 'data-dir': { type: 'string', default: join(root, '.sluice', 'demo-goals') } },
}).values
const session = openSession()

const GOALS = [
  { target: 0.7, words: 'At least 70 % of the customers told right: the data can show that' },
  { target: 0.73, words: 'A little more: the first attempt misses it, and the next one has more to go by' },
  { target: 0.9, words: 'At least 90 %: good evidence for a goal that is not met is no success' },
] as const

await runDemo(session, demo)

async function demo(): Promise<number> {
  const dag = readFileSync(join(root, 'dags', 'churn-analysis.yaml'), 'utf8')
  return await withPlace({ dataDir: folder, port: 0 }, async ({ target, signal }) => {
    const ends: string[] = []
    for (const { target: wanted, words } of GOALS) ends.push(await tryFor(target, signal, { dag, wanted, words }))
    for (const line of ['', ...ending()]) session.say(line)
    return ends.join() === 'completed,completed,blocked' ? 0 : 1
  })
}

/** Answers the state the last run ended in. */
async function tryFor(
  target: Target,
  signal: AbortSignal,
  { dag, wanted, words }: { readonly dag: string; readonly wanted: number; readonly words: string },
): Promise<string> {
  for (const line of ['', `target = ${wanted}. ${words}.`, '']) session.say(line)
  const data = relative(process.cwd(), folder)
  const { runId, exitCode } = await startAndWatch(session, target, {
    request: { dag, inputs: { target: wanted } },
    json: false,
    yes: false,
    signal,
    inside: { dataDir: data, artifactsDir: join(data, 'artifacts') },
  })
  session.say('')
  await sayRunGoal(session, target, runId, false)
  return exitCode === 0 ? 'completed' : 'blocked'
}

function ending(): readonly string[] {
  const sluice = 'npm run -s sluice --'
  return [
    'The runs are kept. Look at them, or ask for another target:',
    `  ${sluice} start --example --data-dir ${relative(process.cwd(), folder)}`,
    `  ${sluice} run list`,
    `  ${sluice} run start --example churn-analysis --input target=0.74 --watch`,
    'Data: "Telco customer churn", a public sample of IBM about a company it made up, as wa_churn of the R package',
    '  modeldata 1.1.0 (https://modeldata.tidymodels.org), MIT licence.',
  ]
}
