import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlace } from '../../../infra/local/place.ts'
import { SCOPES } from '../../../shared/auth/scopes.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { type LoginPlace, openLoginPlace } from './login-place.ts'

let at: LoginPlace
let first = ''

beforeAll(async () => {
  at = await openLoginPlace({ mode: 'token' })
  first = `Bearer ${at.firstToken()}`
})
afterAll(() => at.close())

describe('making a token', () => {
  test('answers its text once, and who made it, for 90 days', async () => {
    const { status, json } = await at.send('POST', '/api/tokens', first, { name: 'ci', scopes: ['runs:read'] })
    expect(status).toBe(201)
    expect(json).toMatchObject({ name: 'ci', scopes: ['runs:read'], state: 'valid' })
    expect(json.token).toMatch(new RegExp(`^slu_${json.token_id}_[0-9a-hjkmnp-tv-z]{32}$`))
    expect(json.created_by).toBe(`token:${at.firstToken().slice(4, 20)}`)
    expect(Date.parse(String(json.expires_at)) - Date.parse(String(json.created_at))).toBe(90 * 86_400_000)
    const secret = String(json.token).slice(-32)
    const listed = await at.send('GET', '/api/tokens', first)
    expect(listed.json.tokens).toContainEqual(expect.objectContaining({ token_id: json.token_id, name: 'ci' }))
    expect(listed.text).not.toContain(secret)
    expect(listed.text).not.toContain('sha256')
  })

  test('a secret is nowhere in the data folder', async () => {
    const { token } = await at.create({ name: 'sought', scopes: ['runs:read'] })
    const data = join(at.folder, 'data')
    const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    const held = files.filter((one) => readFileSync(join(one.parentPath, one.name)).includes(token.slice(-32)))
    expect(held).toEqual([])
  })

  test.each([
    ['no name', { scopes: ['runs:read'] }],
    ['an empty name', { name: '', scopes: ['runs:read'] }],
    ['a name with a control character', { name: 'a\u001bb', scopes: ['runs:read'] }],
    ['a name of 101 characters', { name: 'a'.repeat(101), scopes: ['runs:read'] }],
    ['no scopes', { name: 'a', scopes: [] }],
    ['a scope that is none', { name: 'a', scopes: ['*'] }],
    ['a scope twice', { name: 'a', scopes: ['runs:read', 'runs:read'] }],
    ['0 days', { name: 'a', scopes: ['runs:read'], expires_in_days: 0 }],
    ['366 days', { name: 'a', scopes: ['runs:read'], expires_in_days: 366 }],
    ['a tenant that cannot be one', { name: 'a', scopes: ['runs:read'], tenant: 'Main' }],
  ])('refuses %s', async (_what, body) => {
    const { status, json } = await at.send('POST', '/api/tokens', first, body)
    expect([status, json.code]).toEqual([400, 'bad_body'])
  })

  test('gives no scope its maker lacks', async () => {
    const { token } = await at.create({ name: 'maker', scopes: ['admin:tokens', 'runs:read'] })
    const more = { name: 'more', scopes: ['runs:read', 'runs:write', 'admin:stop'] }
    const refused = await at.send('POST', '/api/tokens', `Bearer ${token}`, more)
    expect([refused.status, refused.json.code]).toEqual([403, 'scope_not_held'])
    expect(refused.json.facts).toEqual({ lacking: ['runs:write', 'admin:stop'] })
    const made = await at.send('POST', '/api/tokens', `Bearer ${token}`, { name: 'less', scopes: ['runs:read'] })
    expect(made.status).toBe(201)
  })
})

describe('revoking a token', () => {
  test('ends it at once, for good, and says by whom', async () => {
    const { token, token_id } = await at.create({ name: 'lost', scopes: ['runs:read'] })
    expect((await at.send('GET', '/api/health', `Bearer ${token}`)).status).toBe(200)
    const revoked = await at.send('DELETE', `/api/tokens/${token_id}`, first)
    expect(revoked.json).toMatchObject({ state: 'revoked', revoked_by: `token:${at.firstToken().slice(4, 20)}` })
    expect((await at.send('GET', '/api/health', `Bearer ${token}`)).status).toBe(401)
    expect((await at.send('DELETE', `/api/tokens/${token_id}`, first)).json).toEqual(revoked.json)
  })

  test('of an id there is none of is 404, of what is no id too', async () => {
    const unknown = await at.send('DELETE', `/api/tokens/${'0'.repeat(16)}`, first)
    expect([unknown.status, unknown.json.code]).toEqual([404, 'unknown_token'])
    const malformed = await at.send('DELETE', '/api/tokens/x', first)
    expect([malformed.status, malformed.json.code]).toEqual([404, 'not_found'])
  })
})

test('the list says of each token who made and who revoked it, when, and which person that was', async () => {
  const maker = await at.create({ name: 'maker', scopes: ['admin:tokens', 'runs:read'] })
  const made = await at.send('POST', '/api/tokens', `Bearer ${maker.token}`, { name: 'made', scopes: ['runs:read'] })
  const { token_id } = made.json
  await at.send('DELETE', `/api/tokens/${token_id}`, `Bearer ${maker.token}`)
  await at.send('DELETE', `/api/tokens/${token_id}`, first)
  const { json, text } = await at.send('GET', '/api/tokens', first)
  const by = `token:${maker.token_id}`
  const person = expect.stringMatching(/^user:/)
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
  expect(json.tokens).toContainEqual(
    expect.objectContaining({
      ...{ token_id, name: 'made', scopes: ['runs:read'], state: 'revoked', person },
      ...{ created_at: time, created_by: by, created_person: person },
      ...{ revoked_at: time, revoked_by: by, revoked_person: person },
    }),
  )
  expect(text).not.toContain(String(made.json.token).slice(-32))
  // No route takes one out of it: what was revoked is there the next time too.
  const again = (await at.send('GET', '/api/tokens', first)).json.tokens as unknown as readonly { token_id: string }[]
  expect(again.filter((one) => one.token_id === token_id)).toHaveLength(1)
})

describe('the first token of a place', () => {
  test('has all scopes, and its file is read by its owner alone', async () => {
    const file = join(at.folder, 'data', 'first-token')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const { json } = await at.send('GET', '/api/tokens', first)
    const [mine] = (
      json.tokens as unknown as readonly { readonly token_id: string; readonly scopes: readonly string[] }[]
    ).filter(({ token_id }) => token_id === at.firstToken().slice(4, 20))
    expect(mine?.scopes).toEqual([...SCOPES])
  })

  test('is made once, and again when nobody could make one any more', async () => {
    const other = await openLoginPlace({ mode: 'token' })
    const settings = { port: 0, data_dir: join(other.folder, 'data'), dags: [other.folder], auth: { mode: 'token' } }
    const before = other.firstToken()
    await other.place.close()
    const again = await openPlace(SettingsSchema.parse(settings), { listen: true })
    expect(other.firstToken()).toBe(before)
    for (const { id } of await again.world.tokens.list('main')) {
      await again.world.tokens.revoke('main', id, { at: new Date().toISOString(), by: 'user:ana' })
    }
    await again.close()
    const anew = await openPlace(SettingsSchema.parse(settings), { listen: true })
    expect(other.firstToken()).not.toBe(before)
    await anew.close()
    await other.close()
  })
})

test('a place without the setting asks for no login', async () => {
  const settings = { port: 0, data_dir: join(at.folder, 'open'), dags: [at.folder] }
  const open = await openPlace(SettingsSchema.parse(settings), { listen: true })
  expect((await fetch(`${open.url}/api/health`)).status).toBe(200)
  await open.close()
})
