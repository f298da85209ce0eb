import { describe, expect, test } from 'vitest'
import { requiredScope } from '../../../shared/api/require-caller.ts'
import { holdsScope, SCOPES } from '../../../shared/auth/scopes.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { ROUTES } from '../../../shared/routes.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

/** Ports are not touched before it is known who calls: each of them would fail the test. */
const world = new Proxy(
  {},
  {
    get(_, port) {
      if (port === 'settings') return SettingsSchema.parse({})
      if (port === 'telemetry') return undefined
      if (port === 'log') return { info: () => undefined, error: () => undefined }
      throw new Error(`${String(port)} was used`)
    },
  },
)
const BEHIND = ROUTES.filter(({ signed_by }) => signed_by === undefined)
const fileOf = new Map(FUNCTIONS.map(({ name, file }) => [name, file]))

async function call(name: string, principal: object | undefined): Promise<{ status: number; code: string }> {
  const { handler } = await import(/* @vite-ignore */ `../../../functions/${fileOf.get(name)}`)
  const event = { httpMethod: 'GET', path: '/', pathParameters: null, headers: {}, body: null }
  const answer = await handler(event, { world, ...(principal === undefined ? {} : { principal }) })
  return { status: answer.statusCode, code: JSON.parse(answer.body).code }
}

describe('every route', () => {
  test.each(BEHIND.map(({ name }) => [name]))('%s refuses who is nobody', async (name) => {
    expect(await call(name, undefined)).toEqual({ status: 401, code: 'unauthenticated' })
  })

  const needing = BEHIND.filter(({ scope }) => scope !== undefined)
  test.each(needing.map(({ name, scope }) => [name, scope]))('%s refuses who has all scopes but %s', async (name) => {
    const needed = requiredScope(name) ?? 'runs:read'
    const scopes = SCOPES.filter((scope) => !holdsScope([scope], needed))
    const seen = await call(name, { kind: 'token', id: 'ci', tenant: 'main', scopes })
    expect(seen).toEqual({ status: 403, code: 'missing_scope' })
  })

  test('changes nothing with a scope that reads, but for the three that only think; a bulk asks for that of its action besides', () => {
    const readers = BEHIND.filter(({ method, scope }) => method !== 'GET' && (scope ?? 'runs:read').endsWith(':read'))
    expect(readers.map(({ name }) => name)).toEqual([
      'validate-dag',
      'plan-dag',
      'plan-bulk',
      'change-bulk',
      'try-trigger',
    ])
  })

  test('needs no scope only where it says what everybody may know', () => {
    const open = BEHIND.filter(({ scope }) => scope === undefined)
    expect(open.map(({ name }) => name)).toEqual(['get-health', 'get-openapi', 'get-dag-schema'])
  })
})
