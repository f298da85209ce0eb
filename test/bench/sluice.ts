import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openPlace } from '../../infra/local/place.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import { type Durability, SettingsSchema } from '../../shared/settings/settings.ts'
import type { Shape } from './shapes.ts'

/** One measured run of the local place. */
export interface Measured {
  /** From run:started to run:completed in the event log: the run itself, as the alternatives are measured. */
  readonly run_ms: number
  /** From the request to run:completed: with parsing, checking, compiling and storing the document. */
  readonly whole_ms: number
  readonly events: number
}

/**
 * Runs a graph on the local place, in-process: durable events in SQLite on disk, no limit on parallelism. Blocks do
 * nothing, or sleep as long as `durations` says.
 */
export async function openSluice(folder: string, durability: Durability = 'normal') {
  const settings = SettingsSchema.parse({
    data_dir: join(folder, 'sluice'),
    durability,
    safety: { max_parallel: 0, max_requests_per_min: 100_000 },
  })
  const place = await openPlace(settings, { providers: { sleep } })
  return {
    close: () => place.close(),
    async run(shape: Shape, durations?: readonly number[]): Promise<Measured> {
      const body = JSON.stringify({ dag: documentOf(shape, durations), options: { max_parallel: 0 } })
      const started = performance.now()
      const answer = await place.invoke('start-run', startEvent(body))
      const { statusCode, body: text } = answer as { statusCode: number; body: string }
      if (statusCode !== 201) throw new Error(text)
      const run = { tenant: 'main', run_id: JSON.parse(text).run_id as string }
      // Looking costs a read: seldom, and without the waker, which would call on every append.
      while ((await place.world.runs.head(run, []))?.state === 'running') await place.world.clock.delay(20)
      const whole_ms = performance.now() - started
      const events = await place.world.runs.events(run, 0, shape.n * 6 + 10)
      const [first, last] = [events[0], events.at(-1)]
      if (first === undefined || last?.type !== 'run:completed') throw new Error(`run ended ${last?.type}`)
      return { run_ms: Date.parse(last.at) - Date.parse(first.at), whole_ms, events: events.length }
    },
  }
}

/** The model is how many milliseconds to sleep. */
const sleep: Provider = {
  async dispatch({ model, signal }) {
    await setTimeout(Number(model), undefined, { signal })
    return { text: 'slept', tokens_in: 0, tokens_out: 0, usd: 0, model, finish_reason: 'stop' }
  },
}

function documentOf(shape: Shape, durations: readonly number[] = []) {
  const blocks = Array.from({ length: shape.n }, (_, i) => {
    const ms = durations[i]
    if (ms === undefined) return { id: `b${i}`, mode: 'deterministic', deterministic: { handler: 'pass' } }
    return { id: `b${i}`, agent: { provider: 'sleep', model: String(ms), prompt: 'Sleep.' } }
  })
  return { name: 'bench', blocks, edges: shape.edges.map(([from, to]) => ({ from: `b${from}`, to: `b${to}` })) }
}

function startEvent(body: string) {
  const headers = { 'content-type': 'application/json' }
  const none = { pathParameters: null, queryStringParameters: null, isBase64Encoded: false }
  return { httpMethod: 'POST', path: '/api/dag/run', headers, body, ...none }
}
