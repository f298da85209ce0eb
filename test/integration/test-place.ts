import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createIsolate } from '../../functions/isolate/isolate-pool.ts'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import { openPlace, type Place, type PlaceOptions } from '../../infra/local/place.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isRunEnd } from '../../shared/runs/event-types.ts'
import { type Settings, SettingsSchema } from '../../shared/settings/settings.ts'

/** A real local place in a folder of its own, called in-process through the same routes as over HTTP. */
export interface TestPlace {
  readonly place: Place
  readonly folder: string
  /** Starts a run of YAML or an object; answers its id. */
  start(
    dag: string | object,
    more?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<string>
  /** Calls a route; the body of the answer is parsed. */
  call(
    name: string,
    runId: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly json: Record<string, never> }>
  events(runId: string): Promise<readonly RunEvent[]>
  /** All events once the run has ended. */
  ended(runId: string): Promise<readonly RunEvent[]>
  /** Resolves when the run's log holds an event that fits. */
  until(runId: string, fits: (event: RunEvent) => boolean): Promise<RunEvent>
  /** Closes the place and opens it again on the same folder. */
  reopen(options?: PlaceOptions): Promise<void>
  /**
   * Closes the place, puts `body` where objects lie, or takes them away (undefined), and opens it again: the object of this
   * hash, or all.
   */
  breakObjects(body: string | undefined, sha256?: string): Promise<void>
  /** As kill -9 at this moment: the data folder is copied as it lies on the disk, and a place opened on the copy. */
  kill(options?: PlaceOptions): Promise<void>
  close(): Promise<void>
}

const PATIENCE_MS = 60_000

/** What a sluice.yaml may hold; checked by its schema. */
interface TestSettings {
  readonly safety?: object
  readonly [key: string]: unknown
}

/** Opens a place with `options`; the folder is removed at close. */
export async function openTestPlace(options: PlaceOptions = {}, settings: TestSettings = {}): Promise<TestPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-place-'))
  let parsed = SettingsSchema.parse({
    data_dir: join(folder, 'data'),
    inputs_dir: folder,
    dags: [folder],
    ...settings,
    // A test that starts runs by the hundred, all as one caller, is not the one that tests these.
    safety: { max_runs: 1_000, max_requests_per_min: 100_000, max_streams_per_caller: 1_000, ...settings.safety },
  })
  let copies = 0
  const test = { place: await openOwnPlace(parsed, { sweep_ms: 100, ...options }) }
  const run = (runId: string) => ({ tenant: 'main', run_id: runId })
  const events = (runId: string) => test.place.world.runs.events(run(runId), 0, 10_000)
  const until: TestPlace['until'] = async (runId, fits) => {
    const late = Date.now() + PATIENCE_MS
    for (;;) {
      const found = (await events(runId)).find(fits)
      if (found !== undefined) return found
      if (Date.now() > late)
        throw new Error(`no such event: ${(await events(runId)).map(({ type }) => type).join(' ')}`)
      await test.place.world.waker.changed(run(runId), 50)
    }
  }
  const call: TestPlace['call'] = async (name, runId, body) => {
    const answer = await test.place.invoke(name, proxyEvent(body, runId))
    const { statusCode, body: text } = answer as { statusCode: number; body: string }
    return { status: statusCode, json: JSON.parse(text) }
  }
  return {
    get place() {
      return test.place
    },
    folder,
    call,
    events,
    until,
    async start(dag, more = {}, headers = {}) {
      const answer = await test.place.invoke('start-run', proxyEvent({ dag, ...more }, undefined, headers))
      const { statusCode, body } = answer as { statusCode: number; body: string }
      if (statusCode >= 300) throw new Error(body)
      return JSON.parse(body).run_id
    },
    async ended(runId) {
      await until(runId, ({ type }) => isRunEnd(type))
      return events(runId)
    },
    async reopen(again = options) {
      await test.place.close()
      test.place = await openOwnPlace(parsed, { sweep_ms: 100, ...again })
    },
    async breakObjects(body, sha256) {
      await test.place.close()
      breakRows(parsed.data_dir, body, sha256)
      breakFiles(join(parsed.data_dir, 'objects'), body, sha256)
      test.place = await openOwnPlace(parsed, { sweep_ms: 100, ...options })
    },
    async kill(again = options) {
      copies += 1
      const data_dir = join(folder, `data-${copies}`)
      cpSync(parsed.data_dir, data_dir, { recursive: true, filter: (path) => !/\/lock(\.pid)?$/.test(path) })
      const dead = test.place
      parsed = { ...parsed, data_dir }
      test.place = await openOwnPlace(parsed, { sweep_ms: 100, ...again })
      await dead.close()
    },
    async close() {
      await test.place.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function breakRows(folder: string, body: string | undefined, sha256: string | undefined): void {
  const db = new DatabaseSync(join(folder, 'sluice.db'))
  const [where, hash] = sha256 === undefined ? ['', []] : ['WHERE sha256 = unhex(?)', [sha256]]
  const long = `long_bodies WHERE place IN (SELECT place FROM long_objects ${where})`
  if (body === undefined) {
    db.prepare(`DELETE FROM ${long}`).run(...hash)
    for (const table of ['objects', 'long_objects']) db.prepare(`DELETE FROM ${table} ${where}`).run(...hash)
  } else {
    db.prepare(`UPDATE objects SET body = ? ${where}`).run(Buffer.from(body), ...hash)
    db.prepare(`UPDATE ${long.replace('WHERE', 'SET body = ? WHERE')}`).run(Buffer.from(body), ...hash)
  }
  db.close()
}

function breakFiles(folder: string, body: string | undefined, sha256: string | undefined): void {
  if (!existsSync(folder)) return
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || (sha256 !== undefined && entry.name !== sha256)) continue
    const path = join(entry.parentPath, entry.name)
    if (body === undefined) rmSync(path)
    else writeFileSync(path, body)
  }
}

/** Of all places of this thread: its children take longer to start than most tests take. */
const isolate = createIsolate()

async function openOwnPlace(settings: Settings, options: PlaceOptions = {}): Promise<Place> {
  // A test may move its clock: it is of this place alone.
  const place = await openPlace(settings, { clock: { ...systemClock }, ...options })
  Object.assign(place.world, { isolate })
  return place
}

/** A provider whose answers a test writes: called as any adapter, with prompt, inputs, feedback, signal. */
export function provider(
  dispatch: (request: Parameters<Provider['dispatch']>[0]) => Promise<string> | string,
): Provider {
  return {
    async dispatch(request) {
      const text = await dispatch(request)
      return { text, tokens_in: 1, tokens_out: 1, usd: 0, model: request.model, finish_reason: 'stop' }
    },
  }
}

function proxyEvent(body: unknown, runId?: string, headers: Readonly<Record<string, string>> = {}) {
  return {
    httpMethod: body === undefined ? 'GET' : 'POST',
    path: '/',
    pathParameters: runId === undefined ? null : { run_id: runId },
    queryStringParameters: null,
    headers: { 'content-type': 'application/json', ...headers },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
  }
}
