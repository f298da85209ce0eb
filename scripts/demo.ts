import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { withPlace } from '../clients/cli/place/with-place.ts'
import { renderTimeline } from '../clients/cli/run/render-timeline.ts'
import { startAndWatch } from '../clients/cli/run/start-and-watch.ts'
import { verdictLines } from '../clients/cli/run/status.ts'
import type { Target } from '../clients/cli/server/api.ts'
import { fetchEvents } from '../clients/cli/server/fetch-run.ts'
import { Refused } from '../clients/cli/terminal/refused.ts'
import { openSession } from '../clients/cli/terminal/session.ts'
import { runDemo } from './run-demo.ts'

/**
 * `npm run demo`: dags/dataset-brief.yaml on the countries of the world, from data to an approved Markdown brief.
 * It approves by itself (recorded as via `--yes`); with `--wait` a person decides from another terminal
 * (`--port`: where the place listens then).
 */
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const {
  wait,
  port,
  'data-dir': folder,
} = parseArgs({
  options: {
    wait: { type: 'boolean', default: false },
    port: { type: 'string', default: '4040' },
    'data-dir': { type: 'string', default: join(root, '.sluice', 'demo') },
  },
}).values
const session = openSession()

await runDemo(session, demo)

async function demo(): Promise<number> {
  const inputsDir = join(folder, 'inputs')
  mkdirSync(inputsDir, { recursive: true })
  copyFileSync(countries(), join(inputsDir, 'countries.json'))
  const options = { dataDir: folder, inputsDir }
  if (!wait) return await withPlace({ ...options, port: 0 }, runBrief)
  // A person's commands look for the default port, and for a login in a data folder that is not the demo's; where the
  // port is taken the printed ones name another.
  const open = { ...options, login: false }
  return await withPlace({ ...open, port: Number(port) }, runBrief).catch((error: unknown) => {
    if (!(error instanceof Refused) || error.reason.code !== 'port_taken') throw error
    return withPlace({ ...open, port: 0 }, runBrief)
  })
}

/** Open data nobody here wrote: docs/licences has its licence. */
function countries(): string {
  return join(dirname(createRequire(import.meta.url).resolve('world-countries/package.json')), 'countries.json')
}

async function runBrief({ target, signal }: { target: Target; signal: AbortSignal }): Promise<number> {
  const { runId, exitCode, artifacts } = await startAndWatch(session, target, {
    request: { dag: readFileSync(join(root, 'dags', 'dataset-brief.yaml'), 'utf8') },
    json: false,
    yes: !wait,
    signal,
    inside: {
      dataDir: relative(process.cwd(), folder),
      artifactsDir: join(relative(process.cwd(), folder), 'artifacts'),
    },
    asks: (id) => howToDecide(id, target),
  })
  const events = await fetchEvents(target, runId)
  const { columns } = session.size()
  for (const line of ['', 'Timeline', ...renderTimeline(events, columns, Date.now())]) session.say(line)
  for (const line of ['', 'Verdicts of every gate', ...verdictLines(events)]) session.say(line)
  for (const line of ['', ...artifacts]) session.say(line)
  return exitCode
}

function howToDecide(runId: string, { url }: Target): string {
  const sluice = 'npm run -s sluice --'
  const server = url.endsWith(':4040') ? '' : ` --url ${url}`
  return `
The brief waits for a person. In another terminal, see what is asked and decide:
  ${sluice} run approve ${runId}${server}
  ${sluice} run reject ${runId}${server} --feedback "why"
or in a browser: ${url}/#/runs/${runId}
Nothing is lost if this process ends, even by kill -9. To go on then, and decide as above:
  ${sluice} start --data-dir ${relative(process.cwd(), folder)}
`
}
