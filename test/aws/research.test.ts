import { createHash } from 'node:crypto'
import { DescribeExecutionCommand } from '@aws-sdk/client-sfn'
import { describe, expect, test } from 'vitest'
import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import { OBJECT_ROUTES } from '../../shared/api/object-routes.ts'
import { RESEARCH_ROUTES } from '../../shared/api/research-routes.ts'
import { isEnd } from './caller.ts'
import { shippedStack } from './shipped-stack.ts'

const aws = shippedStack()

const AT = '2026-11-22T08:00:00.000Z'
const idOf = (type: string, name: string) => `acme.ops.geo.atlas.${type}.${name}`
const says = (subject: string, predicate: string, object: string) => ({
  subject,
  predicate,
  object,
  source: 'import',
  timestamp: AT,
})

const country = (name: string, capital: string, borders: readonly string[]) => {
  const entity_id = idOf('country', name.toLowerCase())
  return {
    entity_id,
    label: name,
    snippet: `${name} is a country. The capital of ${name} is ${capital}.`,
    triples: [
      says(entity_id, 'geo.capital', idOf('city', capital.toLowerCase())),
      ...borders.map((other) => says(entity_id, 'geo.borders', idOf('country', other.toLowerCase()))),
    ],
  }
}
const city = (name: string) => ({ entity_id: idOf('city', name.toLowerCase()), label: name })

const COUNTRIES = [
  country('Norway', 'Oslo', ['Sweden', 'Finland']),
  country('Sweden', 'Stockholm', ['Norway', 'Finland']),
  country('Finland', 'Helsinki', ['Norway', 'Sweden']),
]
const put = async (entities: readonly object[]) => {
  const { status, json, text } = await aws.caller.call('PUT', '/api/graph/entities', { entities })
  expect([status, text]).toEqual([200, expect.any(String)])
  return GRAPH_ROUTES['put-entities'].answer.parse(json).results
}
const found = async (q: string, more = '') => {
  const { json } = await aws.caller.call('GET', `/api/graph/search?q=${encodeURIComponent(q)}${more}`)
  return GRAPH_ROUTES['search-graph'].answer.parse(json).hits.map(({ entity_id }) => entity_id)
}
const ask = async (topic: string) => {
  const { status, json, text } = await aws.caller.call('POST', '/api/research', { topic })
  if (status !== 201) throw new Error(`ask: ${status} ${text}`)
  const run_id = String(json.run_id)
  for (let tries = 0; tries < 4; tries += 1) {
    const answer = await aws.caller.call('GET', `/api/research/${run_id}?wait=20`)
    if (answer.status === 200) return RESEARCH_ROUTES['get-research'].answer.parse(answer.json)
    expect(answer.status).toBe(202)
  }
  throw new Error(`no answer of ${run_id}`)
}

describe('the graph on AWS', () => {
  test('takes entities, says what became of each, and the same again changes nothing', async () => {
    const entities = [...COUNTRIES, ...['Oslo', 'Stockholm', 'Helsinki'].map(city)]
    const results = await put([...entities, { entity_id: 'no' }])
    expect(results.map(({ outcome }) => outcome)).toEqual([...entities.map(() => 'created'), undefined])
    expect((await put(entities)).map(({ outcome }) => outcome)).toEqual(entities.map(() => 'unchanged'))
    const { json } = await aws.caller.call('GET', `/api/graph/entities/${idOf('country', 'norway')}`)
    expect(json.entity).toMatchObject({ label: 'Norway' })
    const near = await aws.caller.call('GET', `/api/graph/entities/${idOf('city', 'oslo')}/neighbors?direction=in`)
    expect(near.json.entities).toMatchObject([{ entity_id: idOf('country', 'norway') }])
  })

  test('is searchable soon, with the bodies of its entities, and no longer has what was deleted', async () => {
    const text = 'Fjords were carved by glaciers during the ice ages.'
    const body = await fetch(`${aws.place.api.url}/api/objects`, {
      method: 'PUT',
      headers: { authorization: AUTHORIZATION, 'content-type': 'text/plain' },
      body: text,
    })
    const { ref, sha256 } = (await body.json()) as { readonly ref: string; readonly sha256: string }
    expect((await aws.caller.call('GET', `/api/objects/${sha256}`)).text).toBe(text)
    const entity_id = idOf('article', 'fjords')
    const sagas = { entity_id: idOf('article', 'sagas'), label: 'Sagas', body: 'Sagas were written in Iceland.' }
    expect((await put([{ entity_id, label: 'Fjords', objectstore_ref: ref }, sagas])).every(({ ok }) => ok)).toBe(true)
    await expect.poll(() => found('glaciers'), { timeout: 30_000, interval: 500 }).toEqual([entity_id])
    await expect.poll(() => found('iceland'), { timeout: 30_000, interval: 500 }).toEqual([sagas.entity_id])
    const hash = createHash('sha256').update(sagas.body).digest('hex')
    expect((await aws.caller.call('GET', `/api/objects/${hash}`)).text).toBe(sagas.body)
    expect(await put([sagas])).toMatchObject([{ outcome: 'unchanged' }])
    expect((await aws.caller.call('DELETE', `/api/graph/entities/${entity_id}`)).json).toMatchObject({
      outcome: 'deleted',
    })
    await expect.poll(() => found('glaciers'), { timeout: 30_000, interval: 500 }).toEqual([])
  })

  test('takes a body that is too large for a request at S3 itself, with the rights of the function that says where', async () => {
    const body = Buffer.from(`${'x'.repeat(2_000_000)}`)
    const order = { sha256: createHash('sha256').update(body).digest('hex'), size: body.byteLength }
    const { json } = await aws.caller.call('POST', '/api/objects/upload', order)
    const { url, headers, method } = OBJECT_ROUTES['upload-object'].answer.parse(json)
    const sent = await fetch(url, { method, headers, body })
    expect(sent.status).toBe(200)
    const { text } = await aws.caller.call('GET', `/api/objects/${order.sha256}`)
    expect(text === body.toString()).toBe(true)
  })

  test('adds triples to what is there', async () => {
    const triples = [says(idOf('country', 'norway'), 'geo.currency', 'Krone')]
    const { status, json } = await aws.caller.call('PUT', '/api/graph/triples', { triples })
    expect([status, json]).toMatchObject([200, { results: [{ ok: true, outcome: 'updated' }] }])
  })
})

describe('the research chain on AWS', () => {
  test('answers a question from the graph, on its own machine, with the evidence and the steps', async () => {
    await expect.poll(() => found('capital of Norway'), { timeout: 30_000 }).toContain(idOf('country', 'norway'))
    expect(await found('capital of Norway', '&ranking=linked')).toContain(idOf('city', 'oslo'))
    const answer = await ask('What is the capital of Norway?')
    expect(answer).toMatchObject({ state: 'completed', result: { synthesis: expect.stringContaining('Oslo') } })
    expect(answer.result?.evidence?.map(({ entity_id }) => entity_id)).toContain(idOf('country', 'norway'))
    expect(answer.trace[0]).toMatchObject({ stage: 'nl_classify', n: 0 })
    expect(answer.trace.at(-1)).toMatchObject({ stage: 'synthesize_answer' })
    const executionArn = `arn:aws:states:eu-central-1:000000000000:execution:sluice-dev-research:${answer.run_id}`
    await expect
      .poll(() => aws.states.send(new DescribeExecutionCommand({ executionArn })), { timeout: 10_000 })
      .toMatchObject({ status: 'SUCCEEDED' })
    const loop = await aws.caller.call('GET', `/api/graph/entities/main.sluice.research.chain.loop.${answer.run_id}`)
    expect(JSON.stringify(loop.json)).toContain('"research.requested"')
  })

  test('counts all things of a type, and says of each answer what it is', async () => {
    const answer = await ask('How many countries border Sweden?')
    expect(answer.result?.synthesis).toMatch(/^2 countries: Finland \[\d+\], Norway \[\d+\]\./)
    expect(answer.result).toMatchObject({ answers: 'yes' })
    expect((await ask('Who composed the anthem of Norway?')).result).toMatchObject({ answers: 'no' })
  })

  test('answers a block of a DAG: a child on the machine of the chain', async () => {
    const outputs = { synthesis: { type: 'string' } }
    const research = { topic: 'What is the capital of {{inputs.country}}?' }
    const block = { id: 'facts', mode: 'research', inputs: { country: { type: 'string' } }, research, outputs }
    const dag = JSON.stringify({ name: 'asks', blocks: [block] })
    const id = await aws.caller.start({ dag, inputs: { country: 'Sweden' } })
    const events = await aws.caller.until(id, isEnd)
    expect(events.at(-1)?.type).toBe('run:completed')
    const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}/outputs/facts`)
    expect(JSON.stringify(json)).toContain('Stockholm')
    const [child] = events.flatMap((event) => (event.type === 'block:started' ? (event.data.child ?? []) : []))
    expect((await aws.caller.call('GET', `/api/research/${child}`)).json).toMatchObject({ state: 'completed' })
  })

  test('what the graph does not know has no answer, and says so', async () => {
    const answer = await ask('Who composed the opera Zanzibar Nights?')
    expect(answer.state).toBe('completed')
    expect(answer.result?.synthesis).toMatch(/no answer/i)
  })

  test('a question is found by its run, and by nobody of another kind', async () => {
    const { run_id } = await ask('Which countries border Sweden?')
    const { json } = await aws.caller.call('GET', `/api/dag/runs/${run_id}`)
    expect(json.run).toMatchObject({ run_id, dag_name: 'research', state: 'completed' })
    const other = await aws.caller.start({ name: 'basic', inputs: { goal: 'x' } })
    expect((await aws.caller.call('GET', `/api/research/${other}`)).status).toBe(404)
  })
})

test('nobody was refused what he needed', () => {
  expect(aws.place.denied).toEqual([])
})

const AUTHORIZATION =
  'AWS4-HMAC-SHA256 Credential=Deployer/20261122/eu-central-1/execute-api/aws4_request, SignedHeaders=host, Signature=0'
