import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** Reads of a run over its routes: published values, what a person said, lists by the state that is shown. */
const TEXT = (id: string, expression: string, more: object = {}) => ({
  id,
  mode: 'deterministic',
  outputs: { text: 'string' },
  deterministic: { handler: 'transform', config: { expression } },
  ...more,
})
/** The documents this repository ships. */
const DAGS = join(import.meta.dirname, '../../dags')
const ASKS = TEXT('asks', '"never"', { approval: { prompt: 'Go on?' } })

let place: TestPlace
beforeAll(async () => {
  place = await openTestPlace({}, { dags: [DAGS] })
})
afterAll(() => place.close())

async function get(name: string, params: Record<string, string>, query: Record<string, string> | null = null) {
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
const outputs = (run_id: string, block_id: string) => get('get-outputs', { run_id, block_id })

async function decide(runId: string, decision: object) {
  const asked = await place.until(runId, ({ type }) => type === 'approval:requested')
  const digest = asked.type === 'approval:requested' ? asked.data.digest : ''
  return await place.call('decide-approval', runId, { digest, ...decision })
}

describe('GET outputs of a block', () => {
  test('answers the values it has published, and large ones as refs', async () => {
    const blocks = [
      TEXT('small', '"hello"'),
      TEXT('large', '$pad("x", 300000, "y")', { inputs: { a: { from: 'small.text' } } }),
    ]
    const runId = await place.start({ blocks })
    await place.ended(runId)
    expect(await outputs(runId, 'small')).toEqual({
      status: 200,
      json: { run_id: runId, block_id: 'small', attempt: 1, state: 'completed', outputs: { text: 'hello' }, refs: {} },
    })
    const { json } = await outputs(runId, 'large')
    expect(json.outputs).toEqual({})
    expect(json.refs.text).toEqual({
      ref: expect.stringMatching(/^objstore:/),
      sha256: expect.any(String),
      bytes: expect.any(Number),
    })
    expect(json.refs.text.bytes).toBeGreaterThan(262_144)
  })

  test('says why there are none: unknown block, no ports, not completed yet', async () => {
    const silent = { id: 'silent', mode: 'approval', approval: { prompt: 'p' } }
    const runId = await place.start({ blocks: [{ ...ASKS, id: 'waits' }, silent, PORTLESS] })
    await place.until(runId, ({ type, block_id }) => type === 'block:completed' && block_id === 'portless')
    const cases = [
      ['wait', 'unknown_block', /Did you mean "waits"\?/],
      ['waits', 'no_outputs', /is pending.*when a block completes/],
      ['portless', 'no_outputs', /declares none/],
    ] as const
    for (const [block, code, words] of cases) {
      const { status, json } = await outputs(runId, block)
      expect({ status, code: json.code }).toEqual({ status: 404, code })
      expect(json.detail).toMatch(words)
    }
    await place.call('stop-run', runId, {})
  })

  const PORTLESS = { ...TEXT('portless', '1'), outputs: {} }
})

describe('reads of a run', () => {
  test('tell what the person said who rejected', async () => {
    const runId = await place.start({ blocks: [ASKS] })
    expect((await decide(runId, { decision: 'reject', feedback: 'too early' })).status).toBe(200)
    await place.ended(runId)
    const { json } = await get('get-run', { run_id: runId })
    expect(json.approvals).toMatchObject([{ status: 'rejected', feedback: 'too early' }])
  })

  test('list by the state that is shown, page by page, without losing a run', async () => {
    const waiting = [await place.start({ name: 'w', blocks: [ASKS] }), await place.start({ name: 'w', blocks: [ASKS] })]
    for (const runId of waiting) await place.until(runId, ({ type }) => type === 'approval:requested')
    const list = async (status: string, limit: string) => {
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const page = await get('list-runs', {}, { status, limit, dag: 'w', ...(cursor === null ? {} : { cursor }) })
        expect(page.status).toBe(200)
        seen.push(...page.json.runs.map((run: { run_id: string }) => run.run_id))
        cursor = page.json.next_cursor
      } while (cursor !== null)
      return seen
    }
    await expect.poll(() => list('paused_approval', '1')).toEqual(waiting.toReversed())
    expect(await list('running', '1')).toEqual([])
    for (const runId of waiting) await place.call('stop-run', runId, {})
    expect(await list('paused_approval', '5')).toEqual([])
    expect(await list('cancelled', '1')).toEqual(waiting.toReversed())
  })
})

describe('starts', () => {
  test('take a name beside a document that has none, and refuse it beside an example', async () => {
    const blocks = [TEXT('a', '"x"')]
    const nameOf = async (body: object) => (await place.call('start-run', '', body)).json
    expect(await nameOf({ dag: { blocks }, name: 'from-file' })).toMatchObject({ dag_name: 'from-file' })
    expect(await nameOf({ dag: { name: 'own', blocks }, name: 'from-file' })).toMatchObject({ dag_name: 'own' })
    expect(await nameOf({ example: 'basic', name: 'x' })).toMatchObject({ code: 'bad_body' })
  })

  test('say each problem once: a count in the detail, places in the errors', async () => {
    const bad = { dag: { blocks: [{ id: 'a' }, { id: 'b' }] }, name: 'bad' }
    const { json } = await place.call('start-run', '', bad)
    expect(json.detail).toBe('Cannot start: the DAG "bad" has 2 errors, listed with their places.')
    expect(json.errors).toHaveLength(2)
    const values = { dag: { blocks: [TEXT('a', '"x"')] }, context: { _mine: 1 } }
    const reserved = (await place.call('start-run', '', values)).json
    expect(reserved.detail).toMatch(/key "_mine" is not allowed: .*a leading _ is reserved/)
  })
})

describe('validate', () => {
  test('warns of gates that cannot run, without calling the document invalid', async () => {
    const check = { type: 'shell', command: 'true' }
    const dag = { blocks: [TEXT('a', '"x"', { post_gates: [{ name: 'lint', check }] })] }
    const { json } = await place.call('validate-dag', '', { dag })
    expect(json).toMatchObject({
      valid: true,
      warnings: [{ code: 'gate_cannot_run', path: 'blocks[0].post_gates[0].check' }],
    })
  })

  test('tells the inputs a run needs with their types and the defaults the document declares', async () => {
    const dag = {
      inputs: { goal: { type: 'string', default: 'ship' }, limits: { type: 'json', required: true } },
      blocks: [TEXT('a', '"x"', { inputs: { goal: 'string', limits: 'json', size: { type: 'number', default: 3 } } })],
    }
    const { json } = await place.call('validate-dag', '', { dag })
    expect(json).toMatchObject({
      context_inputs: [
        { name: 'goal', type: 'string', default: 'ship', declared: true },
        { name: 'limits', type: 'json', required: true },
        { name: 'size', type: 'number', required: false, declared: false },
      ],
    })
  })
})

describe('GET a document', () => {
  test('answers the text a start by its name would read, and names those there are', async () => {
    const { documents } = (await get('get-config', {})).json
    expect(documents).toContain('coding')
    const { status, json } = await get('get-document', { name: 'coding' })
    expect(status).toBe(200)
    expect(json).toEqual({ name: 'coding', text: expect.stringContaining('name: coding') })
    expect((await get('get-document', { name: '../package' })).json).toMatchObject({
      status: 404,
      code: 'unknown_dag',
      detail: expect.stringContaining('coding'),
    })
  })
})
