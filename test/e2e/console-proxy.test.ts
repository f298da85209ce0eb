import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { openPlace } from '../../infra/local/place.ts'
import { ProblemSchema } from '../../shared/api/route-schema.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { cloudFormation } from '../emulators/cloudformation.ts'
import { type Seen, signedGateway } from '../emulators/signed-gateway.ts'
import { firstDaily } from '../how-much.ts'
import { findBrowser, openBrowser, openPage } from './browser.ts'
import { sluice, startSluice } from './run-cli.ts'

const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
const TOKEN = 'FwoGZXIvYXdzE+session/token=='
const KEYS = {
  AKIAGOOD: { secret: SECRET },
  ASIASESSION: { secret: SECRET, token: TOKEN },
  ASIAEXPIRED: { secret: SECRET, token: TOKEN, expired: true },
  AKIADENIED: { secret: SECRET, denied: true },
} as const
const BIN = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))

const seen: Seen[] = []
/** Streams under way, and whether the other side has gone. */
const streams: { write(text: string): void; readonly gone: Promise<unknown> }[] = []
/** What a test started, and what all may use: each is stopped behind them. */
const running: (() => Promise<unknown>)[] = []
const lasting: (() => Promise<unknown>)[] = []
let gateway: Awaited<ReturnType<typeof signedGateway>>
let stacks: Awaited<ReturnType<typeof cloudFormation>>

beforeAll(async () => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/install-if-needed.mjs', import.meta.url))])
  gateway = await signedGateway(KEYS, (call, response, asked) => {
    seen.push(call)
    const gone = once(asked.socket, 'close')
    if (call.path.endsWith('/verify')) return void streams.push({ write: () => undefined, gone })
    if (call.path.endsWith('/events')) {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-amzn-requestid': 'r-1' }).flushHeaders()
      streams.push({ write: (text) => void response.write(text), gone })
      return
    }
    response.writeHead(200, { 'content-type': 'application/json', etag: '"e1"', 'set-cookie': 'a=b' })
    const answer = { status: 'ok', runs: [], next_cursor: null, run_id: 'run_1', dag_name: 'basic' }
    response.end(JSON.stringify({ ...answer, echo: call.body.toString('utf8') }))
  })
  stacks = await cloudFormation({
    'sluice-dev-api': { Url: `${gateway.url}/dev/` },
    'sluice-dev-data': { Table: 'x' },
  })
})

afterEach(async () => {
  gateway.clock.ahead_ms = 0
  for (const stop of running.splice(0)) await stop()
})

afterAll(async () => {
  for (const stop of lasting.splice(0)) await stop()
  await gateway.close()
  await stacks.close()
})

function environment(id: keyof typeof KEYS | 'AKIAUNKNOWN' | undefined, secret = SECRET): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_CLOUDFORMATION: stacks.url,
    AWS_REGION: 'eu-central-1',
    AWS_CONFIG_FILE: '/nowhere',
    AWS_SHARED_CREDENTIALS_FILE: '/nowhere',
    AWS_EC2_METADATA_DISABLED: 'true',
    ...(id !== undefined && { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret }),
    ...(id?.startsWith('ASIA') === true && { AWS_SESSION_TOKEN: TOKEN }),
  }
}

/** `sluice console --stack dev`, as a process with its own credentials. */
function proxied(id: Parameters<typeof environment>[0], secret?: string) {
  return startProxy(['--stack', 'dev'], environment(id, secret))
}

const shared = new Map<string, ReturnType<typeof startProxy>>()

/** The one of these credentials that every test may ask, but those that stop it or look at how it begins. */
function sharedProxy(id: keyof typeof KEYS) {
  const there = shared.get(id) ?? startProxy(['--stack', 'dev'], environment(id), lasting)
  shared.set(id, there)
  return there
}

async function startProxy(where: readonly string[], env: Readonly<Record<string, string>>, until = running) {
  const child = spawn(process.execPath, [BIN, 'console', ...where, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SLUICE_URL: '', SLUICE_TOKEN: '', ...env },
  })
  const ended = once(child, 'close')
  const stop = (): Promise<readonly unknown[]> => {
    child.kill('SIGINT')
    return ended
  }
  until.push(stop)
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
  if (typeof line !== 'string') throw new Error(`it ended: ${err}`)
  const opened = String(JSON.parse(line).url)
  const url = new URL(opened).origin
  const entered = await fetch(opened, { redirect: 'manual' })
  cookies.set(url, entered.headers.get('set-cookie')?.split(';')[0] ?? '')
  return { url, opened, err: () => err, stop }
}

/** What each proxy gave to who opened its address. */
const cookies = new Map<string, string>()

/** A call of the page that was opened so. */
function page(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('cookie', [headers.get('cookie') ?? [], cookies.get(new URL(url).origin) ?? []].flat().join('; '))
  return fetch(url, { ...init, headers })
}

async function refusal(url: string, init: RequestInit = {}) {
  const response = await page(url, init)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const problem = ProblemSchema.parse(await response.json())
  expect(problem.status).toBe(response.status)
  return [response.status, problem.code, problem.detail] as const
}

/** fetch() tidies paths and sets its own Host. */
function statusOf(base: string, path: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(base, { path, headers: { cookie: cookies.get(base) ?? '', ...headers } }, (response) =>
      resolve(response.resume().statusCode),
    )
      .on('error', reject)
      .end()
  })
}

describe('sluice console --stack', () => {
  test('serves the page here and signs its calls: query, body and headers arrive as they were', async () => {
    const { url, stop } = await proxied('AKIAGOOD')
    const shell = await page(`${url}/dag`)
    expect([shell.status, shell.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await shell.text()).toContain('<div id="app">')
    const query = "dag=a b+c/d&e=ä*!'()~&x=2&x=1&empty="
    const list = await page(`${url}/api/dag/runs?${query.replace('+', '%2B').replace('&e', '%26e')}`, {
      headers: { cookie: 'mine=1', authorization: 'Bearer page', 'x-amz-date': 'page', 'if-none-match': '"e0"' },
    })
    expect([list.status, list.headers.get('etag'), list.headers.get('set-cookie')]).toEqual([200, '"e1"', null])
    const get = seen.at(-1)
    expect(get?.path).toBe('/dev/api/dag/runs')
    expect(get?.query.getAll('x').toSorted()).toEqual(['1', '2'])
    expect([get?.query.get('dag'), get?.query.get('empty')]).toEqual(["a b+c/d&e=ä*!'()~", ''])
    expect(get?.headers).toMatchObject({ 'if-none-match': '"e0"' })
    expect(get?.headers.cookie).toBeUndefined()

    const body = JSON.stringify({ name: 'basic', context: { goal: 'Grüße 🌊 + "quotes"' } })
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k-1', origin: url }
    const post = await page(`${url}/api/dag/run`, { method: 'POST', body, headers })
    expect(await post.json()).toMatchObject({ echo: body })
    expect(seen.at(-1)?.headers).toMatchObject({ 'idempotency-key': 'k-1', 'content-type': 'application/json' })
    expect(seen.at(-1)?.headers.origin).toBeUndefined()
    const stopped = await page(`${url}/api/dag/runs/run_1/artifacts/a%20b%2Fc(1).md`, { method: 'POST' })
    expect([stopped.status, seen.at(-1)?.path]).toEqual([200, '/dev/api/dag/runs/run_1/artifacts/a%20b%2Fc(1).md'])
    expect((await stop())[0]).toBe(0)
  })

  test('signs with the session token of a role', { tags: ['thorough'] }, async () => {
    const { url } = await proxied('ASIASESSION')
    expect((await page(`${url}/api/health`)).status).toBe(200)
    expect(seen.at(-1)?.headers['x-amz-security-token']).toBe(TOKEN)
  })

  test('hands events on one by one, and ends the call when the page goes away', async () => {
    const { url } = await sharedProxy('AKIAGOOD')
    const away = new AbortController()
    const response = await page(`${url}/api/dag/runs/run_1/events`, {
      headers: { accept: 'text/event-stream', 'last-event-id': '7' },
      signal: away.signal,
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('x-amzn-requestid')).toBeNull()
    expect(seen.at(-1)?.headers['last-event-id']).toBe('7')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const stream = streams.at(-1)
    // The second is written only when the first has been read: nothing waits for the end.
    for (const text of ['id: 8\ndata: {"a":1}\n\n', ': heartbeat\n\n', 'id: 9\ndata: {}\n\n']) {
      stream?.write(text)
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(text)
    }
    away.abort()
    await stream?.gone
  })

  test('asks for a secret of its own: who only knows the port gets the page, and no call', async () => {
    const { url, opened } = await sharedProxy('AKIAGOOD')
    const secret = new URL(opened).searchParams.get('login') ?? ''
    expect(secret).toMatch(/^[\w-]{32}$/)
    const before = seen.length
    const cookie = cookies.get(url) ?? ''
    const name = cookie.split('=')[0] ?? ''
    const strangers: readonly Record<string, string>[] = [
      {},
      { cookie: '' },
      { cookie: `${name}=` },
      { cookie: `${name}=${secret}` },
      { cookie: `${cookie}0` },
      { cookie: `${name}x=1; other=${cookie.split('=')[1]}` },
      { authorization: `Bearer ${secret}` },
    ]
    for (const headers of strangers) {
      for (const method of ['GET', 'POST']) {
        const answer = await fetch(`${url}/api/dag/runs`, { method, headers })
        expect([headers, answer.status, await answer.json()]).toEqual([
          headers,
          401,
          expect.objectContaining({ code: 'login_needed' }),
        ])
      }
    }
    expect((await fetch(`${url}/api/dag/runs?login=${secret}`)).status).toBe(401)
    expect((await fetch(`${url}/?login=${secret.slice(1)}`)).status).toBe(401)
    expect((await fetch(`${url}/?login=`)).status).toBe(401)
    const stranger = await fetch(`${url}/`)
    expect([stranger.status, stranger.headers.get('set-cookie')]).toEqual([200, null])
    expect(seen.length).toBe(before)

    const entered = await fetch(opened, { redirect: 'manual' })
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/'])
    expect(entered.headers.get('set-cookie')).toMatch(/; Path=\/api; HttpOnly; SameSite=Strict$/)
    expect((await page(`${url}/api/dag/runs`)).status).toBe(200)
    // Each start has another one.
    expect((await proxied('AKIAGOOD')).opened.split('=')[1]).not.toBe(secret)
  })

  const chromium = findBrowser()
  test.skipIf(chromium === undefined)('works in a browser that was given its address, and in no other', async () => {
    const { url, opened } = await sharedProxy('AKIAGOOD')
    const browser = await openBrowser(chromium ?? '')
    try {
      const ours = await openPage(browser, url)
      const listed = ours.page.waitForResponse((one) => one.url().includes('/api/'))
      await ours.page.goto(opened)
      expect([(await listed).status(), new URL(ours.page.url()).search]).toEqual([200, ''])
      const stranger = await browser.newContext()
      const other = await stranger.newPage()
      const refused = other.waitForResponse((one) => one.url().includes('/api/'))
      await other.goto(`${url}/`)
      expect((await refused).status()).toBe(401)
    } finally {
      await browser.close()
    }
  })

  test('ends a call that has no answer yet when the page goes away', async () => {
    const { url } = await sharedProxy('AKIAGOOD')
    const before = streams.length
    const away = new AbortController()
    const asked = page(`${url}/api/dag/runs/run_1/verify`, { signal: away.signal })
    await expect.poll(() => streams.length).toBe(before + 1)
    away.abort()
    await expect(asked).rejects.toThrow('aborted')
    await streams.at(-1)?.gone
  })

  test('keeps other sites and other paths out', async () => {
    const { url } = await sharedProxy('AKIAGOOD')
    const before = seen.length
    expect(await statusOf(url, '/', { host: 'evil.test' })).toBe(421)
    expect((await refusal(`${url}/api/health`, { headers: { origin: 'http://evil.test' } }))[1]).toBe(
      'origin_not_allowed',
    )
    for (const site of ['cross-site', 'same-site']) {
      expect(await statusOf(url, '/api/health', { 'sec-fetch-site': site })).toBe(403)
    }
    for (const path of ['/api/../admin', '/api/%2e%2e/admin', '/api/..%5c..%5cadmin', '/api/../../api/x']) {
      expect([path, await statusOf(url, path)]).toEqual([path, path.includes('%5c') ? 200 : 400])
    }
    expect(await statusOf(url, '/apis')).toBe(404)
    expect(seen.slice(before).map(({ path }) => path)).toEqual(['/dev/api/..%5c..%5cadmin'])
    const large = await refusal(`${url}/api/dag/run`, { method: 'POST', body: 'x'.repeat(10_485_761) })
    expect(large.slice(0, 2)).toEqual([413, 'body_too_large'])
  })

  for (const { tags, rows } of firstDaily(1, [
    ['AKIAGOOD', 'another secret', 401, 'aws_credentials_refused', 'get-caller-identity'],
    ['AKIAUNKNOWN', SECRET, 401, 'aws_credentials_refused', '--profile'],
    ['ASIAEXPIRED', SECRET, 401, 'aws_credentials_expired', 'aws sso login'],
    ['AKIADENIED', SECRET, 403, 'aws_caller_denied', 'execute-api:Invoke'],
  ] as const))
    test.each(rows)('says what to do when %s with %j is refused', { tags }, async (id, secret, status, code, words) => {
      const { url, err } = await proxied(id, secret)
      const [seenStatus, seenCode, detail] = await refusal(`${url}/api/health`)
      expect([seenStatus, seenCode]).toEqual([status, code])
      expect(detail).toContain(words)
      await refusal(`${url}/api/health`)
      await expect.poll(err).toContain(`[${code}]`)
      // In the terminal once, however often the page asks; and never the secret, nowhere.
      expect(err().split(`[${code}]`)).toHaveLength(2)
      expect(`${detail} ${err()}`).not.toMatch(new RegExp(`${SECRET.slice(0, 12)}|${TOKEN.slice(0, 12)}`))
    })

  for (const { tags, rows } of firstDaily(1, [600_000, -600_000]))
    test.each(rows)('says that a clock is wrong when AWS is %d ms ahead', { tags }, async (ahead) => {
      gateway.clock.ahead_ms = ahead
      const { url } = await sharedProxy('AKIAGOOD')
      const [status, code, detail] = await refusal(`${url}/api/health`)
      expect([status, code]).toEqual([401, 'aws_clock_differs'])
      expect(detail).toMatch(/Set the clock.*AWS says: Signature (expired|not yet current)/)
    })

  test('ends with words when there is nothing to stand in front of', async () => {
    const run = (args: readonly string[], id?: keyof typeof KEYS, env = {}) =>
      sluice(['console', '--port', '0', ...args], { env: { ...environment(id), ...env } })
    // One behind the other: they share a process.
    const none = await run(['--stack', 'dev'])
    const unknown = await run(['--stack', 'prod'], 'AKIAGOOD')
    const without = await run(['--stack', 'sluice-dev-data'], 'AKIAGOOD')
    const both = await run(['--stack', 'dev', '--url', gateway.url], 'AKIAGOOD')
    const noRegion = await run(['--stack', 'dev'], 'AKIAGOOD', { AWS_REGION: '' })
    expect(none.err).toMatch(/--profile or AWS_PROFILE.*\[no_aws_credentials\]/s)
    expect(unknown.err).toMatch(/no stack "sluice-prod-api".*\[stack_not_found\]/s)
    expect(without.err).toMatch(/no output Url \(its outputs: Table\).*\[stack_without_url\]/s)
    expect(noRegion.err).toMatch(/--region or AWS_REGION.*\[no_aws_region\]/s)
    expect([none, unknown, without, noRegion, both].map(({ code }) => code)).toEqual([1, 1, 1, 1, 2])
  })
})

describe('every command of the CLI', () => {
  test('signs for --stack, and its hints name the stack again', async () => {
    const env = environment('ASIASESSION')
    const list = await sluice(['run', 'list', '--stack', 'dev', '--json', '--dag', 'a b+c'], { env })
    expect([list.code, list.err]).toEqual([0, ''])
    expect([seen.at(-1)?.path, seen.at(-1)?.query.get('dag')]).toEqual(['/dev/api/dag/runs', 'a b+c'])
    expect(seen.at(-1)?.query.has('stack')).toBe(false)
    const start = await sluice(['run', 'start', '--example', 'basic', '--stack', 'dev'], { env })
    expect(start.out).toMatch(/^Started run run_1 of basic.*^Follow it: sluice run watch run_1 --stack dev$/ms)
    const denied = await sluice(['run', 'list', '--stack', 'dev'], { env: environment('AKIADENIED') })
    expect([denied.code, denied.err]).toEqual([1, expect.stringContaining('[aws_caller_denied]')])
  })

  test('signs for an address of API Gateway without being told to', async () => {
    // Found by the address alone: without credentials nothing is sent to it.
    const url = 'https://abc123.execute-api.eu-central-1.amazonaws.com/dev'
    const done = await sluice(['run', 'list', '--url', url], { env: { ...environment(undefined), AWS_REGION: '' } })
    expect([done.code, done.err]).toEqual([1, expect.stringContaining('[no_aws_credentials]')])
  })

  test('signs for an address and a region, without CloudFormation', async () => {
    const env = { ...environment('AKIAGOOD'), AWS_ENDPOINT_URL_CLOUDFORMATION: 'http://127.0.0.1:1', AWS_REGION: '' }
    const list = await sluice(['run', 'list', '--url', `${gateway.url}/dev`, '--region', 'eu-west-1', '--json'], {
      env,
    })
    expect([list.code, list.err]).toEqual([0, ''])
    expect(seen.at(-1)?.headers.authorization).toContain('/eu-west-1/execute-api/')
  })
})

describe('sluice console', () => {
  test('in front of a server that a token opens sends it along, and the page does not get it', async () => {
    const asked: (string | undefined)[] = []
    const server = createServer((call, response) => {
      asked.push(`${call.headers.authorization} ${call.url}`)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}')
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    running.push(async () => server.close())
    const { port } = server.address() as AddressInfo
    const { url } = await startProxy(['--url', `http://127.0.0.1:${port}/dev`], { SLUICE_TOKEN: 'slu_id_secret' })
    const answer = await page(`${url}/api/health`)
    expect([await answer.text(), asked]).toEqual(['{"status":"ok"}', ['Bearer slu_id_secret /dev/api/health']])
    expect(`${JSON.stringify([...answer.headers])} ${await (await page(url)).text()}`).not.toContain('slu_id')
    const taken = await sluice(['console', '--url', `http://127.0.0.1:${port}/dev`, '--port', new URL(url).port])
    expect([taken.code, taken.err]).toEqual([1, expect.stringContaining('[port_taken]')])
  })

  test('in front of a local place that asks for tokens serves its page as whose the token is', {
    tags: ['thorough'],
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-token-place-'))
    writeFileSync(join(folder, 'sluice.yaml'), 'version: 1\nauth: { mode: token }\n')
    const place = await startSluice(['start', '--port', '0', '--json'], folder)
    running.push(() => place.stop('SIGTERM').finally(() => rmSync(folder, { recursive: true })))
    const at = String(place.first.url)
    const token = readFileSync(join(folder, '.sluice', 'first-token'), 'utf8').trim()
    const { url } = await startProxy(['--url', at], { SLUICE_TOKEN: token })
    expect(url).not.toBe(at)
    expect([(await page(`${url}/api/dag/runs`)).status, (await fetch(`${url}/api/dag/runs`)).status]).toEqual([
      200, 401,
    ])
    expect((await fetch(`${at}/api/dag/runs`)).status).toBe(401)
    // Without a token it says what is missing, and with a wrong one too, instead of an address that shows nothing.
    for (const env of [{}, { SLUICE_TOKEN: `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}` }]) {
      const refused = await sluice(['console', '--url', at], { env, cwd: folder })
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('[unauthenticated]')])
    }
  })

  test('of a place that asks for nothing is its own page, whatever token is set', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-open-place-'))
    const settings = SettingsSchema.parse({ data_dir: join(folder, 'data'), port: 0 })
    const place = await openPlace(settings, { listen: true })
    running.push(() => place.close().finally(() => rmSync(folder, { recursive: true })))
    const at = String(place.url)
    const shown = await sluice(['console', '--url', at, '--json'], { env: { SLUICE_TOKEN: 'slu_of_a_stage' } })
    expect(JSON.parse(shown.out)).toEqual({ url: `${at}/` })
  })

  test('without a server says how to start one', async () => {
    const done = await sluice(['console', '--url', 'http://127.0.0.1:1'])
    expect([done.code, done.err]).toEqual([1, expect.stringContaining('sluice start')])
  })
})
