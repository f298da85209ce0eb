import { createServer, type Server } from 'node:http'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type LoginPlace, openLoginPlace } from './login-place.ts'

/** An issuer: what it says its keys are, and how often it was asked. */
const issuer = { url: '', keys: [] as JWK[], asked: 0, broken: false }
let server: Server
let at: LoginPlace
let key: CryptoKey
let other: CryptoKey

beforeAll(async () => {
  server = createServer((_request, response) => {
    issuer.asked += 1
    if (issuer.broken) return response.writeHead(500).end()
    return response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: issuer.keys }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  issuer.url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
  key = await addKey('first')
  other = (await generateKeyPair('ES256')).privateKey
  const jwt = { issuer: issuer.url, audience: ['sluice', 'tools'], scopes_claim: 'scope' }
  at = await openLoginPlace({ mode: 'jwt', jwt })
})
afterAll(async () => {
  await at.close()
  server.close()
})
afterEach(() => void vi.useRealTimers())

/** A new key of the issuer, and its public half among those it shows. */
async function addKey(kid: string): Promise<CryptoKey> {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  issuer.keys = [...issuer.keys, { ...(await exportJWK(publicKey)), kid, alg: 'ES256' }]
  return privateKey
}

const HOUR_SEC = 3_600
const nowSec = () => Math.floor(Date.now() / 1_000)

interface Claims {
  readonly [claim: string]: unknown
}

function sign(claims: Claims = {}, { kid = 'first', by = key }: { kid?: string; by?: CryptoKey } = {}) {
  const usual = { iss: issuer.url, aud: 'sluice', sub: 'ana', exp: nowSec() + HOUR_SEC, scope: 'openid runs:read' }
  return new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg: 'ES256', kid }).sign(by)
}

const get = (path: string, jwt: string) => at.send('GET', path, `Bearer ${jwt}`)

async function codeOf(jwt: string, path = '/api/dag/runs') {
  const { status, json } = await get(path, jwt)
  return status === 200 ? 200 : `${status} ${json.code}`
}

describe('a JWT of the issuer', () => {
  test('is its subject, with our scopes of its claim and no others', async () => {
    expect(await codeOf(await sign())).toBe(200)
    expect(await codeOf(await sign(), '/api/tokens')).toBe('403 missing_scope')
    const { json } = await get('/api/tokens', await sign())
    expect(String(json.detail)).toContain('as user:ana:')
    expect(String(json.detail)).toContain('the credential has runs:read')
  })

  test.each([
    ['a list', ['runs:read'], 200],
    ['text', 'runs:read', 200],
    ['nothing of ours', 'openid email', '403 missing_scope'],
    ['a number', 7, '403 missing_scope'],
    ['part of a word', 'xruns:read', '403 missing_scope'],
  ])('may hold its scopes as %s', async (_what, scope, expected) => {
    expect(await codeOf(await sign({ scope }))).toBe(expected)
  })

  test('may be for one of several audiences, and name several itself', async () => {
    expect(await codeOf(await sign({ aud: ['other', 'tools'] }))).toBe(200)
  })

  const REFUSED: readonly (readonly [string, () => string | Promise<string>])[] = [
    ['of another issuer', () => sign({ iss: 'https://id.example.com/' })],
    ['of an issuer without its slash', () => sign({ iss: issuer.url.slice(0, -1) })],
    ['for another audience', () => sign({ aud: 'other' })],
    ['for no audience', () => sign({ aud: undefined })],
    ['that has expired', () => sign({ exp: nowSec() - 60 })],
    ['that does not expire', () => sign({ exp: undefined })],
    ['of the future', () => sign({ nbf: nowSec() + HOUR_SEC })],
    ['of nobody', () => sign({ sub: undefined })],
    ['of a subject with a space', () => sign({ sub: 'ana bob' })],
    ['by a key of somebody else', () => sign({}, { by: other })],
    ['by a key nobody knows', () => sign({}, { kid: 'nobody', by: other })],
    ['without a signature', async () => `${(await sign()).split('.').slice(0, 2).join('.')}.`],
    ['with algorithm none', async () => unsigned({ alg: 'none' }, await sign())],
    ['with a shared secret', async () => unsigned({ alg: 'HS256', kid: 'first' }, await sign(), 'eA')],
    ['that names a key of its own', async () => unsigned({ alg: 'ES256', jwk: issuer.keys[0] }, await sign(), 'eA')],
    ['that is none', () => 'abc'],
    ['that is a token of ours', () => `slu_${'0'.repeat(16)}_${'0'.repeat(32)}`],
  ]
  test.each(REFUSED)('%s is refused', async (_what, make) => {
    expect(await codeOf(await make())).toBe('401 unauthenticated')
  })

  test('names its tenant where the settings say which claim does, and only one there is', async () => {
    const jwt = { issuer: issuer.url, audience: 'sluice', scopes_claim: 'scope', tenant_claim: 'org' }
    const several = await openLoginPlace({ mode: 'jwt', jwt }, ['main', 'acme'])
    const scope = 'runs:read runs:write safety:read'
    const list = (token: string) => several.send('GET', '/api/config', `Bearer ${token}`)
    expect((await list(await sign({ scope, org: 'acme' }))).json).toMatchObject({ config: { tenants: ['acme'] } })
    expect((await list(await sign({ scope, org: 'main' }))).json).toMatchObject({ config: { tenants: ['main'] } })
    const nobody = await list('abc')
    expect(nobody.status).toBe(401)
    for (const org of [undefined, 'globex', '', 'ACME', ['acme'], { acme: true }, 'constructor']) {
      expect(await list(await sign({ scope, org }))).toEqual(nobody)
    }
    await several.close()
  })

  test('changed after it was signed is refused', async () => {
    const [head = '', , signature = ''] = (await sign()).split('.')
    const claims = { iss: issuer.url, aud: 'sluice', sub: 'bob', exp: nowSec() + HOUR_SEC, scope: 'admin:tokens' }
    expect(await codeOf([head, base64(claims), signature].join('.'))).toBe('401 unauthenticated')
  })
})

describe('keys of the issuer', () => {
  test('are asked for once, not again for each key that nobody knows', async () => {
    await codeOf(await sign())
    const before = issuer.asked
    for (let i = 0; i < 20; i += 1) await codeOf(await sign({}, { kid: `guess-${i}`, by: other }))
    expect(issuer.asked - before).toBeLessThanOrEqual(1)
  })

  test('may be changed: a new one is found half a minute later, an old one is refused when it is no longer there', async () => {
    const newer = await addKey('second')
    issuer.keys = issuer.keys.slice(1)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
    expect(await codeOf(await sign({}, { kid: 'second', by: newer }))).toBe(200)
    expect(await codeOf(await sign())).toBe('401 unauthenticated')
  })

  test('that cannot be read are no fault of the caller', async () => {
    const jwt = { issuer: 'https://id.example.com/', audience: 'a', jwks_url: `${issuer.url}broken`, scopes_claim: 's' }
    const there = await openLoginPlace({ mode: 'jwt', jwt })
    issuer.broken = true
    const token = await sign({ iss: jwt.issuer, aud: 'a' })
    const { status, json, text } = await there.send('GET', '/api/health', `Bearer ${token}`)
    expect([status, json.code]).toEqual([503, 'issuer_unreachable'])
    expect(text).not.toContain('127.0.0.1')
    await there.close()
  })
})

test('no first token is made: nobody could come with it', () => {
  expect(() => at.firstToken()).toThrow(/ENOENT/)
})

function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** The claims of a right one below another head. */
function unsigned(head: object, jwt: string, signature = ''): string {
  return `${base64(head)}.${jwt.split('.')[1]}.${signature}`
}
