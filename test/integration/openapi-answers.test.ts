import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

/** What a real place answers over HTTP fits the OpenAPI document it serves, route by route. */
const text = { text: { type: 'string' } }
const agent = { provider: 'probe', model: 'm', prompt: 'Write.' }
const writes = {
  id: 'keep',
  mode: 'deterministic',
  inputs: { body: { from: 'write.text' } },
  deterministic: { handler: 'write-artifact', config: { name: 'note.txt' } },
}
const gate = { name: 'long', check: { type: 'min_length', port: 'text', min: 2 }, on_fail: 'warn' }
const DAG = {
  name: 'answers',
  inputs: { topic: { type: 'string', default: 'rain' } },
  blocks: [{ id: 'write', outputs: text, agent, post_gates: [gate], approval: { prompt: 'Go?' } }, writes],
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: object }>> }>
  >
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

let place: TestPlace
let url: string
let document: Document
const ids: Record<string, string> = {}
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': true, uri: true, binary: true } })

beforeAll(async () => {
  place = await openTestPlace({ providers: { probe: provider(() => 'All of it.') }, listen: true }, { port: 0 })
  url = place.place.url ?? ''
  const at = await place.start(DAG)
  const asked = await place.until(at, ({ type }) => type === 'approval:requested')
  if (asked.type !== 'approval:requested') throw new Error('nobody was asked')
  await place.call('decide-approval', at, { decision: 'approve', digest: asked.data.digest })
  const events = await place.ended(at)
  const output = events.find(({ type }) => type === 'block:output')
  ids.run_id = at
  ids.other_id = at
  ids.block_id = 'write'
  ids.name = 'note.txt'
  ids.sha256 = output?.type === 'block:output' ? (output.data.outputs.text?.sha256 ?? '') : ''
  document = (await (await fetch(`${url}/api/openapi.json`)).json()) as Document
  ajv.addSchema(document, 'api')
})
afterAll(() => place.close())

/** Problems of an answer, judged by the schema the document has for its status. */
async function check(path: string, method: string, init: RequestInit = {}): Promise<readonly string[]> {
  const address = path.replace(/\{(\w+)\}/g, (_, key: string) => ids[key] ?? 'run_00000000000000000000000000')
  const response = await fetch(`${url}${address}`, { method, ...init })
  const responses: Operation['responses'] = document.paths[path]?.[method.toLowerCase()]?.responses ?? {}
  const status = responses[response.status] === undefined ? 'default' : String(response.status)
  const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? ''
  const content = responses[status]?.content ?? {}
  const declared = content[type] === undefined ? Object.keys(content).find((one) => one === '*/*') : type
  if (declared === undefined) return [`${response.status} ${type} is not declared`]
  const body = await response.text()
  if (type !== 'application/json' && type !== 'application/problem+json') return []
  const pointer = ['paths', path, method.toLowerCase(), 'responses', status, 'content', declared, 'schema']
  const ref = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
  const judge = ajv.compile({ $ref: `api#/${ref}` })
  return judge(JSON.parse(body)) ? [] : (judge.errors ?? []).map((one) => `${one.instancePath} ${one.message}`)
}

/** Answered where a person's run never comes: a stream, and what Slack signs. */
const ELSEWHERE = ['stream-events', 'slack-interactions']

describe('answers of a place', () => {
  test('fit the document on every route that is read, refusals too', async () => {
    const seen: Record<string, readonly string[]> = {}
    for (const [path, { get }] of Object.entries(document.paths)) {
      if (get === undefined || ELSEWHERE.includes(get.operationId)) continue
      const problems = await check(path, 'GET')
      if (problems.length > 0) seen[get.operationId] = problems
    }
    expect(seen).toEqual({})
  })

  test.each<[string, object]>([
    ['/api/dag/validate', { dag: DAG }],
    ['/api/dag/validate', { dag: { name: 'x', blocks: [{ id: 'a' }] } }],
    ['/api/dag/plan', { dag: DAG }],
    ['/api/dag/run', { dag: DAG }],
    ['/api/dag/run', { dag: 7 }],
    ['/api/dag/runs/{run_id}/stop', {}],
    ['/api/dag/runs/{run_id}/retry', {}],
    ['/api/dag/runs/stop-all', { reason: 'end of the test' }],
    ['/api/dag/safety/release', {}],
  ])('fit the document: POST %s (case %#)', async (path, body) => {
    const headers = { 'content-type': 'application/json' }
    expect(await check(path, 'POST', { headers, body: JSON.stringify(body) })).toEqual([])
  })
})
