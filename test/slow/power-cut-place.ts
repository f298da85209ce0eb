import { systemClock } from '../../infra/local/clock-and-log.ts'
import { openPlace } from '../../infra/local/place.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'

/**
 * `node test/slow/power-cut-place.ts FOLDER normal|full RUNS`: a place that answers over HTTP, and three callers at once who
 * start runs and wait for their ends; says on standard output what they were answered: `started RUN` and `ended RUN`.
 */
const [data_dir = '', durability = 'full', runs = '10'] = process.argv.slice(2)
const place = await openPlace(SettingsSchema.parse({ data_dir, durability, port: 0 }), {
  clock: { ...systemClock },
  listen: true,
})

const DAG = `name: adds
blocks:
  - { id: a, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }
  - { id: b, depends: a.succeeded, mode: deterministic, deterministic: { handler: transform, config: { expression: '2' } }, outputs: { m: number } }
`

async function start(wait: string): Promise<{ readonly run_id?: string; readonly state?: string }> {
  const answer = await fetch(`${place.url}/api/dag/run${wait}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ dag: DAG }),
  })
  if (!answer.ok) throw new Error(await answer.text())
  const started: object = Object(await answer.json())
  return started
}

async function call(n: number): Promise<void> {
  const { run_id, state } = await start(n % 2 === 0 ? '?wait=20' : '')
  process.stdout.write(`started ${run_id}\n`)
  if (state === 'completed') process.stdout.write(`ended ${run_id}\n`)
}

for (let n = 0; n < Number(runs); n += 3) await Promise.all([n, n + 1, n + 2].map(call))
await place.close()
