import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlaceOptions } from '../../../infra/local/place.ts'
import type { Json } from '../../../shared/text/json.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** A clock that stands still until it is told. */
export interface HandClock {
  readonly clock: NonNullable<PlaceOptions['clock']>
  set(time: number | string): void
  now(): number
}

function handClock(start: string): HandClock {
  let now = Date.parse(start)
  return {
    clock: {
      now: () => now,
      // What waits for time has its turn soon; nothing here waits for long.
      delay: (ms, signal) =>
        new Promise((resolve, reject) => {
          const timer = setTimeout(resolve, Math.min(ms, 20))
          signal?.addEventListener('abort', () => {
            clearTimeout(timer)
            reject(signal.reason)
          })
        }),
    },
    set(time) {
      now = typeof time === 'string' ? Date.parse(time) : time
    },
    now: () => now,
  }
}

interface Answer {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

/** A local place whose time the test sets, and whose looks at triggers it asks for. */
export interface TriggerPlace {
  readonly test: TestPlace
  readonly time: HandClock
  write(name: string, text: string): void
  remove(name: string): void
  /** One look at the triggers. */
  look(): Promise<void>
  route(name: string, params: Readonly<Record<string, string>> | null, body?: unknown, more?: object): Promise<Answer>
  /** Runs there are, oldest first: starter, state, inputs they began with. */
  runs(): Promise<readonly { readonly run_id: string; readonly starter: string; readonly context: Json }[]>
  /** Every run has ended. */
  ended(): Promise<void>
  close(): Promise<void>
}

export async function openTriggerPlace(
  start: string,
  settings: Readonly<Record<string, unknown>> = {},
  options: PlaceOptions = {},
): Promise<TriggerPlace> {
  const time = handClock(start)
  const test = await openTestPlace({ sweep_ms: 0, clock: time.clock, ...options }, settings)
  const route: TriggerPlace['route'] = async (name, params, body, more = {}) => {
    const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await test.place.invoke(name, {
      httpMethod: 'POST',
      path: '/',
      pathParameters: params,
      queryStringParameters: null,
      headers: { 'content-type': 'application/json' },
      body: text,
      isBase64Encoded: false,
      ...more,
    })
    const { statusCode, body: said } = answer as { statusCode: number; body: string }
    return { status: statusCode, json: JSON.parse(said) }
  }
  return {
    test,
    time,
    route,
    write: (name, text) => writeFileSync(join(test.folder, `${name}.yaml`), text),
    remove: (name) => rmSync(join(test.folder, `${name}.yaml`)),
    async look() {
      await test.place.invoke('fire-triggers', {})
    },
    async runs() {
      const { runs } = await test.place.world.runs.list('main', { limit: 500 })
      const found = await Promise.all(
        runs.map(async ({ run_id, starter }) => ({
          run_id,
          starter,
          context: ((await test.place.world.runs.context({ tenant: 'main', run_id }))?.values ?? {}) as Json,
        })),
      )
      return found.toReversed()
    },
    async ended() {
      const { runs } = await test.place.world.runs.list('main', { limit: 500 })
      for (const { run_id } of runs) await test.ended(run_id)
    },
    close: () => test.close(),
  }
}
