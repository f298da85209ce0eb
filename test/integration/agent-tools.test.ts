import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltinCall, type CalledBuiltin, callBuiltin } from '../../functions/attempts/agents/builtin-tools.ts'
import { describeTools, pinTools } from '../../functions/runs/pin-tools.ts'
import type { Acting, Dag, ToolUse } from '../../shared/dag/dag.ts'
import { parseDag } from '../../shared/document/parse.ts'
import type { Json } from '../../shared/text/json.ts'
import { BUILTIN_ARGUMENTS, BUILTIN_TOOLS } from '../../shared/tools/builtin-tools.ts'
import { readMcpUse } from '../../shared/tools/settings.ts'
import { mcpToolPin, toolHash } from '../../shared/tools/tool-pin.ts'
import { type McpEmulator, startMcpServer } from '../emulators/mcp-server.ts'
import { openStepPlace, type StepPlace } from './steps/step-place.ts'

/** What agents call, in a real place: tools of ours on its graph and a run's artifacts, and what a run is frozen to. */
let place: StepPlace
let server: McpEmulator
let run: { readonly tenant: string; readonly run_id: string }
const FIND = {
  name: 'find',
  description: 'Finds\u200b a customer.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
}

const STEP = `import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({
description: 'Pays a customer back.',
inputs: z.object({ amount: z.number().max(500), customer: z.object({ id: z.string() }) }),
outputs: z.object({ refund_id: z.string() }),
run: () => ({ refund_id: 'r1' }),
})
`

beforeAll(async () => {
  server = await startMcpServer([{ ...FIND }, { name: 'drop', inputSchema: { type: 'object' } }])
  const mcp_servers = { crm: { url: server.url, tools: ['find'] } }
  place = await openStepPlace({ 'steps/refund.js': STEP }, { mcp_servers })
  const writing = { id: 'w', mode: 'deterministic', inputs: { body: 'string' }, outputs: { file: 'artifact' } }
  const dag = {
    name: 'writes',
    inputs: { body: 'string' },
    blocks: [{ ...writing, deterministic: { handler: 'write-artifact', config: { name: 'sales.csv' } } }],
  }
  const body = 'city;sum;note\nUlm;9;a\nBonn;12;\nAachen;100;b\n'
  run = { tenant: 'main', run_id: await place.start(dag, { inputs: { body } }) }
  await place.ended(run.run_id)
  await place.place.world.graph.put('main', [
    {
      entity_id: 'acme.shop.crm.people.customer.c1',
      label: 'Ana Ng',
      snippet: 'Ana bought a kettle in Ulm.',
      triples: [
        {
          subject: 'acme.shop.crm.people.customer.c1',
          predicate: 'crm.city',
          object: 'Ulm',
          source: 'import',
          timestamp: '2026-01-01T00:00:00Z',
          confidence: 1,
          rule_opaque: false,
        },
        {
          subject: 'acme.shop.crm.people.customer.c1',
          predicate: 'crm.mood',
          object: 'cross',
          source: 'model',
          timestamp: '2026-01-02T00:00:00Z',
          confidence: 1,
          rule_opaque: true,
        },
      ],
    },
  ])
})
afterAll(async () => {
  await place.close()
  await server.close()
})

function call(name: CalledBuiltin, args: Readonly<Record<string, Json>>, more: Partial<BuiltinCall> = {}) {
  const { world } = place.place
  const signal = new AbortController().signal
  return callBuiltin(name, args, {
    world,
    run,
    inputs: async () => ({}),
    block_id: 'w',
    epoch: 0,
    attempt: 1,
    signal,
    tainted: false,
    isTainted: async () => false,
    ...more,
  })
}

describe('tools of ours', () => {
  test('graph.search finds entities by words, each with its id and passage', async () => {
    const { text, structured } = await call('graph.search', { query: 'kettle' })
    expect(text).toContain(
      'Ana Ng (customer, 2026-01-02T00:00:00.000Z) id: acme.shop.crm.people.customer.c1\n   Ana bought a kettle in Ulm.',
    )
    expect(structured).toMatchObject({
      hits: [{ id: 'acme.shop.crm.people.customer.c1', passage: 'Ana bought a kettle in Ulm.' }],
    })
    expect((await call('graph.search', { query: 'zeppelin' })).text).toBe('Nothing in the graph fits "zeppelin".')
  })

  test('graph.read tells what is stated, by whom, and what a model wrote', async () => {
    const { text, structured } = await call('graph.read', { id: 'acme.shop.crm.people.customer.c1' })
    expect(text).toContain(
      '- crm.city: Ulm (import, 2026-01-01T00:00:00Z)\n- crm.mood: cross (model, 2026-01-02T00:00:00Z, written by a model)',
    )
    expect(structured).toMatchObject({ id: 'acme.shop.crm.people.customer.c1', label: 'Ana Ng', total_statements: 2 })
    expect((await call('graph.read', { id: 'acme.shop.crm.people.customer.c1', limit: 1 })).text).toMatch(
      /\(statements 1 to 1 of 2; ask for offset 1\)$/,
    )
    await expect(call('graph.read', { id: 'nobody' })).rejects.toMatchObject({
      name: 'NotFound',
      code: 'unknown_entity',
    })
  })

  test('artifact.write keeps a text under its own name, and artifact.read gives it back a part at a time, without a ref', async () => {
    const kept = await call('artifact.write', { name: 'notes/a.md', text: 'grüße und mehr' }, { item: 101 })
    expect(kept).toEqual({ text: 'Wrote notes/a.md, 16 bytes.' })
    expect(await call('artifact.read', { name: 'notes/a.md' })).toEqual({ text: 'grüße und mehr' })
    expect(await call('artifact.read', { name: 'notes/a.md', offset: 6, limit: 3 })).toEqual({
      text: 'und\n[characters 6 to 9 of 14; ask for offset 9]',
    })
    const items = await place.place.world.runs.artifacts(run)
    expect(items.find(({ name }) => name === 'notes/a.md')).toMatchObject({
      media_type: 'text/markdown; charset=utf-8',
      block_id: 'w',
      item: 101,
    })
    expect(JSON.stringify(await call('artifact.read', { name: 'sales.csv' }))).not.toContain('objstore:')
  })

  test('artifact.read names what there is, and says of bytes that they are no text', async () => {
    await expect(call('artifact.read', { name: 'sale.csv' })).rejects.toMatchObject({
      code: 'unknown_artifact',
      message: expect.stringMatching(/it has .*"sales\.csv".*Did you mean "sales\.csv"\?$/),
    })
    const object = await place.place.world.objects.put('main', new Uint8Array([0xff, 0xd8, 0xff, 0xe0]))
    const item = { name: 'a.jpg', ...object, media_type: 'image/jpeg', block_id: 'w', attempt: 1 }
    await place.place.world.runs.putArtifact(run, item)
    expect(await call('artifact.read', { name: 'a.jpg' })).toEqual({ text: '[a.jpg: image/jpeg, 4 bytes, no text]' })
  })

  test('table.query chooses rows, compares numbers as numbers, and says how many there are', async () => {
    const where = [{ column: 'sum', is: '>', value: 9 }]
    const asked = { artifact: 'sales.csv', where, columns: ['city', 'sum'], sort: { column: 'sum', descending: true } }
    expect(await call('table.query', asked)).toEqual({
      text: '2 of 3 rows fit; rows 1 to 2 are shown. Columns: city, sum\n{"city":"Aachen","sum":"100"}\n{"city":"Bonn","sum":"12"}',
      structured: {
        rows: [
          { city: 'Aachen', sum: '100' },
          { city: 'Bonn', sum: '12' },
        ],
        total: 2,
        columns: ['city', 'sum'],
      },
    })
    const empty = { artifact: 'sales.csv', where: [{ column: 'note', is: 'empty' }], limit: 1 }
    expect((await call('table.query', empty)).text).toContain('1 of 3 rows fit')
    expect((await call('table.query', { artifact: 'sales.csv', limit: 1 })).text).toContain(
      'rows 1 to 1 are shown; ask for offset 1',
    )
  })

  test('table.query computes by JSONata over an input, with the limits of the isolate', async () => {
    const inputs = async () => ({ rows: [{ a: 1 }, { a: 2 }] })
    expect(await call('table.query', { input: 'rows', expression: '$sum(rows.a)' }, { inputs })).toEqual({
      text: '3',
      structured: 3,
    })
    await expect(call('table.query', { input: 'rows', expression: '$eval("1")' }, { inputs })).rejects.toMatchObject({
      code: 'table_query_failed',
      message: expect.stringContaining('$eval is not available'),
    })
    const endless = '($f := function($n) { $f($n + 1) }; $f(0))'
    await expect(call('table.query', { input: 'rows', expression: endless }, { inputs })).rejects.toMatchObject({
      code: 'table_query_failed',
    })
  })

  test.each<readonly [CalledBuiltin, Readonly<Record<string, Json>>, RegExp]>([
    ['graph.search', {}, /^Cannot call "graph\.search": "query" is missing/],
    ['graph.search', { query: 'x', limit: 50 }, /"limit" is 50; the limit is 20/],
    [
      'graph.search',
      { query: 'x', lmit: 5 },
      /"lmit" is an unknown key; allowed are "query", "type", "domain", "limit" \(Did you mean "limit"\?\)/,
    ],
    ['graph.read', { id: 7 }, /"id" must be a text, got 7/],
    ['artifact.write', { name: '../../etc/passwd', text: '' }, /"name" .* is not allowed/],
    ['table.query', {}, /it names neither "artifact" nor "input"; name one/],
    ['table.query', { artifact: 'a', input: 'b' }, /it names both/],
    ['table.query', { input: 'rows' }, /this block has no input "rows"; it has none/],
    [
      'table.query',
      { artifact: 'sales.csv', sort: { column: 'sun' } },
      /has no column "sun"; it has "city", "sum", "note"\. Did you mean "sum"\?/,
    ],
    ['table.query', { artifact: 'sales.csv', expression: 'rows', columns: ['city'] }, /stands instead of/],
    [
      'table.query',
      { artifact: 'sales.csv', where: [{ column: 'city', is: 'like' }] },
      /"where\.0\.is" is "like"; allowed are/,
    ],
  ])('%s refuses %j in words a model can mend', async (name, args, words) => {
    await expect(call(name, args)).rejects.toMatchObject({ message: expect.stringMatching(words) })
  })

  test('each has a schema of an object, no larger than a provider takes', () => {
    expect(Object.keys(BUILTIN_TOOLS).toSorted()).toEqual(Object.keys(BUILTIN_ARGUMENTS).toSorted())
    for (const { input_schema, description } of Object.values(BUILTIN_TOOLS)) {
      expect(input_schema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(JSON.stringify(input_schema)).not.toContain('$schema')
      expect(description.length).toBeLessThan(400)
    }
  })
})

const use = (given: Pick<ToolUse, 'use' | 'kind'>): ToolUse => ({
  name: given.use,
  effect: 'write',
  idempotent: false,
  untrusted: true,
  gates: [],
  timeout_ms: 60_000,
  config: {},
  ...given,
})

describe('what a run is frozen to', () => {
  beforeAll(() => {
    const child = {
      name: 'brief',
      inputs: { country: 'string' },
      blocks: [{ id: 'a', outputs: { text: 'string' }, agent: { prompt: 'x', provider: 'local', model: 'm' } }],
    }
    writeFileSync(join(place.folder, 'brief.yaml'), JSON.stringify(child))
  })

  test('tools of a server, a document and ours, each with its schema and hash', async () => {
    const { world } = place.place
    const pins = await describeTools(world, 'main', [
      use({ use: 'crm.find', kind: 'mcp' }),
      use({ use: 'dag.brief', kind: 'dag' }),
      use({ use: 'graph.search', kind: 'builtin' }),
    ])
    const told = { name: 'find', description: FIND.description, input_schema: FIND.inputSchema }
    expect(pins.get('crm.find')).toEqual(mcpToolPin(told))
    expect(pins.get('crm.find')).toMatchObject({ description: 'Finds a customer.', hash: toolHash(told) })
    expect(pins.get('dag.brief')).toMatchObject({
      description: expect.stringContaining('"brief"'),
      input_schema: {
        type: 'object',
        properties: { country: { type: 'string' } },
        required: ['country'],
        additionalProperties: false,
      },
      outputs: { text: { type: 'string', required: true } },
    })
    expect(pins.get('graph.search')).toMatchObject({ input_schema: BUILTIN_TOOLS['graph.search']?.input_schema })
  })

  test('a step of the project, by the whole schema of its inputs and what it says it is for', async () => {
    const [pin] = (
      await describeTools(place.place.world, 'main', [use({ use: './steps/refund.js', kind: 'step' })])
    ).values()
    expect(pin).toMatchObject({
      description: 'Pays a customer back.',
      input_schema: {
        type: 'object',
        properties: {
          amount: { type: 'number', maximum: 500 },
          customer: { type: 'object', properties: { id: { type: 'string' } } },
        },
        required: ['amount', 'customer'],
      },
      step: { kind: 'module', effect: 'again', hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      outputs: { refund_id: { type: 'string', required: true } },
    })
  })

  test('what is not there, or not allowed, is refused before the run is made', async () => {
    const { world } = place.place
    const of = (given: Pick<ToolUse, 'use' | 'kind'>) => describeTools(world, 'main', [use(given)])
    await expect(of({ use: 'crm.drop', kind: 'mcp' })).rejects.toMatchObject({
      code: 'unknown_tool',
      message: expect.stringContaining('allowed are find'),
    })
    await expect(of({ use: 'crn.find', kind: 'mcp' })).rejects.toMatchObject({ code: 'unknown_mcp_server' })
    await expect(of({ use: 'dag.nobody', kind: 'dag' })).rejects.toMatchObject({ name: 'NotFound' })
    await expect(of({ use: 'graph.drop', kind: 'builtin' })).rejects.toMatchObject({ code: 'unknown_tool' })
  })

  test('pins stand in the document, and for them its block has another hash', async () => {
    const parsed = parseDag(
      {
        name: 'asks',
        blocks: [{ id: 'a', outputs: { x: 'string' }, agent: { prompt: 'p', provider: 'local', model: 'm' } }],
      },
      { providers: ['local'] },
    )
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors))
    const acting: Acting = {
      tools: [use({ use: 'crm.find', kind: 'mcp' })],
      max_turns: 3,
      max_parallel: 2,
      max_refused: 2,
      taint: 'approve',
    }
    const blocks = parsed.dag.blocks.map((block) =>
      block.mode === 'ai' ? { ...block, agent: { ...block.agent, acting } } : block,
    )
    const dag: Dag = { ...parsed.dag, blocks }
    const { world } = place.place
    const pinned = await pinTools(world, 'main', dag)
    const again = await pinTools(world, 'main', dag)
    expect(again).toEqual(pinned)
    const [block] = pinned.blocks
    expect(block?.mode === 'ai' ? block.agent.acting?.tools[0]?.pin?.description : '').toBe('Finds a customer.')
    expect(block?.hash).not.toBe(dag.blocks[0]?.hash)
    const [tool] = server.tools
    if (tool !== undefined) tool.description = 'Finds anybody.'
    expect((await pinTools(world, 'main', dag)).blocks[0]?.hash).not.toBe(block?.hash)
    expect(await pinTools(world, 'main', parsed.dag)).toBe(parsed.dag)
    expect(readMcpUse('crm.find')).toEqual({ server: 'crm', tool: 'find' })
  })
})
