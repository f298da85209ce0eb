import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { json, type ProviderServer, serveProvider } from '../emulators/provider-server.ts'
import { type Random, randomFrom, upTo } from '../integration/random-runs.ts'
import { type Started, startSluice } from './run-cli.ts'

/** What one kill did: until the new process served, and until the last of the live runs had moved, in milliseconds. */
interface Kill {
  readonly live: number
  readonly ready_ms: number
  readonly resumed_ms: number
}

export interface KillReport {
  readonly kills: readonly Kill[]
  readonly runs: number
  /** Attempts that were in flight when their process was killed. */
  readonly lost: number
  /** Runs that did not end as they had to, in words. */
  readonly wrong: readonly string[]
  /** Idempotency keys that were sent more than once. */
  readonly sent_twice: readonly string[]
}

/** How many runs are under way at a kill. */
const LIVE = 6
const PATIENCE_MS = 60_000
/** Most lives are too short for an isolate to start on a busy machine; now and then one is long enough for anything. */
const SHORT_MS = 300
const LONG_MS = 3_000
const LONG_EACH = 5

/**
 * Starts `sluice start` as a stranger does, keeps runs under way, and kills the server with SIGKILL at so many random
 * points, each time starting it again on what the dead one left. At the end every run must have completed with the one
 * answer it can have, and `verify` must hold for each.
 */
export async function killAtRandom(points: number, seed: number, say = (_: string) => {}): Promise<KillReport> {
  const random = randomFrom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-kill-'))
  const model = await slowModel(random)
  writeFileSync(join(folder, 'sluice.yaml'), settings(model.url))
  const kills: Kill[] = []
  const ids: string[] = []
  let place = await startSluice(['start', '--port', '0', '--json'], folder, 'keep')
  try {
    for (let point = 1; point <= points; point += 1) {
      await topUp(place, ids)
      await pause(upTo(random, point % LONG_EACH === 0 ? LONG_MS : SHORT_MS))
      const before = await liveRuns(place)
      await killed(place)
      const began = performance.now()
      place = await startSluice(['start', '--port', '0', '--json'], folder, 'keep')
      const ready_ms = performance.now() - began
      const resumed_ms = await resumed(place, before, performance.now())
      kills.push({ live: before.length, ready_ms: Math.round(ready_ms), resumed_ms: Math.round(resumed_ms) })
      if (point % 20 === 0) say(`${point} kills, ${ids.length} runs`)
    }
    const wrong = await Promise.all(ids.map((id) => endWrong(place, id)))
    const lost = (await Promise.all(ids.map((id) => lostIn(place, id)))).reduce((a, b) => a + b, 0)
    return { kills, runs: ids.length, lost, wrong: wrong.flat(), sent_twice: sentTwice(model) }
  } finally {
    await place.stop('SIGTERM')
    await model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function settings(url: string): string {
  return [
    `providers: { slow: { type: http, url: "${url}" } }`,
    'safety: { max_runs: 100, max_requests_per_min: 100000, max_attempts: 100 }',
    '',
  ].join('\n')
}

/** Answers after up to 60 ms; the first look at a review is never good enough. */
function slowModel(random: Random): Promise<ProviderServer> {
  return serveProvider(async (response, asked) => {
    await pause(upTo(random, 60))
    const prompt = String(asked.body.prompt)
    const again = prompt.includes('refused') || prompt.includes('good:')
    const text = prompt.startsWith('review') ? (again ? 'good' : 'bad') : `${prompt.split('\n')[0]} done`
    await json(200, { text, tokens_in: 3, tokens_out: 2 })(response, asked)
  })
}

const ask = (prompt: string) => ({ agent: { provider: 'slow', model: 'm', prompt }, outputs: { text: 'string' } })
const wired = (...from: readonly string[]) => ({
  inputs: Object.fromEntries(from.map((id) => [id, { from: `${id}.text` }])),
})

/** Side by side, a join, a fan-out, a bounce, and a calculation at the end whose value is known beforehand. */
const DAG = {
  name: 'killed',
  blocks: [
    { id: 'left', ...ask('left') },
    { id: 'right', ...ask('right') },
    { id: 'each', ...wired('left'), ...ask('each {{inputs.n}}'), foreach: { items: [1, 2, 3], as: 'n' } },
    { id: 'build', ...wired('left', 'right'), ...ask('build') },
    {
      id: 'review',
      ...wired('build'),
      ...ask('review'),
      post_gates: [{ name: 'good', check: { type: 'contains', port: 'text', values: ['good'] }, on_fail: 'route' }],
      on_gate_fail: [{ when_gate: 'good', route_to: 'review', max_bounces: 3 }],
    },
    {
      id: 'sum',
      mode: 'deterministic',
      inputs: { each: { from: 'each.text' }, build: { from: 'build.text' }, review: { from: 'review.text' } },
      outputs: { text: 'string' },
      deterministic: {
        handler: 'transform',
        config: { expression: '$join(inputs.each, "+") & " " & inputs.build & " " & inputs.review' },
      },
    },
  ],
}
const ANSWER = 'each 1 done+each 2 done+each 3 done build done good'

const urlOf = (place: Started) => `${String(place.first.url)}/api/dag`

async function call<T>(place: Started, path: string, body?: object): Promise<T> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(`${urlOf(place)}${path}`, body === undefined ? {} : init)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

interface RunLine {
  readonly run_id: string
  readonly state: string
  readonly last_seq: number
}

async function liveRuns(place: Started): Promise<readonly RunLine[]> {
  return (await call<{ runs: readonly RunLine[] }>(place, '/runs?status=running&limit=100')).runs
}

async function topUp(place: Started, ids: string[]): Promise<void> {
  for (let live = (await liveRuns(place)).length; live < LIVE; live += 1) {
    const { run_id } = await call<{ run_id: string }>(place, '/run', { dag: DAG, options: { max_parallel: 0 } })
    ids.push(run_id)
  }
}

/** The server itself, not the command that started it: nobody gets to say goodbye. */
async function killed(place: Started): Promise<void> {
  process.kill(Number(place.first.pid), 'SIGKILL')
  await place.ended
}

/** Until each run that was live has a new event: the last of them, in milliseconds. */
async function resumed(place: Started, before: readonly RunLine[], since: number): Promise<number> {
  const waiting = new Map(before.map(({ run_id, last_seq }) => [run_id, last_seq]))
  while (waiting.size > 0) {
    const { runs } = await call<{ runs: readonly RunLine[] }>(place, '/runs?limit=100')
    const moved = runs.filter(({ run_id, last_seq, state }) => {
      return state !== 'running' || last_seq > (waiting.get(run_id) ?? Number.POSITIVE_INFINITY)
    })
    for (const { run_id } of moved) waiting.delete(run_id)
    if (performance.now() - since > PATIENCE_MS) throw new Error(`not resumed: ${[...waiting.keys()].join(', ')}`)
    await pause(10)
  }
  return performance.now() - since
}

/** What is wrong with a run once it has ended; nothing = it ended as it had to. */
async function endWrong(place: Started, id: string): Promise<readonly string[]> {
  const late = performance.now() + PATIENCE_MS
  for (;;) {
    const { run } = await call<{ run: { state: string; reason?: string } }>(place, `/runs/${id}`)
    if (run.state === 'completed') break
    if (run.state !== 'running' || performance.now() > late) return [`${id} is ${run.state}: ${run.reason}`]
    await pause(50)
  }
  const { outputs } = await call<{ outputs: { text?: string } }>(place, `/runs/${id}/outputs/sum`)
  const verified = await call<{ ok: boolean; checks: { n: number; problems: string[] }[] }>(place, `/runs/${id}/verify`)
  const problems = verified.checks.flatMap(({ n, problems }) => problems.map((problem) => `${id}: ${n}: ${problem}`))
  return outputs.text === ANSWER ? problems : [`${id} says ${outputs.text}`, ...problems]
}

async function lostIn(place: Started, id: string): Promise<number> {
  const { events } = await call<{ events: { type: string; data: { code?: string } }[] }>(
    place,
    `/runs/${id}/replay?limit=1000`,
  )
  return events.filter(({ data }) => data.code === 'ATTEMPT_LOST').length
}

function sentTwice({ asked }: ProviderServer): readonly string[] {
  const keys = asked.flatMap(({ headers }) => headers['idempotency-key'] ?? [])
  return keys.filter((key, i) => keys.indexOf(key) !== i)
}
