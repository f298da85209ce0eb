import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Provider } from '../../../shared/providers/provider.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

const paid: Provider = {
  dispatch: async ({ model }) => ({ text: 'ok', tokens_in: 5, tokens_out: 5, usd: 0.25, model, finish_reason: 'stop' }),
}
const report = (team: string | undefined) => ({
  name: team === undefined ? 'plain' : 'report',
  ...(team === undefined ? {} : { labels: { team } }),
  blocks: [{ id: 'a', outputs: { text: 'string' }, agent: { provider: 'paid', model: 'm', prompt: 'Go' } }],
})

let place: TestPlace
beforeAll(async () => {
  place = await openTestPlace({ providers: { paid } })
  for (const team of ['growth', 'growth', 'sales', undefined]) await place.ended(await place.start(report(team)))
})
afterAll(() => place.close())

async function call(name: string, method: string, more: { path?: object; query?: object; body?: unknown } = {}) {
  const answer = (await place.place.invoke(name, {
    ...{ httpMethod: method, path: '/', pathParameters: more.path ?? null, queryStringParameters: more.query ?? null },
    headers: { 'content-type': 'application/json' },
    body: more.body === undefined ? null : JSON.stringify(more.body),
    isBase64Encoded: false,
  })) as { statusCode: number; body: string }
  return { status: answer.statusCode, json: JSON.parse(answer.body) }
}
const counts = async (query: object) => (await call('count-runs', 'GET', { query })).json

test('runs and their cost are counted by a label, those without it too', async () => {
  expect(await counts({ by: 'label.team' })).toEqual({
    counts: [
      { value: 'growth', runs: 2, tokens: 20, usd: 0.5 },
      { value: null, runs: 1, tokens: 10, usd: 0.25 },
      { value: 'sales', runs: 1, tokens: 10, usd: 0.25 },
    ],
    counted: 4,
    damaged: 0,
    next_cursor: null,
  })
})

test('what a search finds is counted by any of its fields, and over days', async () => {
  const day = new Date().toISOString().slice(0, 10)
  const over = await counts({ q: 'dag:report', by: 'state', over: 'day' })
  // Midnight may have come in between.
  expect(over.counts.at(0)).toMatchObject({ value: 'completed', day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) })
  expect(day >= over.counts.at(-1).day).toBe(true)
  expect(over.counted).toBe(3)
  for (const by of ['dag', 'starter', 'code', 'role', 'day']) {
    const { counts: all } = await counts({ q: 'dag:report', by })
    expect(
      all.reduce((sum: number, { runs }: { runs: number }) => sum + runs, 0),
      by,
    ).toBe(3)
  }
  expect(await counts({ by: 'stat' })).toMatchObject({
    code: 'bad_count_field',
    detail: expect.stringContaining('"state"'),
  })
})

test('a search is given a name, changed, renamed and taken away', async () => {
  const put = (view: string, body: object) => call('put-view', 'PUT', { path: { view }, body })
  const names = async () =>
    (await call('list-views', 'GET')).json.views.map(({ name, q }: { name: string; q: string }) => [name, q])
  expect((await put('broken', { q: 'state:failed' })).json).toMatchObject({ name: 'broken', q: 'state:failed' })
  await put('costly', { q: 'cost:>1' })
  await put('broken', { q: 'state:failed,blocked' })
  expect(await names()).toEqual([
    ['broken', 'state:failed,blocked'],
    ['costly', 'cost:>1'],
  ])
  expect((await put('broken', { name: 'costly' })).json.code).toBe('view_exists')
  expect((await put('broken', { name: 'ended-badly' })).status).toBe(200)
  expect((await put('none', { name: 'other' })).json.code).toBe('unknown_view')
  expect((await put('wrong', { q: 'stat:x' })).json.code).toBe('bad_run_search')
  await call('delete-view', 'DELETE', { path: { view: 'costly' } })
  expect(await names()).toEqual([['ended-badly', 'state:failed,blocked']])
})
