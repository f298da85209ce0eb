import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import type { PlaceOptions } from '../../../infra/local/place.ts'
import { Fault } from '../../../shared/errors.ts'
import type { Clock, Log } from '../../../shared/ports/host.ts'
import type { Provider } from '../../../shared/providers/provider.ts'
import { runsPool } from '../../../shared/runs/run-store.ts'
import { provider, type TestPlace } from '../test-place.ts'

/** Opens a place with this safety policy, on the store the suite is run for. */
export type OpenSafe = (safety: object, more?: Pick<PlaceOptions, 'sweep_ms' | 'clock'>) => Promise<TestPlace>

/** The errors these suites make are looked at where they are answered. */
export const SILENT: Log = { info: () => {}, error: () => {} }

/** Waits for a person, so that it lives until somebody ends it; it rests, and holds no place meanwhile. */
export const WAITS = {
  name: 'waits',
  blocks: [
    {
      id: 'ask',
      mode: 'approval',
      approval: { required: true, prompt: 'Go on?' },
    },
  ],
}

/** Waits for less than what a run rests for, so that it holds its place until somebody ends it. */
export const HOLDS = { name: 'holds', blocks: [{ id: 'stay', mode: 'wait', wait: { for: '4m' } }] }

export const QUICK = {
  name: 'quick',
  blocks: [
    {
      id: 'write',
      outputs: { text: { type: 'string' } },
      agent: { provider: 'local', model: 'outline', prompt: 'Plan a small garden.' },
    },
  ],
}

/** Provider `probe`: says its prompt; `slow <ms>` takes as long, `fail` is away once a place. */
export function probe(clock: Clock = systemClock): Readonly<Record<string, Provider>> {
  let failed = false
  const say = async ({ prompt, signal }: { readonly prompt: string; readonly signal: AbortSignal }) => {
    const [word, ms] = prompt.split(' ')
    if (word === 'slow') await clock.delay(Number(ms), signal)
    if (word === 'fail' && !failed) {
      failed = true
      throw new Fault('Unavailable', 'provider_away', 'The probe is away once.')
    }
    return JSON.stringify({ text: prompt })
  }
  return { probe: provider(say) }
}

export interface Posted {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly json: Answer
}

/** Members of the answers and problems looked into. */
export interface Answer {
  readonly run_id?: string
  readonly code?: string
  readonly detail?: string
  readonly facts?: Readonly<Record<string, unknown>>
  readonly run?: Readonly<Record<string, unknown>>
  readonly runs?: readonly { readonly run_id: string; readonly state: string }[]
  readonly stopped?: number
  readonly hold?: object | null
  readonly released?: boolean
  readonly started?: number
  readonly queued?: boolean
  readonly policy?: Readonly<Record<string, { readonly value: unknown; readonly source: string }>>
  readonly active_runs?: number
  readonly queued_runs?: number
  readonly [member: string]: unknown
}

/** Calls a route as API Gateway would. */
export async function post(
  { place }: TestPlace,
  name: string,
  { run_id, body = {}, headers = {} }: { run_id?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Posted> {
  const event = {
    httpMethod: body === null ? 'GET' : 'POST',
    path: '/',
    pathParameters: run_id === undefined ? null : { run_id },
    queryStringParameters: null,
    headers: { 'content-type': 'application/json', ...headers },
    body: body === null ? null : JSON.stringify(body),
    isBase64Encoded: false,
  }
  const answer = (await place.invoke(name, event)) as { statusCode: number; headers: object; body: string }
  return { status: answer.statusCode, headers: { ...answer.headers }, json: JSON.parse(answer.body) }
}

export function startOf(open: TestPlace, dag: object, more: object = {}, headers: Record<string, string> = {}) {
  return post(open, 'start-run', { body: { dag, ...more }, headers })
}

/** Who has a slot among the active runs. */
export async function holders({ place }: TestPlace): Promise<readonly string[]> {
  return Object.keys(await place.world.runs.leases(runsPool('main')))
}

/** Resolves when it holds; effects owed by an update follow it. */
export async function eventually(holds: () => Promise<boolean>, what: string, ms = 60_000): Promise<void> {
  for (const end = Date.now() + ms; !(await holds()); await sleep(10)) {
    if (Date.now() > end) throw new Error(`never came true: ${what}`)
  }
}

export function noHolders(open: TestPlace): Promise<void> {
  return eventually(async () => (await holders(open)).length === 0, 'no place is held')
}

export async function stateOf(open: TestPlace, run_id: string): Promise<string> {
  return String((await post(open, 'get-run', { run_id, body: null })).json.run?.state)
}

/** Tests that SQLite proves in every run; on the other store they are of the run of everything. */
export function dailyOnSqlite(store: string): { readonly tags: string[] } {
  return { tags: store === 'SQLite' ? [] : ['thorough'] }
}
