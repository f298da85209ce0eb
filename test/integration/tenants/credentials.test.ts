import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlace, type Place } from '../../../infra/local/place.ts'
import { SCOPES } from '../../../shared/auth/scopes.ts'
import { type Settings, SettingsSchema } from '../../../shared/settings/settings.ts'

/** One data folder, opened with other settings one after another. */
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-credentials-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

async function opened<T>(more: object, work: (place: Place, settings: Settings) => Promise<T>): Promise<T> {
  const settings = SettingsSchema.parse({ port: 0, data_dir: join(folder, 'data'), dags: [folder], ...more })
  const place = await openPlace(settings, { listen: true })
  try {
    return await work(place, settings)
  } finally {
    await place.close()
  }
}

async function send({ url }: Place, method: string, path: string, token?: string, body?: object) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, json: JSON.parse(text) }
}

const fileOf = (tenant: string) => join(folder, 'data', tenant === 'main' ? 'first-token' : `first-token-${tenant}`)
const firstOf = (tenant: string) => readFileSync(fileOf(tenant), 'utf8').trim()
const TOKEN = { auth: { mode: 'token' } }
const THREE = { tenants: ['main', 'acme', 'globex'] }
const NEW = { name: 'ci', scopes: ['runs:read'] }

test('without a login who owns the place makes the first token of any tenant there is', async () => {
  const made = await opened(THREE, async (place) => {
    const refused = await send(place, 'POST', '/api/tokens', undefined, { ...NEW, tenant: 'initech' })
    expect([refused.status, refused.json.code]).toEqual([400, 'unknown_tenant'])
    expect(refused.json.facts).toEqual({ tenants: ['main', 'acme', 'globex'] })
    expect((await send(place, 'POST', '/api/tokens', undefined, NEW)).json).toMatchObject({ tenant: 'main' })
    return send(place, 'POST', '/api/tokens', undefined, { name: 'own', scopes: SCOPES, tenant: 'globex' })
  })
  expect(made.json).toMatchObject({ tenant: 'globex', name: 'own' })
  await opened({ ...THREE, ...TOKEN }, async (place) => {
    expect((await send(place, 'GET', '/api/tokens', made.json.token)).json.tokens).toMatchObject([{ name: 'own' }])
  })
})

describe('with a login', () => {
  test('each tenant without a token of an administrator gets one, in a file of its own', async () => {
    await opened({ ...THREE, ...TOKEN }, async (place) => {
      for (const tenant of ['main', 'acme']) {
        expect(statSync(fileOf(tenant)).mode & 0o777).toBe(0o600)
        const { tokens } = (await send(place, 'GET', '/api/tokens', firstOf(tenant))).json
        expect(
          tokens.filter((token: { readonly scopes: object }) => Object.keys(token.scopes).length === SCOPES.length),
        ).toHaveLength(1)
        expect(new Set(tokens.map((token: { readonly tenant: string }) => token.tenant))).toEqual(new Set([tenant]))
      }
      // It has the one of the test before.
      expect(() => firstOf('globex')).toThrow('ENOENT')
    })
  })

  test('a token of main makes none of another tenant either', async () => {
    await opened({ ...THREE, ...TOKEN }, async (place) => {
      const answer = await send(place, 'POST', '/api/tokens', firstOf('main'), { ...NEW, tenant: 'acme' })
      expect([answer.status, answer.json.code]).toEqual([403, 'tenant_not_held'])
    })
  })

  test('of a tenant that is not in the settings any more nobody is known, as with a wrong token', async () => {
    await opened({ tenants: ['main', 'globex'], ...TOKEN }, async (place) => {
      const gone = await send(place, 'GET', '/api/health', firstOf('acme'))
      expect(gone.status).toBe(401)
      expect(gone).toEqual(await send(place, 'GET', '/api/health', `slu_${'0'.repeat(16)}_${'0'.repeat(32)}`))
    })
    await opened({ ...THREE, ...TOKEN }, async (place) => {
      expect((await send(place, 'GET', '/api/health', firstOf('acme'))).status).toBe(200)
    })
  })
})
