import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../functions/aws/core.ts'
import { ROUTES } from '../../shared/routes.ts'
import { type Behaviour, json, type ProviderServer, raw, serveProvider } from '../emulators/provider-server.ts'

/**
 * Invariant 28: what providers, gates, handlers and people say may hold a secret; no event, answer or log line of ours
 * says it on. The outputs of a block are its author's data: they are objects, and nobody's log.
 */
const KEY = 'sk-canary-0123456789abcdef'
const CANARIES = [
  `Authorization: Bearer canary.token-0123456789`,
  KEY,
  'postgres://bob:canary-pass-1@db.example/x',
  'AKIACANARY0CANARY012',
  'aws_secret_access_key=canarySecret/0123456789abcdefghijklmn',
  '"password": "canary-pass-2-long-enough"',
  'https://b.s3.example/x?X-Amz-Signature=canary7f00&X-Amz-Expires=60',
  'https://c.example/hook?token=canary8',
  'https://c.example/sas?sv=1&sig=canary9%2B',
  'https://c.example/cb?code=canary10&state=1',
  'https://maps.example/api?key=canary11',
  'https://c.example/?access_token=canary12#x',
  'https://c.example/?client_secret=canary13',
  'ghp_canary1400000000000000',
  'xoxb-canary15-0000',
  'whsec_canary1600000000000',
  'eyJcanary170000.eyJcanary.sig',
  'api_key: canary18-0000000',
  'slu_canary19',
  'redis://default:canary-20@cache.example:6379',
]
const SAID = CANARIES.join(' ')
const MAIN = resolve(import.meta.dirname, '../../infra/local/main.ts')

const gate = (name: string, check: object) => ({ name, check, on_fail: 'warn' })
const ask = (id: string, more: object = {}) => ({
  id,
  agent: { provider: 'mine', model: 'm', prompt: id },
  outputs: { text: 'string' },
  ...more,
})

/** Everything that puts words from outside into an event. */
const DAG = {
  name: 'told',
  blocks: [
    ask('refused'),
    ask('broken', { retry: { max_attempts: 2, backoff: 'none', delay_ms: 0 } }),
    ask('answered', {
      post_gates: [
        gate('equals', { type: 'equals', port: 'text', value: 'another' }),
        gate('contains', { type: 'contains', port: 'text', values: ['nothing of it'] }),
        gate('ends', { type: 'ends_with', port: 'text', value: '!' }),
        gate('starts', { type: 'starts_with', port: 'text', value: '!' }),
        gate('one', { type: 'one_of', port: 'text', values: ['a', 'b'] }),
        gate('number', { type: 'range', port: 'text', min: 1, max: 2 }),
        gate('json', { type: 'valid_json', port: 'text' }),
        gate('url', { type: 'valid_url', port: 'text' }),
        gate('like', { type: 'levenshtein', port: 'text', text: 'another', max: 1 }),
        gate('schema', { type: 'json_schema', port: 'text', schema: { const: 'another' } }),
        gate('secrets', { type: 'no_secrets', port: 'text' }),
      ],
    }),
    {
      id: 'thrown',
      mode: 'deterministic',
      inputs: { text: { from: 'answered.text' } },
      outputs: { text: 'string' },
      deterministic: { handler: 'transform', config: { expression: '$error(inputs.text)' } },
    },
  ],
}

const WAITS = { name: 'waits', blocks: [ask('slow')] }

const answers: Readonly<Record<string, Behaviour>> = {
  refused: json(400, { error: { message: `bad request: ${SAID}` } }),
  broken: raw(500, `upstream said ${SAID}`),
  answered: json(200, { text: SAID, model: `m ${KEY}`, finish_reason: SAID }),
  slow: () => {},
}

let folder = ''
let model: ProviderServer
let place: { readonly url: string; stop(): Promise<void> }
let logged = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-secrets-'))
  model = await serveProvider((response, asked) => answers[String(asked.body.prompt)]?.(response, asked), KEY)
  const providers = [`  mine: { type: http, url: "${model.url}", key: { env: MY_KEY } }`]
  providers.push(`  other: { type: http, url: "${model.url}/?token=canary-query", key: { env: NOT_SET } }`)
  writeFileSync(join(folder, 'sluice.yaml'), ['providers:', ...providers].join('\n'))
  const child = spawn(process.execPath, [MAIN, '--port', '0'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, MY_KEY: KEY, SLUICE_LOG: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    logged += text
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  place = {
    url: JSON.parse(String(line)).url,
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
})
afterAll(async () => {
  await place.stop()
  await model.close()
  rmSync(folder, { recursive: true, force: true })
})

async function call(path: string, body?: object): Promise<string> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return (await fetch(`${place.url}${path}`, body === undefined ? {} : init)).text()
}

async function start(dag: object): Promise<string> {
  const text = await call('/api/dag/run', { dag })
  const { run_id } = JSON.parse(text)
  if (run_id === undefined) throw new Error(text)
  return run_id
}

/** Every route that reads, but for the bodies of outputs and artifacts. */
const READS = ROUTES.flatMap(({ method, path }) => {
  return method === 'GET' && !/\{(?!run_id)/.test(path) ? [path] : []
})

const leaks = (texts: readonly string[]) => texts.flatMap((text) => text.match(/.{0,80}canary.{0,30}/gi) ?? [])

describe('a run that was told secrets', () => {
  test('tells none of them: events, answers, streams, logs', async () => {
    const id = await start(DAG)
    await expect.poll(() => call(`/api/dag/runs/${id}`)).toMatch(/"state":"failed"/)
    const stopped = await start(WAITS)
    await expect.poll(() => model.asked.some(({ body }) => body.prompt === 'slow')).toBe(true)
    const stop = await call(`/api/dag/runs/${stopped}/stop`, { reason: `because of ${CANARIES.slice(0, 6).join(' ')}` })
    const told = [stop, await call('/api/dag/run', { dag: `name: ${SAID}` })]
    const paths = [id, stopped].flatMap((run) => READS.map((path) => path.replace('{run_id}', run)))
    for (const path of new Set(paths)) told.push(await call(path))
    const events = await call(`/api/dag/runs/${id}/replay?limit=1000`)
    // The words did come this far, and what they are about can still be read.
    for (const word of ['bad request', 'upstream said', 'another', '[redacted]']) expect(events).toContain(word)
    expect(logged.split('\n').length).toBeGreaterThan(10)
    expect(leaks([...told, events, logged])).toEqual([])
  })

  test('nor does the log of a function on AWS, which writes through its own', () => {
    const lines: string[] = []
    const log = createLog({ level: 'info', facts: {}, write: (line) => lines.push(line) })
    for (const said of CANARIES) {
      log.error(`failed: ${said}`, { error: new Error(said), nested: [{ said }] })
      log.info(said, { authorization: 'canary', reason: said })
    }
    expect(lines.length).toBe(2 * CANARIES.length)
    expect(leaks(lines)).toEqual([])
  })
})
