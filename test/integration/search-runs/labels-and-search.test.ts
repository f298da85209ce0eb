import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** Labels, notes and the search over the routes of a local place. */
const REPORT = {
  name: 'report',
  labels: { team: 'growth', stage: 'test' },
  inputs: { customer: { type: 'string', search: true }, hidden: { type: 'string', default: 'secretword' } },
  blocks: [
    {
      id: 'write',
      mode: 'deterministic',
      inputs: { customer: 'string' },
      outputs: { text: { type: 'string', search: true } },
      deterministic: { handler: 'transform', config: { expression: '"Dear " & inputs.customer & ", greetings"' } },
    },
  ],
}
const CALLS = {
  name: 'calls',
  blocks: [{ id: 'child', mode: 'dag', dag: { name: 'basic', inputs: { goal: 'a goal' } }, outputs: { note: 'json' } }],
}

let place: TestPlace
beforeAll(async () => {
  place = await openTestPlace()
})
afterAll(() => place.close())

async function get(name: string, params: Record<string, string> | null, query: Record<string, string> | null = null) {
  const answer = await place.place.invoke(name, {
    httpMethod: 'GET',
    path: '/',
    pathParameters: params,
    queryStringParameters: query,
    headers: {},
    body: null,
    isBase64Encoded: false,
  })
  const { statusCode, body } = answer as { statusCode: number; body: string }
  return { status: statusCode, json: JSON.parse(body) }
}

const search = async (q: string): Promise<readonly string[]> => {
  const { json } = await get('search-runs', null, { q })
  return json.runs.map(({ run_id }: { readonly run_id: string }) => run_id)
}

describe('labels and search', () => {
  test('a run has the labels of its document and its start, and is found by them and by marked words', async () => {
    const run_id = await place.start(REPORT, { inputs: { customer: 'Müller 4711' }, labels: { stage: 'prod' } })
    expect(await search('müller label:stage=prod')).toEqual([run_id])
    const events = await place.ended(run_id)
    expect(events[0]?.data).toMatchObject({ labels: { count: 2, first: ['stage=prod', 'team=growth'] } })
    await expect.poll(() => search('greetings dag:report state:completed')).toEqual([run_id])
    expect(await search('secretword')).toEqual([])
    expect(await search('label:stage=test')).toEqual([])
    const { json } = await get('get-run', { run_id })
    expect(json.run.labels).toEqual({ stage: 'prod', team: 'growth' })
  })

  test('labels are changed and notes written after the end, each with who', async () => {
    const run_id = await place.start(REPORT, { inputs: { customer: 'Ana' } })
    await place.ended(run_id)
    const changed = await place.call('add-note', run_id, { labels: { set: { team: 'core' }, remove: ['stage'] } })
    expect(changed).toMatchObject({ status: 201, json: { labels: { team: 'core' } } })
    await place.call('add-note', run_id, { text: 'The source was down.' })
    const { json } = await get('list-notes', { run_id })
    expect(json.notes).toMatchObject([
      { labels: { set: { team: 'core' }, removed: ['stage'] } },
      { text: 'The source was down.' },
    ])
    expect(json.notes[0].by).toMatch(/^user:/)
    expect(await search('label:team=core -label:stage')).toEqual([run_id])
    const retried = await place.call('retry-run', run_id, {})
    const next = String((retried.json as { readonly run_id?: unknown }).run_id)
    const { json: again } = await get('get-run', { run_id: next })
    expect(again.run.labels).toMatchObject({ team: 'core' })
  })

  test('more than twenty labels, labels that are none and a search that cannot be read are refused', async () => {
    const run_id = await place.start(REPORT, { inputs: { customer: 'Ben' } })
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, 'x']))
    expect(await place.call('add-note', run_id, { labels: { set: many } })).toMatchObject({
      status: 422,
      json: { code: 'too_many_labels' },
    })
    expect(await place.call('add-note', run_id, { labels: { set: { 'no key': 'x' } } })).toMatchObject({ status: 400 })
    expect(await place.call('add-note', run_id, {})).toMatchObject({ status: 400 })
    const { status, json } = await get('search-runs', null, { q: 'dag:report stat:failed' })
    expect({ status, code: json.code, at: json.facts.at }).toEqual({ status: 400, code: 'bad_run_search', at: 12 })
    expect(json.detail).toContain('Did you mean "state"?')
  })

  test('a child run has the labels of the run above it', async () => {
    const run_id = await place.start(CALLS, { labels: { team: 'above' } })
    await place.ended(run_id)
    const found = await search('label:team=above role:child')
    expect(found.length).toBeLessThanOrEqual(1)
    expect(await search('label:team=above role:root')).toEqual([run_id])
  })

  test('what was found is found after the place was opened again', async () => {
    const before = await search('dag:report')
    expect(before.length).toBeGreaterThan(2)
    await place.reopen()
    expect(await search('dag:report')).toEqual(before)
  })
})
