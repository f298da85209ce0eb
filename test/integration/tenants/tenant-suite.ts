import { describe, expect, test } from 'vitest'
import { ROUTES } from '../../../shared/routes.ts'
import type { Answer, Door } from './door.ts'
import { askingOf, documentOf, type Filled } from './fill-tenant.ts'
import { ROWS, type Row, unknownLike } from './rows.ts'
import { worldOf } from './world-of.ts'

interface Place {
  readonly door: Door
  readonly acme: Filled
  readonly globex: Filled
}

/** What one tenant's ids are to another: nothing. Run on each place with both tenants filled alike. */
export function tenantTests(place: () => Place): void {
  test('every route that takes an id is in the table', () => {
    const naming = ROUTES.filter(({ path, signed_by }) => signed_by === undefined && /\{(?!name\})/.test(path))
    expect(naming.map(({ name }) => name).filter((name) => !ROWS.some(({ route }) => route === name))).toEqual([])
  })

  /** The world of the one tenant as the row before left it: each row reads it once. */
  let left: Awaited<ReturnType<typeof worldOf>> | undefined

  describe.each(ROWS.map((row) => [`${row.route}: ${row.what}`, row] as const))('%s', (_name, row) => {
    test('of the other tenant is answered as an unknown one, to the byte, and nothing there changes', async () => {
      const { door, acme: theirs, globex: own } = place()
      const before = left ?? (await worldOf(door, theirs))
      const id = row.id(theirs)
      const unknown = unknownLike(id)
      expect(unknown).toHaveLength(id.length)
      const answers = [await ask(place(), row, id), await ask(place(), row, unknown)] as const
      expect(masked(answers[0], id)).toEqual(masked(answers[1], unknown))
      expect(answers[0].status).toBeLessThan(500)
      expect(answers[0].text).not.toContain(`${theirs.tenant}secret`)
      left = await worldOf(door, theirs)
      expect(left).toEqual(before)
      expect(own.tenant).not.toBe(theirs.tenant)
    })
  })

  // After the table: what is asked here may end what it asks about.
  describe('its owner gets another answer', () => {
    test.each(
      ROWS.filter(({ blind }) => blind === undefined).map((row) => [`${row.route}: ${row.what}`, row] as const),
    )('%s', async (_name, row) => {
      const { door, acme, globex } = place()
      const id = row.id(globex)
      const unknown = unknownLike(id)
      const request = row.request(id, globex, globex)
      const mine = await door.call('globex', request.method, request.path, request)
      const nobodys = await ask({ door, acme: globex, globex: acme }, row, unknown)
      expect(masked(mine, id)).not.toEqual(masked(nobodys, unknown))
    })
  })

  test('an Idempotency-Key of the other tenant is free: it starts a run of its own', async () => {
    const { door, acme } = place()
    const before = await worldOf(door, acme)
    const body = { dag: documentOf('globexsecret'), context: { secret: 'x' } }
    const start = (key: string) =>
      door.call('globex', 'POST', '/api/dag/run', { body, headers: { 'idempotency-key': key } })
    const taken = await start(acme.key)
    expect(taken.status).toBe(201)
    expect(taken.json.run_id).not.toBe(acme.done)
    const free = await start('key-of-nobody')
    expect(masked(taken, taken.json.run_id)).toEqual(masked(free, free.json.run_id))
    expect(await worldOf(door, acme)).toEqual(before)
  })

  test('a document the other tenant has started is started as one nobody has', async () => {
    const { door } = place()
    const start = async (name: string) => {
      const answer = await door.call('globex', 'POST', '/api/dag/run', { body: { dag: documentOf(name) } })
      return { answer, run_id: String(answer.json.run_id) }
    }
    const [known, fresh] = [await start('acmesecret'), await start('nobodysecr')]
    const mask = ({ answer, run_id }: typeof known) =>
      JSON.stringify(masked(answer, run_id)).replaceAll(/[0-9a-f]{64}/g, '<hash>')
    expect(mask(known)).toBe(mask(fresh).replaceAll('nobodysecr', 'acmesecret'))
  })

  test('who stops all, looks at everything or searches meets only what is its own', async () => {
    const { door, acme } = place()
    const before = await worldOf(door, acme)
    const { json } = await door.call('globex', 'POST', '/api/dag/run', { body: { dag: askingOf('globexsecret') } })
    const stopped = await door.call('globex', 'POST', '/api/dag/runs/stop-all', { body: { hold: true } })
    expect(stopped.status).toBe(200)
    expect((await door.call('globex', 'GET', `/api/dag/runs/${json.run_id}`)).json.run.state).toBe('cancelled')
    const { done, asking, research, entity, object, token, endpoint, dead, bulk } = acme
    const own = [done, asking, research, entity, object, token, endpoint, dead, bulk, ...acme.views]
    for (const path of LISTS) {
      const { text } = await door.call('globex', 'GET', path)
      const seen = own.filter((id) => text.includes(id))
      expect([path, seen]).toEqual([path, []])
    }
    expect(await worldOf(door, acme)).toEqual(before)
    expect((await door.call('acme', 'GET', '/api/dag/safety')).json.hold).toBeNull()
    const released = await door.call('acme', 'POST', '/api/dag/safety/release', { body: {} })
    expect(released.json.released).toBe(false)
    expect((await door.call('globex', 'GET', '/api/dag/safety')).json.hold).not.toBeNull()
    await door.call('globex', 'POST', '/api/dag/safety/release', { body: {} })
  })

  test('a forged cursor is refused as one of the other tenant is', async () => {
    const { door, acme } = place()
    for (const cursor of [acme.cursors.runs, 'A'.repeat(60), 'x', acme.cursors.open]) {
      const answer = await door.call('globex', 'GET', `/api/dag/runs?cursor=${cursor}`)
      expect([answer.status, answer.json.code]).toEqual([400, 'bad_cursor'])
    }
  })

  test('nobody makes a token of another tenant, or learns whether there is one', async () => {
    const { door } = place()
    const make = (tenant: string) =>
      door.call('globex', 'POST', '/api/tokens', { body: { name: 'more', scopes: ['runs:read'], tenant } })
    const [there, nowhere] = [await make('acme'), await make('zzzz')]
    expect([there.status, there.json.code]).toEqual([403, 'tenant_not_held'])
    expect(masked(there, 'acme')).toEqual(masked(nowhere, 'zzzz'))
    expect((await make('globex')).json).toMatchObject({ tenant: 'globex' })
  })
}

/** Everything a tenant may list, of itself and of the place. */
const LISTS = [
  ...['/api/dag/runs', '/api/dag/approvals?status=all', '/api/tokens', '/api/webhooks', '/api/webhooks/dead'],
  ...['/api/dag/bulk', '/api/dag/views', '/api/dag/count?q=acmesecret', '/api/dag/search?q=acmesecret'],
  ...['/api/graph/search?q=acmesecret', '/api/graph/search', '/api/config', '/api/dag/safety'],
]

/** As the one tenant, about an id of the other. */
function ask({ door, acme: theirs, globex: own }: Place, row: Row, id: string): Promise<Answer> {
  const request = row.request(id, own, theirs)
  return door.call(own.tenant, request.method, request.path, request)
}

/** The answer without the id that was asked for, in whatever form, and without what a clock made. */
function masked({ status, headers, text }: Answer, id: string) {
  const run = /(?<=run_|apr_)[0-9a-z]{26}/.exec(id)?.[0] ?? id
  const hash = /^[0-9a-f]{64}$/.test(id) ? [Buffer.from(id, 'hex').toString('base64'), `/${id.slice(0, 2)}/`] : []
  const forms = [id, run, ...hash]
  const shown = forms.reduce((left, form) => left.replaceAll(form, '<id>'), text)
  const timeless = shown
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replaceAll(/X-Amz-(Date|Signature)=\w+/g, '<time>')
  return { status, headers: { ...headers, 'content-length': '' }, text: timeless }
}
