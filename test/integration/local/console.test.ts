import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPlace, type Place } from '../../../infra/local/place.ts'
import { ProblemSchema } from '../../../shared/api/route-schema.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

/** A build as Vite writes it, and beside it what must never leave the machine. */
const folder = mkdtempSync(join(tmpdir(), 'sluice-console-'))
const dir = join(folder, 'console')
const PAGE = '<!doctype html><title>Sluice</title><script type="module" src="/assets/index-Bcxs-K02.js"></script>'
const SCRIPT = `export const words = ${JSON.stringify('gates and water '.repeat(400))}`
let place: Place
let base: string

beforeAll(async () => {
  mkdirSync(join(dir, 'assets'), { recursive: true })
  writeFileSync(join(folder, 'secret.txt'), 'not for the page')
  writeFileSync(join(dir, 'index.html'), PAGE)
  writeFileSync(join(dir, 'assets', 'index-Bcxs-K02.js'), SCRIPT)
  writeFileSync(join(dir, 'assets', 'index-a_ob6c3B.css'), 'body { color: red }')
  writeFileSync(join(dir, 'assets', 'mark-a1b2c3d4.png'), Uint8Array.of(0x89, 0x50, 0x4e, 0x47))
  place = await opened(join(folder, 'data'), dir)
  base = place.url ?? ''
})

afterAll(async () => {
  await place.close()
  rmSync(folder, { recursive: true })
})

function opened(data_dir: string, console_dir: string): Promise<Place> {
  return openPlace(SettingsSchema.parse({ port: 0, data_dir, dags: [] }), { listen: true, console_dir })
}

interface Answer {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly bytes: Buffer
}

/** As it is on the wire: fetch() would decompress, and tidy the path. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(base, { method, path, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) }),
      )
    })
    asked.on('error', reject).end()
  })
}

describe('the console of the local server', () => {
  it.each(['/', '/dag', '/dag/', '/index.html', '/?theme=dark'])('is one page, also at %s', async (path) => {
    const { status, headers, bytes } = await get(path)
    expect([status, String(bytes)]).toEqual([200, PAGE])
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-length': String(PAGE.length),
    })
  })

  it.each([
    ['/assets/index-Bcxs-K02.js', 'text/javascript; charset=utf-8'],
    ['/assets/index-a_ob6c3B.css', 'text/css; charset=utf-8'],
    ['/assets/mark-a1b2c3d4.png', 'image/png'],
  ])('has %s with its media type, kept for good since its name has a hash', async (path, type) => {
    const { status, headers } = await get(path)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe(type)
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
  })

  it.each(['/', '/assets/index-Bcxs-K02.js'])(
    'says at %s what a browser may do: nothing from elsewhere, in no frame',
    async (path) => {
      const { headers } = await get(path)
      const policy = String(headers['content-security-policy'])
      expect(policy).toMatch(/(^|; )default-src 'self'(;|$)/)
      expect(policy).toMatch(/frame-ancestors 'none'/)
      expect(policy).not.toMatch(/unsafe|\*|https?:/)
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    },
  )

  it('is compressed as the browser likes it, and each form has a tag of its own', async () => {
    const path = '/assets/index-Bcxs-K02.js'
    const [plain, br, gzip, refused] = await Promise.all([
      get(path),
      get(path, { 'accept-encoding': 'gzip, deflate, br' }),
      get(path, { 'accept-encoding': 'gzip' }),
      get(path, { 'accept-encoding': 'br;q=0, gzip;q=0.0' }),
    ])
    expect(br.headers['content-encoding']).toBe('br')
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect([plain, refused].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, undefined])
    expect(br.bytes.byteLength).toBeLessThan(SCRIPT.length / 4)
    const texts = [plain.bytes, brotliDecompressSync(br.bytes), gunzipSync(gzip.bytes), refused.bytes].map(String)
    expect(new Set(texts)).toEqual(new Set([SCRIPT]))
    expect(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size).toBe(3)
    expect(br.headers.vary).toBe('accept-encoding')
    const image = await get('/assets/mark-a1b2c3d4.png', { 'accept-encoding': 'br' })
    expect(image.headers['content-encoding']).toBeUndefined()
  })

  it('answers 304 without a body to who has it already', async () => {
    const etag = String((await get('/')).headers.etag)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, headers, bytes } = await get('/', { 'if-none-match': known })
      expect([status, bytes.byteLength, headers['content-length']]).toEqual([304, 0, undefined])
      expect(headers.etag).toBe(etag)
    }
    expect((await get('/', { 'if-none-match': '"other"' })).status).toBe(200)
  })

  it('answers HEAD with the headers of GET, and nothing else', async () => {
    const [head, whole] = [await get('/', {}, 'HEAD'), await get('/')]
    expect([head.status, head.bytes.byteLength]).toEqual([200, 0])
    expect({ ...head.headers, date: '' }).toEqual({ ...whole.headers, date: '' })
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('takes no %s', async (method) => {
    const { status, headers, bytes } = await get('/', {}, method)
    expect(ProblemSchema.parse(JSON.parse(String(bytes))).code).toBe('method_not_allowed')
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it.each([
    '/nothing',
    '/assets/',
    '/assets',
    '/assets/index-Bcxs-K02.js/',
    '/assets/../../secret.txt',
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/assets/..%5c..%5csecret.txt',
    '//secret.txt',
    '/index.html%00.js',
    '/DAG',
  ])('has nothing at %s: problem+json of the API', async (path) => {
    const { status, headers, bytes } = await get(path)
    expect(headers['content-type']).toBe('application/problem+json')
    expect([status, ProblemSchema.parse(JSON.parse(String(bytes))).code]).toEqual([404, 'route_not_found'])
  })

  it('keeps what is beside it, however the request line is written', async () => {
    for (const target of ['/../secret.txt', 'http://evil.test/../secret.txt', '/assets/../../secret.txt#x']) {
      expect(await rawAnswer(target)).not.toContain('not for the page')
    }
  })

  it('is behind the guard of the server: another name is 421, a page of another site 403', async () => {
    expect((await get('/', { host: 'evil.test' })).status).toBe(421)
    expect((await get('/', { origin: 'http://evil.test' })).status).toBe(403)
    expect((await get('/assets/index-Bcxs-K02.js', { origin: base })).status).toBe(200)
  })

  it('says how to build it where it is not built, and is there once it is', async () => {
    const later = join(folder, 'later')
    const other = await opened(join(folder, 'data-2'), later)
    try {
      const before = await fetch(`${other.url}/`)
      expect([before.status, before.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8'])
      expect(await before.text()).toContain('npm run build')
      expect((await fetch(`${other.url}/api/health`)).status).toBe(200)
      mkdirSync(later)
      writeFileSync(join(later, 'index.html'), 'first')
      expect(await (await fetch(`${other.url}/dag`)).text()).toBe('first')
      writeFileSync(join(later, 'index.html'), 'second')
      utimesSync(join(later, 'index.html'), 1, 1)
      expect(await (await fetch(`${other.url}/dag`)).text()).toBe('second')
    } finally {
      await other.close()
    }
  })
})

function rawAnswer(target: string): Promise<string> {
  const { port } = new URL(base)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), '127.0.0.1', () =>
      socket.write(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n\r\n`),
    )
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    socket.on('end', () => resolve(text)).on('error', reject)
  })
}
