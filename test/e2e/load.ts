import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openTestPlace, provider, type TestPlace } from '../integration/test-place.ts'

/** One round: so many runs at once, all of them live together before the first may end. */
interface Round {
  readonly started_ms: number
  readonly ended_ms: number
  /** Bytes after a collection, when all had ended. */
  readonly heap: number
  /** Greatest resident set seen, in bytes. */
  readonly rss: number
  /** The longest anything else of the process had to wait for its turn, in milliseconds. */
  readonly wait_ms: number
}

export interface LoadReport {
  readonly rounds: readonly Round[]
  /** Runs that are not as they must be, in words; at most 20. */
  readonly wrong: readonly string[]
  /** How many were live at once. */
  readonly together: number
}

const ROUNDS = 3

/**
 * Rounds of so many small runs on one real place, as `max_runs` in its settings allows: each asks its model, is judged,
 * and calculates. All wait inside their first call until the last has been started.
 */
export async function loadRuns(count: number, say = (_: string) => {}): Promise<LoadReport> {
  const barrier = openBarrier(count)
  const probe = provider(async ({ prompt }) => {
    if (prompt.startsWith('first')) await barrier.pass()
    return `${prompt.split('\n')[0]} done`
  })
  const safety = { max_runs: 1_000, max_requests_per_min: 100_000 }
  const place = await openTestPlace({ providers: { probe }, sweep_ms: 1_000 }, { safety })
  const rounds: Round[] = []
  const wrong: string[] = []
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const ids: string[] = []
      const done = await oneRound(place, count, barrier, ids, (line) => say(`round ${round}: ${line}`))
      wrong.push(...(await wrongRuns(place, ids)))
      rounds.push({ ...done, heap: collected() })
      barrier.close()
      say(`round ${round}: heap ${mb(rounds.at(-1)?.heap ?? 0)} MB after a collection`)
    }
    return { rounds, wrong: wrong.slice(0, 20), together: barrier.most() }
  } finally {
    await place.close()
  }
}

const DAG = {
  name: 'small',
  blocks: [
    {
      id: 'first',
      agent: { provider: 'probe', model: 'm', prompt: 'first {{inputs.n}}' },
      outputs: { text: 'string' },
    },
    {
      id: 'second',
      inputs: { first: { from: 'first.text' } },
      agent: { provider: 'probe', model: 'm', prompt: 'second' },
      outputs: { text: 'string' },
      post_gates: [{ name: 'done', check: { type: 'contains', port: 'text', values: ['done'] } }],
    },
    {
      id: 'third',
      mode: 'deterministic',
      inputs: { body: { from: 'second.text' } },
      outputs: { file: 'artifact' },
      deterministic: { handler: 'write-artifact', config: { name: 'out.txt' } },
    },
  ],
}

async function oneRound(
  place: TestPlace,
  count: number,
  barrier: Barrier,
  ids: string[],
  say: (line: string) => void,
): Promise<Omit<Round, 'heap'>> {
  const began = performance.now()
  const watch = watchMemory(say)
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  for (let n = 0; n < count; n += 1) ids.push(await place.start(DAG, { context: { n: String(n) } }))
  const started_ms = Math.round(performance.now() - began)
  say(`${count} started in ${started_ms} ms`)
  await barrier.full()
  say(`all ${count} are under way`)
  barrier.open()
  for (const id of ids) await endOf(place, id)
  const ended_ms = Math.round(performance.now() - began)
  say(`${count} ended after ${ended_ms} ms`)
  delay.disable()
  return { started_ms, ended_ms, rss: watch.stop(), wait_ms: Math.round(delay.max / 1e6) }
}

async function endOf(place: TestPlace, run_id: string): Promise<void> {
  const run = { tenant: 'main', run_id }
  for (;;) {
    const head = await place.place.world.runs.head(run, [])
    if (head?.state !== 'running' && head?.outbox.length === 0) return
    await place.place.world.waker.changed(run, 200)
  }
}

async function wrongRuns(place: TestPlace, ids: readonly string[]): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const [n, id] of ids.entries()) {
    const { json: answer } = await place.call('verify-run', id)
    const { ok, checks } = answer as unknown as { ok: boolean; checks: readonly { n: number; problems: string[] }[] }
    if (!ok)
      wrong.push(`${id}: ${checks.flatMap(({ n, problems }) => problems.map((one) => `${n}: ${one}`)).join(' ')}`)
    const { json: run } = await place.call('get-run', id)
    const { state } = (run as unknown as { run: { state: string } }).run
    const first = (await place.events(id)).find((event) => event.type === 'block:output' && event.block_id === 'first')
    const body = first?.type === 'block:output' ? first.data.outputs.text : undefined
    const text = body && Buffer.from(await place.place.world.objects.get('main', body.ref)).toString('utf8')
    if (state !== 'completed' || text !== JSON.stringify(`first ${n} done`)) wrong.push(`${id} is ${state}: ${text}`)
  }
  return wrong
}

interface Barrier {
  pass(): Promise<void>
  full(): Promise<void>
  open(): void
  close(): void
  most(): number
}

/** Nobody passes until it is opened; `full` resolves when so many wait. */
function openBarrier(count: number): Barrier {
  let gate = Promise.withResolvers<void>()
  let waiting = 0
  let most = 0
  return {
    async pass() {
      waiting += 1
      most = Math.max(most, waiting)
      await gate.promise
    },
    async full() {
      while (waiting < count) await pause(20)
    },
    open: () => gate.resolve(),
    close() {
      gate = Promise.withResolvers<void>()
      waiting = 0
    },
    most: () => most,
  }
}

function watchMemory(say: (line: string) => void): { stop(): number } {
  let most = 0
  const began = performance.now()
  const look = () => {
    const { rss, heapUsed } = process.memoryUsage()
    most = Math.max(most, rss)
    const seconds = ((performance.now() - began) / 1_000).toFixed(1).padStart(6)
    say(`${seconds} s  rss ${mb(rss)} MB  heap ${mb(heapUsed)} MB`)
  }
  const timer = setInterval(look, 1_000)
  return {
    stop() {
      clearInterval(timer)
      look()
      return most
    },
  }
}

/** Bytes of the heap that something still holds. */
function collected(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  for (let i = 0; i < 3; i += 1) collect()
  return process.memoryUsage().heapUsed
}

export function mb(bytes: number): number {
  return Math.round(bytes / 1_048_576)
}
