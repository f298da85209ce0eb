import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { holdsScope, SCOPES } from '../../../shared/auth/scopes.ts'
import { ROUTES, type RouteLine } from '../../../shared/routes.ts'
import { type LoginPlace, openLoginPlace } from './login-place.ts'

const BEHIND = ROUTES.filter(({ signed_by }) => signed_by === undefined)
const DAY_MS = 86_400_000

let at: LoginPlace
/** Credentials by what is wrong with them. */
const wrong = new Map<string, string | undefined>()
const without = new Map<string, string>()
let right = ''

beforeAll(async () => {
  at = await openLoginPlace({ mode: 'token' })
  const expiring = await at.create({ name: 'short', scopes: [...SCOPES], expires_in_days: 1 })
  at.forward(2 * DAY_MS)
  const revoked = await at.create({ name: 'revoked', scopes: [...SCOPES] })
  await at.send('DELETE', `/api/tokens/${revoked.token_id}`, `Bearer ${at.firstToken()}`)
  right = (await at.create({ name: 'right', scopes: [...SCOPES] })).token
  const secret = right.slice(-32)
  wrong.set('no credential', undefined)
  wrong.set('an empty one', '')
  wrong.set('a malformed one', 'Bearer slu_x')
  wrong.set('another scheme', `Basic ${right}`)
  wrong.set('two of them', `Bearer ${right} ${right}`)
  wrong.set('an unknown id', `Bearer slu_${'0'.repeat(16)}_${secret}`)
  wrong.set(
    'a wrong secret',
    `Bearer ${right.slice(0, -32)}${secret.slice(1)}${secret.slice(0, 1) === 'z' ? 'y' : 'z'}`,
  )
  wrong.set('upper case', `Bearer ${right.toUpperCase()}`)
  wrong.set('an expired one', `Bearer ${expiring.token}`)
  wrong.set('a revoked one', `Bearer ${revoked.token}`)
  for (const scope of SCOPES) {
    const scopes = SCOPES.filter((other) => other !== scope && !holdsScope([other], scope))
    without.set(scope, (await at.create({ name: `not ${scope}`, scopes })).token)
  }
}, 60_000)
afterAll(() => at.close())

/** A path of the route that names nothing there is. */
function pathOf({ path }: RouteLine): string {
  return path
    .replaceAll('{run_id}', `run_${'0'.repeat(26)}`)
    .replaceAll('{other_id}', `run_${'1'.repeat(26)}`)
    .replaceAll('{token_id}', '0'.repeat(16))
    .replaceAll('{sha256}', '0'.repeat(64))
    .replace(/\{\w+\+?\}/g, 'nothing')
}

const bodyOf = ({ method }: RouteLine) => (method === 'GET' || method === 'DELETE' ? undefined : {})

describe.each(BEHIND.map((line) => [`${line.method} ${line.path}`, line] as const))('%s', (_name, line) => {
  test('refuses every wrong credential with the same bytes', async () => {
    const answers = []
    for (const [what, authorization] of wrong) {
      const answer = await at.send(line.method, pathOf(line), authorization, bodyOf(line))
      expect([what, answer.status, answer.json.code]).toEqual([what, 401, 'unauthenticated'])
      answers.push(JSON.stringify(answer))
    }
    expect(new Set(answers).size).toBe(1)
  })

  test.runIf(line.scope !== undefined)('refuses a right token without its scope', async () => {
    const token = without.get(line.scope ?? '') ?? ''
    const { status, json } = await at.send(line.method, pathOf(line), `Bearer ${token}`, bodyOf(line))
    expect([status, json.code, json.facts]).toEqual([403, 'missing_scope', { needed: line.scope }])
  })

  test('lets a right token in', async () => {
    const { status, json } = await at.send(line.method, pathOf(line), `Bearer ${right}`, bodyOf(line))
    expect([401, 403]).not.toContain(status)
    expect(status, JSON.stringify(json)).toBeLessThan(500)
  })
})

test('an upload is of a caller too', async () => {
  const path = `/api/objects/upload/${'0'.repeat(64)}`
  const { token: reader } = await at.create({ name: 'reader', scopes: ['runs:read'] })
  const { token: importer } = await at.create({ name: 'importer', scopes: ['stage:import'] })
  expect((await at.send('PUT', path, undefined, {})).json).toMatchObject({ code: 'unauthenticated' })
  expect((await at.send('PUT', path, `Bearer ${reader}`, {})).json).toMatchObject({ code: 'missing_scope' })
  for (const token of [right, importer]) {
    expect((await at.send('PUT', path, `Bearer ${token}`, {})).json).toMatchObject({ code: 'wrong_content' })
  }
})

test('headers that only claim to be somebody are nothing', async () => {
  const response = await fetch(`${at.url}/api/health`, {
    headers: { 'x-amzn-principal': 'user:ana', 'x-sluice-tenant': 'main', cookie: `token=${right}` },
  })
  expect(response.status).toBe(401)
})
