import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPlace, type Place } from '../../infra/local/place.ts'
import { ProblemSchema } from '../../shared/api/route-schema.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import { parseDag } from '../../shared/document/parse.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let dir: string
let place: Place
let port: number
const logged: string[] = []

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-hostile-'))
  const settings = SettingsSchema.parse({ port: 0, data_dir: join(dir, 'data'), dags: [dir] })
  const log = { info: () => undefined, error: (message: string) => void logged.push(message) }
  place = await openPlace(settings, { listen: true, log })
  port = Number(new URL(place.url ?? '').port)
})

afterAll(async () => {
  await place.close()
  rmSync(dir, { recursive: true })
})

/** Status and problem code of one raw request: clients mend what is sent here. */
function answerTo(request: string): Promise<readonly [status: number, code: string | undefined]> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.setTimeout(60_000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const body = text.slice(text.indexOf('\r\n\r\n') + 4)
      const isProblem = /^content-type: application\/problem\+json/im.test(text)
      const code = isProblem && body !== '' ? ProblemSchema.parse(JSON.parse(body)).code : undefined
      resolve([Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), code])
    })
  })
}

interface Given {
  readonly method?: string
  readonly path?: string
  readonly host?: string
  readonly headers?: readonly string[]
  readonly body?: string
}

function ask({ method, path = '/api/health', host = `127.0.0.1:${port}`, headers = [], body }: Given) {
  const type =
    body === undefined || headers.some((line) => /^content-/i.test(line)) ? [] : ['Content-Type: application/json']
  const size = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const lines = [`Host: ${host}`, 'Connection: close', ...type, ...size, ...headers]
  const verb = method ?? (body === undefined ? 'GET' : 'POST')
  return answerTo(`${verb} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body ?? ''}`)
}

const RUN = `/api/dag/runs/run_${'0'.repeat(26)}`
const VALIDATE = '/api/dag/validate'
const START = '/api/dag/run'
const BLOCK = { id: 'a', name: 'A', mode: 'deterministic', deterministic: { handler: 'pass', config: {} } }
const PORTS = { inputs: { n: { type: 'json' } }, outputs: { n: { type: 'json' } } }
const DAG = JSON.stringify({ name: 'hostile', blocks: [{ ...BLOCK, ...PORTS }] })
const started = (rest: string) => ({ path: START, body: `{"dag":${DAG},${rest}}` })

type Case = readonly [name: string, given: Given, status: number, code?: string]

const named = ([name, given, status, code]: Case) => ({ name, given, status, code })

const WHERE: readonly Case[] = [
  ['another host', { host: 'rebound.example' }, 421, 'wrong_host'],
  ['our host with a dot', { host: 'localhost.:4040' }, 421, 'wrong_host'],
  ['an empty host', { host: '' }, 421, 'wrong_host'],
  ['a page of another site', { headers: ['Origin: http://evil.example'] }, 403, 'origin_not_allowed'],
  ['a read by a page of another site', { headers: ['Sec-Fetch-Site: cross-site'] }, 403, 'origin_not_allowed'],
  ['a read by a page of another port', { headers: ['Sec-Fetch-Site: same-site'] }, 403, 'origin_not_allowed'],
  ['a page without an origin', { headers: ['Origin: null'], path: START, body: '{}' }, 403, 'origin_not_allowed'],
  ['a preflight', { method: 'OPTIONS', headers: ['Origin: http://evil.example'] }, 403, 'origin_not_allowed'],
  ['an absolute address', { path: 'http://evil.example/api/health' }, 404, 'route_not_found'],
  ['two slashes', { path: '//api/health' }, 404, 'route_not_found'],
  ['a slash at the end', { path: '/api/health/' }, 404, 'route_not_found'],
  ['dots', { path: '/api/%2e%2e/api/health' }, 404, 'route_not_found'],
  ['an encoded slash', { path: '/api%2Fhealth' }, 404, 'route_not_found'],
  ['an encoded NUL', { path: '/api/health%00' }, 404, 'route_not_found'],
  ['broken encoding', { path: '/api/dag/runs/%ff' }, 400, 'bad_path'],
  ['a very long path', { path: `/${'a'.repeat(15_000)}` }, 404, 'route_not_found'],
  ['headers over 16 KiB', { path: `/${'a'.repeat(17_000)}` }, 431],
  ['a method nobody has', { method: 'PROPFIND' }, 405, 'method_not_allowed'],
  ['TRACE', { method: 'TRACE' }, 405, 'method_not_allowed'],
  ['an id encoded twice', { path: '/api/dag/runs/%252e%252e' }, 404, 'unknown_run'],
  ['an id of 4 KiB', { path: `/api/dag/runs/${'%F0%9F%98%80'.repeat(900)}` }, 404, 'unknown_run'],
  ['an artifact with dots', { path: `${RUN}/artifacts/%2e%2e%2fx` }, 404, 'unknown_run'],
  ['a query key of the prototype', { path: '/api/dag/runs?__proto__=x' }, 400, 'bad_query'],
  ['a query where none is taken', { path: '/api/health?x=%zz' }, 400, 'bad_query'],
  ['a limit in exponents', { path: '/api/dag/runs?limit=1e2' }, 400, 'bad_query'],
  ['a limit below none', { path: '/api/dag/runs?limit=-1' }, 400, 'bad_query'],
  ['a short cursor', { path: '/api/dag/runs?cursor=AAAA' }, 400, 'bad_cursor'],
  ['a forged cursor', { path: `/api/dag/runs?cursor=${'A'.repeat(120)}` }, 400, 'bad_cursor'],
  ['an event id below none', { path: `${RUN}/events`, headers: ['Last-Event-ID: -1'] }, 400, 'bad_cursor'],
  ['an event id in exponents', { path: `${RUN}/events`, headers: ['Last-Event-ID: 1e3'] }, 400, 'bad_cursor'],
]

const HOW: readonly Case[] = [
  ['plain text', { path: VALIDATE, body: '{}', headers: ['Content-Type: text/plain'] }, 415, 'unsupported_media_type'],
  [
    'another charset',
    { path: VALIDATE, body: '{}', headers: ['Content-Type: application/json; charset=utf-16'] },
    415,
    'unsupported_media_type',
  ],
  [
    'a long type',
    { path: VALIDATE, body: '{}', headers: [`Content-Type: application/${'a+'.repeat(6_000)}x`] },
    415,
    'unsupported_media_type',
  ],
  [
    'a length and chunks',
    { path: VALIDATE, method: 'POST', headers: ['Content-Length: 2', 'Transfer-Encoding: chunked'] },
    400,
  ],
  [
    'a huge length',
    { path: VALIDATE, method: 'POST', headers: ['Content-Length: 99999999999'] },
    413,
    'body_too_large',
  ],
  ['a negative length', { path: VALIDATE, method: 'POST', headers: ['Content-Length: -1'] }, 400],
  ['no object', { path: VALIDATE, body: 'null' }, 400, 'bad_body'],
  ['100,000 brackets', { path: VALIDATE, body: '['.repeat(100_000) }, 400, 'json_too_deep'],
  ['a key twice', { path: VALIDATE, body: '{"dag":"a","\\u0064ag":"b"}' }, 400, 'duplicate_key'],
  ['__proto__', { path: VALIDATE, body: '{"dag":{"\\u005f_proto__":{}}}' }, 400, 'forbidden_key'],
  ['constructor', { path: VALIDATE, body: '{"dag":{"constructor":1}}' }, 400, 'forbidden_key'],
  [
    '20,000 unknown keys',
    { path: VALIDATE, body: `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":1`).join()}}` },
    400,
    'bad_body',
  ],
  ['1e999', started('"inputs":{"n":{"a":[1e999]}}'), 400, 'number_too_large'],
  ['400 digits', started(`"inputs":{"n":${'9'.repeat(400)}}`), 400, 'number_too_large'],
  ['a whole number no double holds', started('"inputs":{"n":9007199254740993}'), 400, 'number_inexact'],
  ['a query parameter twice', { path: '/api/dag/runs?limit=1&limit=2' }, 400, 'bad_query'],
  ['half of a character', started('"inputs":{"n":"\\ud800"}'), 400, 'half_character'],
  ['half of a character in a key', started('"inputs":{"n":1},"context":{"\\udc00x":1}'), 400, 'half_character'],
  ['an internal context key', started('"inputs":{"n":1},"context":{"_x":1}'), 400, 'bad_body'],
  ['an override of the prototype', started('"overrides":{"__proto__.x":1}'), 400, 'bad_body'],
  ['an override of nothing', started('"inputs":{"n":1},"overrides":{"toString.valueOf":1}'), 400, 'invalid_inputs'],
  ['an input every object has', started('"inputs":{"n":1,"toString":1}'), 400, 'invalid_inputs'],
  ['inputs over 200 KiB', started(`"inputs":{"n":"${'x'.repeat(210_000)}"}`), 413, 'inputs_too_large'],
  ['an endless deadline', started('"inputs":{"n":1},"options":{"deadline_sec":1e300}'), 400, 'bad_body'],
  ['a path as name', { path: START, body: '{"name":"../../etc/passwd"}' }, 400, 'bad_body'],
  ['an unknown example', { path: START, body: '{"example":"nope"}' }, 404, 'unknown_dag'],
  [
    'an empty idempotency key',
    { ...started('"inputs":{"n":1}'), headers: ['Idempotency-Key: '] },
    400,
    'bad_idempotency_key',
  ],
  [
    'an idempotency key twice',
    { ...started('"inputs":{"n":1}'), headers: ['Idempotency-Key: a', 'Idempotency-Key: b'] },
    400,
    'bad_idempotency_key',
  ],
  [
    'an idempotency key too long',
    { ...started('"inputs":{"n":1}'), headers: [`Idempotency-Key: ${'a'.repeat(256)}`] },
    400,
    'bad_idempotency_key',
  ],
  ['an approval without what was shown', { path: `${RUN}/approvals`, body: '{"decision":"approve"}' }, 400, 'bad_body'],
]

describe('the server', () => {
  it.each(WHERE.map(named))('refuses $name', async ({ given, status, code }) => {
    expect(await ask(given)).toEqual([status, code])
  })

  it.each(HOW.map(named))('refuses a body of $name', async ({ given, status, code }) => {
    expect(await ask(given)).toEqual([status, code])
  })

  it('had no error of its own in all this, kept nothing, and serves', async () => {
    expect(logged).toEqual([])
    expect((await place.world.runs.list('main', { limit: 10 })).runs).toEqual([])
    expect(await ask({})).toEqual([200, undefined])
  })

  it('starts one run for the same key at once, and refuses another body', async () => {
    const headers = ['Idempotency-Key: race']
    const same = await Promise.all(Array.from({ length: 10 }, () => ask({ ...started('"inputs":{"n":1}'), headers })))
    expect(same.map(([status]) => status).toSorted()).toEqual([...Array(9).fill(200), 201])
    const other = await ask({ ...started('"inputs":{"n":2}'), headers })
    expect(other).toEqual([422, 'idempotency_key_reused'])
  })
})

describe('a folder in the place of the lock', () => {
  it.each([
    ['text', (file: string) => writeFileSync(file, 'text '.repeat(1_000)), 'not_our_database'],
    ['a folder', (file: string) => mkdirSync(file), 'store_unavailable'],
  ])('is named: %s', async (name, make, code) => {
    const data_dir = join(dir, `lock-${name.replace(' ', '-')}`)
    mkdirSync(data_dir)
    make(join(data_dir, 'lock'))
    await expect(openPlace(SettingsSchema.parse({ data_dir }))).rejects.toMatchObject({ code })
  })
})

describe('a run', () => {
  let test: TestPlace
  const answer = ''
  beforeAll(async () => {
    test = await openTestPlace({ providers: { evil: provider(() => answer) } })
    writeFileSync(join(test.folder, 'huge.json'), '{"a":1e999}')
    writeFileSync(join(test.folder, 'half.json'), '{"a":"\\ud800"}')
    writeFileSync(join(test.folder, 'deep.json'), '['.repeat(100_000) + ']'.repeat(100_000))
    symlinkSync('/etc/passwd', join(test.folder, 'link.json'))
    symlinkSync('/etc', join(test.folder, 'etc'))
  })
  afterAll(() => test.close())

  async function failure(block: object, more: Readonly<Record<string, unknown>> = {}): Promise<string | undefined> {
    const id = await test.start({ name: 'hostile', blocks: [{ ...BLOCK, ...block }] }, more)
    const failed = (await test.ended(id)).find(({ type }) => type === 'block:failed')
    return failed?.type === 'block:failed' ? failed.data.code : undefined
  }

  const reads = (path: string) => ({
    deterministic: { handler: 'read-input', config: { path } },
    outputs: { o: { type: 'json' } },
  })

  it.each([
    ['a link out of the folder', 'link.json', 'input_outside'],
    ['a folder linked out of it', 'etc/passwd', 'input_outside'],
    ['dots', 'x/../../x', 'input_outside'],
    ['dots of another system', '..\\x', 'input_outside'],
    ['an absolute path', '/etc/passwd', 'input_path'],
    ['a NUL', 'a\0b', 'input_path'],
    ['a name too long', 'a'.repeat(300), 'input_unreadable'],
    ['a number too large', 'huge.json', 'contract'],
    ['half of a character', 'half.json', 'contract'],
    ['100,000 brackets', 'deep.json', 'json_too_deep'],
  ])('that reads %s fails by name', async (_, path, code) => {
    expect(await failure(reads(path))).toMatch(code)
  })

  const stores = { deterministic: { handler: 'write-artifact', config: { name: 'x' } } }
  const body = { inputs: { body: { type: 'string' } }, outputs: { o: { type: 'artifact' } } }
  const hash = 'a'.repeat(64)
  it.each([
    ['of another tenant', `objstore://other/${hash}`, 'object_missing'],
    ['that is not there', `objstore://main/${hash}`, 'object_missing'],
    ['with dots for a tenant', `objstore://../${hash}`, 'bad_object_ref'],
  ])('that names an object %s fails by name', async (_, ref, code) => {
    expect(await failure({ ...stores, ...body }, { inputs: { body: ref } })).toBe(code)
  })

  it('puts no value into a template twice, and no text of a person or model into the machine', async () => {
    const agent = { provider: 'evil', model: 'm', prompt: 'CANARY-prompt {{inputs.x}}' }
    const prompts: string[] = []
    const spy = provider(({ prompt }) => {
      prompts.push(prompt)
      return '{"o":"CANARY-answer"}'
    })
    await test.reopen({ providers: { evil: spy } })
    const dag = {
      name: 'CANARY-name',
      inputs: { secret: { type: 'string', description: 'CANARY-description' } },
      blocks: [{ id: 'a', name: 'CANARY-block', agent, inputs: { x: 'string' }, outputs: { o: 'string' } }],
    }
    const inputs = { x: '{{inputs.secret}} $& {{ inputs.x }}', secret: 'CANARY-secret' }
    await test.ended(await test.start(dag, { inputs }))
    expect(prompts).toEqual(['CANARY-prompt {{inputs.secret}} $& {{ inputs.x }}'])
    const parsed = parseDag(dag, { providers: ['evil'] })
    expect(parsed.ok ? compileDag(parsed.dag).text : 'CANARY').not.toContain('CANARY')
  })
})
