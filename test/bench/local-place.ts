import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { shapesOf } from './shapes.ts'

/**
 * What the local place costs besides time: how long a read of a run of 1,000 blocks holds the thread that runs the blocks,
 * bytes on the disk a run, and memory after many runs (docs/benchmarks.md, "Local place: reads, disk, memory").
 * `npm run bench:local -- reads|disk|memory [runs]`
 */
const [what = 'reads', count] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
const data_dir = join(folder, 'data')
const safety = { max_parallel: 0, max_runs: 1_000, max_requests_per_min: 100_000 }
const place = await openPlace(SettingsSchema.parse({ data_dir, safety }))

const NONE = { queryStringParameters: null, isBase64Encoded: false, headers: { 'content-type': 'application/json' } }

async function call(name: string, pathParameters: object | null, body: object | null = null): Promise<string> {
  const httpMethod = body === null ? 'GET' : 'POST'
  const event = { httpMethod, path: '/', pathParameters, body: body === null ? null : JSON.stringify(body), ...NONE }
  const answer = (await place.invoke(name, event)) as { readonly statusCode: number; readonly body: string }
  if (answer.statusCode >= 300) throw new Error(answer.body)
  return answer.body
}

/** Starts a run and waits for its end; answers its id. */
async function run(dag: object, inputs: object = {}): Promise<string> {
  const { run_id } = JSON.parse(await call('start-run', null, { dag, inputs, options: { max_parallel: 0 } }))
  const key = { tenant: 'main', run_id }
  while ((await place.world.runs.head(key, []))?.state === 'running') await place.world.waker.changed(key, 1_000)
  return run_id
}

/** Ten blocks, each with one number of the block before it. */
const TEN = {
  name: 'ten',
  inputs: { n: 'number' },
  blocks: Array.from({ length: 10 }, (_, i) => ({
    id: `b${i}`,
    mode: 'deterministic',
    inputs: { n: i === 0 ? 'number' : { from: `b${i - 1}.n` } },
    outputs: { n: 'number' },
    deterministic: { handler: 'transform', config: { expression: `inputs.n * 7 + ${i}` } },
  })),
}

/** `runs` of them, eight at once. */
async function many(runs: number, from = 0): Promise<void> {
  let next = from
  const one = async () => {
    while (next < from + runs) {
      next += 1
      await run(TEN, { n: next })
    }
  }
  await Promise.all(Array.from({ length: 8 }, one))
}

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** CPU of this thread, and the most of it between two turns of the loop. */
async function held(work: () => Promise<unknown>): Promise<{ readonly all: number; readonly most: number }> {
  await new Promise((resolve) => setTimeout(resolve, 50))
  let [last, most, isOn] = [cpuMs(), 0, true]
  const tick = () => {
    const now = cpuMs()
    most = Math.max(most, now - last)
    last = now
    if (isOn) setImmediate(tick)
  }
  setImmediate(tick)
  const first = cpuMs()
  await work()
  await new Promise(setImmediate)
  isOn = false
  return { all: cpuMs() - first, most }
}

async function reads(): Promise<void> {
  const [, , , shape] = shapesOf(1_000)
  if (shape === undefined) throw new Error('there is no woven shape')
  const blocks = Array.from({ length: shape.n }, (_, i) => {
    return { id: `b${i}`, mode: 'deterministic', deterministic: { handler: 'pass' } }
  })
  const edges = shape.edges.map(([from, to]) => ({ from: `b${from}`, to: `b${to}` }))
  const run_id = await run({ name: 'woven', blocks, edges })
  for (const name of ['get-run', 'get-run-graph', 'get-block', 'verify-run']) {
    const seen: { readonly all: number; readonly most: number }[] = []
    const params = { run_id, ...(name === 'get-block' && { block_id: 'b500' }) }
    for (let i = 0; i < 12; i += 1) seen.push(await held(() => call(name, params)))
    const [first, ...later] = seen
    const word = (one: number | undefined) => `${one?.toFixed(1)}`.padStart(7)
    const median = (pick: 'all' | 'most') => later.map((one) => one[pick]).sort((a, b) => a - b)[5]
    print(`${name.padEnd(14)} first ${word(first?.all)} ms, at a time ${word(first?.most)}`)
    print(`${''.padEnd(14)} later ${word(median('all'))} ms, at a time ${word(median('most'))}`)
  }
}

async function disk(runs: number, at: Pick<Place, 'close'>): Promise<void> {
  await many(runs)
  await at.close()
  const files = readdirSync(data_dir, { recursive: true, withFileTypes: true })
  const sizes = files.map((entry) => ({ entry, ...statSync(join(entry.parentPath, entry.name)) }))
  const objects = sizes.filter(({ entry }) => entry.parentPath.includes('objects'))
  const database = statSync(join(data_dir, 'sluice.db')).size
  const taken = objects.reduce((sum, { blocks }) => sum + blocks * 512, 0)
  print(
    `${runs} runs: ${Math.round(database / runs)} bytes a run in the database, ${Math.round(taken / runs)} in files`,
  )
}

async function memory(runs: number): Promise<void> {
  for (let done = 0; done < runs; done += 2_000) {
    await many(2_000, done)
    await new Promise((resolve) => setTimeout(resolve, 500))
    for (let i = 0; i < 3; i += 1) globalThis.gc?.()
    const { heapUsed, rss } = process.memoryUsage()
    print(`${done + 2_000} runs: heap ${(heapUsed / 1e6).toFixed(1)} MB, resident ${Math.round(rss / 1e6)} MB`)
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

try {
  if (what === 'disk') await disk(Number(count ?? 1_500), place)
  else if (what === 'memory') await memory(Number(count ?? 20_000))
  else await reads()
} finally {
  await place.close()
  rmSync(folder, { recursive: true, force: true })
}
