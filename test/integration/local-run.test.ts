import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { ROUTE_SCHEMAS } from '../../shared/api/openapi.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { newRunId } from '../../shared/runs/ids.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { readEvents } from './sse-client.ts'

const ASKING = `
name: asking
inputs:
  text: { type: string }
blocks:
  - id: first
    mode: deterministic
    deterministic: { handler: pass, config: {} }
    inputs: { text: string }
    outputs: { text: { type: string } }
  - id: publish
    mode: deterministic
    deterministic: { handler: pass, config: {} }
    inputs: { text: { from: first.text } }
    outputs: { text: { type: string } }
    approval: { required: true, prompt: "Publish it?" }
`

let dir: string
let place: Place

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-run-'))
  mkdirSync(join(dir, 'dags'))
  writeFileSync(join(dir, 'dags', 'asking.yaml'), ASKING)
  place = await open()
})

afterAll(async () => {
  await place.close()
  rmSync(dir, { recursive: true })
})

function open(): Promise<Place> {
  const settings = SettingsSchema.parse({ port: 0, data_dir: join(dir, 'data'), dags: [join(dir, 'dags')] })
  return openPlace(settings, { listen: true })
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
  const response = await fetch(`${place.url}${path}`, { ...init, body: JSON.stringify(body) })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

async function start(body: unknown, headers?: Record<string, string>): Promise<string> {
  const { status, json } = await post('/api/dag/run', body, headers)
  expect([status, json.detail]).toEqual([201, undefined])
  expect(ROUTE_SCHEMAS['start-run']?.answer.safeParse(json).error?.issues).toBeUndefined()
  return String(json.run_id)
}

async function eventsUntil(runId: string, type: RunEvent['type']): Promise<RunEvent[]> {
  const url = `${place.url}/api/dag/runs/${runId}/events`
  const messages = await readEvents(url, {}, (seen) => seen.some(({ event }) => event === type))
  return messages.map(({ data }) => data)
}

function digestOf(events: readonly RunEvent[]): string | undefined {
  const asked = events.find(({ type }) => type === 'approval:requested')
  return asked?.type === 'approval:requested' ? asked.data.digest : undefined
}

const transform = (expression: string) => ({
  mode: 'deterministic',
  deterministic: { handler: 'transform', config: { expression } },
})

describe('a run of the local place', () => {
  it('goes from a name to its last event', async () => {
    const runId = await start({ example: 'basic', inputs: { goal: 'Write release notes' } })
    const events = await eventsUntil(runId, 'run:completed')
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, n) => n + 1))
    expect(events.filter(({ type }) => type === 'block:completed').map(({ block_id }) => block_id)).toEqual([
      'plan',
      'implement',
    ])
  })

  it('is started and waited for by one request, which tells what its last blocks published', async () => {
    const dag = {
      name: 'sums',
      inputs: { n: 'number' },
      blocks: [
        { id: 'more', inputs: { n: 'number' }, outputs: { n: 'number' }, ...transform('inputs.n + 1') },
        {
          id: 'double',
          inputs: { n: { type: 'number', from: 'more.n' } },
          outputs: { n: 'number' },
          ...transform('inputs.n * 2'),
        },
        {
          id: 'half',
          inputs: { n: { type: 'number', from: 'more.n' } },
          outputs: { n: 'number' },
          ...transform('inputs.n / 2'),
        },
      ],
    }
    const { status, json } = await post('/api/dag/run?wait=20', { dag, inputs: { n: 3 } })
    expect(status).toBe(201)
    expect(ROUTE_SCHEMAS['start-run']?.answer.safeParse(json).error?.issues).toBeUndefined()
    expect(json).toMatchObject({ state: 'completed', outputs: { double: { n: 8 }, half: { n: 2 } } })
    expect(json.outputs).not.toHaveProperty('more')
    const asked = await post('/api/dag/run?wait=1', { name: 'asking', inputs: { text: 'x' } })
    expect([asked.status, asked.json.state, asked.json.outputs]).toEqual([201, 'running', undefined])
    await post(`/api/dag/runs/${asked.json.run_id}/stop`, {})
    expect((await post('/api/dag/run?wait=21', { name: 'asking', inputs: { text: 'x' } })).status).toBe(400)
    expect((await post('/api/dag/run', { name: 'asking', inputs: { text: 'x' } })).json).not.toHaveProperty('state')
  })

  it('goes on at once where the bytes of its tenant are counted', async () => {
    const settings = SettingsSchema.parse({
      data_dir: join(dir, 'counted'),
      dags: [join(dir, 'dags')],
      safety: { max_tenant_bytes: 1_000_000_000 },
    })
    const counted = await openPlace(settings, {})
    const blocks = [{ id: 'sum', inputs: { n: 'number' }, outputs: { n: 'number' }, ...transform('inputs.n + 1') }]
    const started = (await counted.invoke('start-run', {
      ...{ httpMethod: 'POST', path: '/api/dag/run', pathParameters: null, isBase64Encoded: false },
      queryStringParameters: { wait: '20' },
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ dag: { name: 'sum', inputs: { n: 'number' }, blocks }, inputs: { n: 1 } }),
    })) as { readonly body: string }
    expect(JSON.parse(started.body)).toMatchObject({ state: 'completed', outputs: { sum: { n: 2 } } })
    await counted.close()
  })

  it('takes its document as it is when it starts, however often it was started before', async () => {
    const file = join(dir, 'dags', 'words.yaml')
    const write = (word: string) =>
      writeFileSync(
        file,
        `name: words\nblocks:\n  - id: say\n    outputs: { word: string }\n    mode: deterministic\n    deterministic: { handler: transform, config: { expression: '"${word}"' } }\n`,
      )
    const said = async () => (await post('/api/dag/run?wait=20', { name: 'words' })).json.outputs
    write('one')
    expect([await said(), await said()]).toEqual([{ say: { word: 'one' } }, { say: { word: 'one' } }])
    write('two')
    expect(await said()).toEqual({ say: { word: 'two' } })
    write('one"')
    expect((await post('/api/dag/run', { name: 'words' })).json.code).toBe('invalid_dag')
  })

  it('is started once by one Idempotency-Key; another body is refused', async () => {
    const headers = { 'idempotency-key': 'once' }
    const body = { example: 'basic', inputs: { goal: 'a' } }
    const runId = await start(body, headers)
    const again = await post('/api/dag/run', body, headers)
    expect([again.status, again.json.run_id]).toEqual([200, runId])
    const other = await post('/api/dag/run', { ...body, inputs: { goal: 'b' } }, headers)
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
  })

  it('waits for a person, takes exactly one of ten decisions, and says how it was decided', async () => {
    const runId = await start({ name: 'asking', inputs: { text: 'hello' } })
    const digest = digestOf(await eventsUntil(runId, 'approval:requested'))
    await expect.poll(async () => stateOf(runId)).toBe('paused_approval')
    const asked = await view(runId)
    expect(asked).toMatchObject({
      run: { state: 'paused_approval', waiting_for: expect.stringContaining('approval of publish') },
      blocks: { first: { state: 'completed' }, publish: { state: 'paused_approval' } },
      approvals: [{ block_id: 'publish', status: 'pending', prompt: 'Publish it?', shown: { text: 'hello' }, digest }],
    })
    expect(JSON.stringify(asked)).not.toContain('token"')
    const path = `/api/dag/runs/${runId}/approvals`
    expect((await post(path, { decision: 'approve' })).status).toBe(400)
    expect((await post(path, { decision: 'approve', digest: '0'.repeat(64) })).json.code).toBe('digest_changed')
    const body = { decision: 'approve', digest }
    const all = await Promise.all(
      Array.from({ length: 10 }, () => post(path, body, { 'x-sluice-client': 'cli --yes' })),
    )
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
    const events = await eventsUntil(runId, 'run:completed')
    const decided = events.filter(({ type }) => type === 'approval:decided')
    expect(decided).toMatchObject([
      { data: { decision: 'approve', via: 'local', declared: { client: 'cli', yes: true }, by: { kind: 'user' } } },
    ])
    expect(await view(runId)).toMatchObject({
      run: { state: 'completed', last_seq: events.length },
      steps: [{ block_id: 'first' }, { block_id: 'publish' }],
      approvals: [{ status: 'approved', via: 'local', declared: { client: 'cli', yes: true } }],
    })
  })

  it('goes on where it was when the place is opened again', async () => {
    const runId = await start({ name: 'asking', inputs: { text: 'hello' } })
    const digest = digestOf(await eventsUntil(runId, 'approval:requested'))
    await place.close()
    place = await open()
    await post(`/api/dag/runs/${runId}/approvals`, { block_id: 'publish', decision: 'approve', digest })
    const events = await eventsUntil(runId, 'run:completed')
    expect(events.filter(({ type }) => type === 'block:started').map(({ block_id }) => block_id)).toEqual([
      'first',
      'publish',
    ])
  })

  it('is started by the sweep when its process died between its record and its start', async () => {
    const { world } = place
    const done = await start({ example: 'basic', inputs: { goal: 'a' } })
    await eventsUntil(done, 'run:completed')
    const meta = await world.runs.meta({ tenant: 'main', run_id: done })
    const run_id = newRunId(world.ids.random(17))
    const at = new Date(world.clock.now() - 120_000).toISOString()
    const deadline_at = new Date(world.clock.now() + 60_000).toISOString()
    const { dag_name = '', dag_hash = '', inputs_hash = '' } = meta ?? {}
    const data = { dag_name, dag_hash, inputs_hash, starter: 'user:ana', deadline_at, caps: {} }
    if (meta === undefined) throw new Error('no META')
    await world.runs.create({
      meta: { ...meta, run_id },
      context: { goal: 'a' },
      deadline_at,
      check_at: at,
      event: { type: 'run:started', data },
      outbox: [{ id: 'start', at, kind: 'start_run' }],
    })
    const events = await eventsUntil(run_id, 'run:completed')
    expect(events.at(-1)?.type).toBe('run:completed')
    await expect.poll(async () => (await world.runs.head({ tenant: 'main', run_id }, []))?.outbox).toEqual([])
  })

  it('is refused with every mistake of its document, and nothing is stored', async () => {
    const before = await runCount()
    const { status, json } = await post('/api/dag/run', { dag: 'blocks:\n  - id: a\n    mode: magic\n  - id: a\n' })
    expect([status, json.code]).toEqual([400, 'invalid_dag'])
    expect(json.errors).toEqual(expect.arrayContaining([expect.objectContaining({ line: 3 })]))
    expect((await post('/api/dag/run', { name: 'asking' })).json.code).toBe('invalid_inputs')
    expect(await runCount()).toBe(before)
  })

  it('is validated without being started', async () => {
    const good = await post('/api/dag/validate', { dag: ASKING })
    expect(ROUTE_SCHEMAS['validate-dag']?.answer.safeParse(good.json).error?.issues).toBeUndefined()
    expect(good.json).toMatchObject({
      valid: true,
      order: ['first', 'publish'],
      context_inputs: [{ name: 'text', required: true, declared: true, blocks: ['first'] }],
    })
    const bad = await post('/api/dag/validate', { dag: 'blocks: 3' })
    expect(bad).toMatchObject({ status: 200, json: { valid: false, errors: [{ line: 1 }] } })
  })
})

/** GET run, which must be exactly what its schema says. */
async function view(runId: string): Promise<unknown> {
  const json: unknown = await (await fetch(`${place.url}/api/dag/runs/${runId}`)).json()
  expect(ROUTE_SCHEMAS['get-run']?.answer.safeParse(json).error?.issues).toBeUndefined()
  return json
}

async function stateOf(runId: string): Promise<string> {
  const response = await fetch(`${place.url}/api/dag/runs/${runId}/replay?limit=1`)
  return ((await response.json()) as { status: string }).status
}

async function runCount(): Promise<number> {
  const response = await fetch(`${place.url}/api/dag/runs?limit=500`)
  return ((await response.json()) as { runs: unknown[] }).runs.length
}
