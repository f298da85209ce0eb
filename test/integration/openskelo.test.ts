import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Dag, PortType } from '../../shared/dag/dag.ts'
import { parseDag } from '../../shared/document/parse.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { Json } from '../../shared/text/json.ts'
import { filesBelow, readText } from '../unit/docs/markdown.ts'
import { type ApprovalPlace, openApprovalPlace } from './approvals/approval-place.ts'

/**
 * How far each document written for OpenSkelo comes, unchanged, with a provider that answers what is asked of it: to
 * its end, or to the person it names.
 */
const ENDS: Readonly<Record<string, string>> = {
  'data-quality': 'run:completed',
  'field-guide': 'asks user:owner',
  'incident-response': 'asks user:owner',
  newsletter: 'asks user:editor-in-chief',
  'release-train': 'run:failed shell',
  'site-migration': 'asks user:owner',
  'tender-review': 'asks user:board',
}

const everything =
  'data writing logs metrics debugging ops research mail coding testing security devops web seo backend law search extraction finance hr engineering risk'
const agent = (role: string) => ({ role, provider: 'house', model: 'any', capabilities: everything.split(' ') })
const agents = {
  coder: agent('worker'),
  checker: agent('reviewer'),
  lead: agent('manager'),
  expert: agent('specialist'),
  editor: agent('worker'),
}

/** Values by type; file and artifact are what a person gives as a run input: the ref of what they uploaded. */
const VALUES: Record<PortType, Json> = {
  string: 'Because the old host ends in March, the shop moves; however, the result must be the same. '.repeat(9),
  number: 3,
  boolean: true,
  json: [{ id: 1, title: 'one', price: 10, severity: 'low' }],
  file: '',
  artifact: '',
}

/** What gates of the documents ask for besides the type, by port. */
const ANSWERS: Readonly<Record<string, Json>> = {
  branch: 'release/1.2',
  url: 'https://example.com/shop',
  angle: 'Why the new host is worth it',
  results: { failed: 0 },
  broken: [],
  errors: 0,
  verdict: 'pass',
}

/** Answers every port the contract asks for, with text where it asks for a file: no model knows an object ref. */
const house: Provider = {
  async dispatch({ output_schema }) {
    const values = Object.entries(output_schema).map(([port, { type }]) => [port, ANSWERS[port] ?? said(type)])
    const text = JSON.stringify(Object.fromEntries(values))
    return { text, tokens_in: 1, tokens_out: 1, usd: 0, model: 'any', finish_reason: 'stop' }
  },
}

function said(type: PortType): Json {
  return type === 'file' || type === 'artifact' ? VALUES.string : VALUES[type]
}

let place: ApprovalPlace
beforeAll(async () => {
  place = await openApprovalPlace({ agents }, { providers: { house } })
  const rows = new TextEncoder().encode('[{"key": "a", "price": 10}, {"key": "", "price": 20}]')
  const { ref } = await place.place.world.objects.put('main', rows)
  VALUES.file = ref
  VALUES.artifact = ref
})
afterAll(() => place.close())

describe('a document written for OpenSkelo', () => {
  test.each(filesBelow(['test/unit/document/openskelo'], '.yaml'))('%s runs as it is', async (file) => {
    const id = await start(file)
    const end = await place.until(id, ({ type }) => /^run:(completed|failed)$|^approval:requested$/.test(type))
    const name = file.replace(/^.*\/|\.yaml$/g, '')
    expect(wordsOf(end)).toBe(ENDS[name])
  })
})

describe('approver: owner', () => {
  const GUIDE = 'test/unit/document/openskelo/field-guide.yaml'

  test('is whoever started the place: their yes runs the block, and nobody else says it', async () => {
    const id = await start(GUIDE)
    const { approval_id, digest } = await place.asked(id, 'publish')
    expect(await place.decide(id, 'user:stranger', { decision: 'approve', digest })).toBe('not_an_approver')
    const answer = await place.call('decide-approval', id, { approval_id, digest, decision: 'approve' })
    expect(answer).toMatchObject({ status: 200, json: { approval: { status: 'approved' } } })
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    const ran = events.filter(({ type, block_id }) => type === 'block:started' && block_id === 'publish')
    expect(ran).toHaveLength(1)
    expect(await place.problems(id)).toEqual([])
  })

  test('is who the settings say, and then not who started the place', async () => {
    const other = await openApprovalPlace({ agents, people: { owner: ['user:ana'] } }, { providers: { house } })
    try {
      const id = await start(GUIDE, other)
      const { approval_id, digest } = await other.asked(id, 'publish')
      const refused = await other.call('decide-approval', id, { approval_id, digest, decision: 'approve' })
      expect(refused).toMatchObject({ status: 403, json: { code: 'not_an_approver' } })
      expect(await other.decide(id, 'user:ana', { decision: 'approve', digest })).toBe('approved')
      expect((await other.ended(id)).at(-1)?.type).toBe('run:completed')
    } finally {
      await other.close()
    }
  })

  test('may say no, and the block is not run', async () => {
    const id = await start(GUIDE)
    const { approval_id, digest } = await place.asked(id, 'publish')
    await place.call('decide-approval', id, { approval_id, digest, decision: 'reject', feedback: 'not yet' })
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:failed')
    expect(events.filter(({ type, block_id }) => type === 'block:started' && block_id === 'publish')).toEqual([])
  })
})

test('what builtin:write-file gives is what the next gates expect: a path with its time, a bare name, the text', async () => {
  const id = await start('test/unit/document/openskelo/field-guide.yaml')
  await place.asked(id, 'publish')
  const output = (await place.events(id)).find(({ type, block_id }) => type === 'block:output' && block_id === 'save')
  const { outputs } = (output as Extract<RunEvent, { type: 'block:output' }>).data
  const saved = async (port: string) =>
    JSON.parse(Buffer.from(await place.place.world.objects.get('main', outputs[port]?.ref ?? '')).toString()) as Json
  expect(await saved('desktop_file_path')).toMatch(/^output\/guide-\d{8}-\d{6}\.md$/)
  expect(await saved('desktop_file_name')).toMatch(/^guide-\d{8}-\d{6}\.md$/)
  expect(await saved('final_markdown')).toBe(VALUES.string)
})

function wordsOf(event: RunEvent): string {
  if (event.type === 'approval:requested') return `asks ${event.data.approvers.join(' ')}`
  return event.type === 'run:failed' && event.data.reason.includes('shell') ? 'run:failed shell' : `${event.type}`
}

function start(file: string, at: ApprovalPlace = place): Promise<string> {
  const text = readText(file)
  const parsed = parseDag(text)
  if (!parsed.ok) throw new Error(`${file} is not valid`)
  return at.start(text, { inputs: inputsOf(parsed.dag) })
}

function inputsOf({ blocks }: Dag): Record<string, Json> {
  const ports = blocks.flatMap(({ inputs }) => Object.entries(inputs))
  const free = ports.filter(([, port]) => port.from === undefined && port.default === undefined)
  return Object.fromEntries(free.map(([name, { type }]) => [name, ANSWERS[name] ?? VALUES[type]]))
}
