import { afterEach, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { GET_TRANSCRIPT } from '../../../shared/api/transcript-route.ts'
import type { Provider } from '../../../shared/providers/provider.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { secondFold } from '../../unit/runs/second-fold.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

type Transcript = z.output<(typeof GET_TRANSCRIPT)['answer']>
type Called = readonly [tool: string, args: unknown]
type Script = (turn: number) => string | { readonly text?: string; readonly calls: readonly Called[] }

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

/** A provider that says what the script says, turn by turn. */
function scripted(script: Script): Provider {
  return {
    async dispatch({ conversation = [], model }) {
      const turn = conversation.filter(({ role }) => role === 'assistant').length
      const said = script(turn)
      const { text = '', calls = [] } = typeof said === 'string' ? { text: said } : said
      const asked = calls.map(([tool, args], n) => ({ id: `${turn}_${n}`, tool, arguments: JSON.stringify(args) }))
      const finish_reason = asked.length === 0 ? 'stop' : 'tool_calls'
      return { text, tokens_in: 10, tokens_out: 5, usd: 0.001, model, finish_reason, calls: asked }
    },
  }
}

async function placeWith(script: Script): Promise<TestPlace> {
  open = await openTestPlace({ providers: { probe: scripted(script) } })
  return open
}

const document = (tools: readonly unknown[], block: object = {}) => ({
  inputs: { topic: 'string' },
  blocks: [
    {
      id: 'act',
      outputs: { answer: 'string' },
      agent: { provider: 'probe', model: 'm', prompt: 'Write of {{inputs.topic}}.', tools },
      ...block,
    },
  ],
})
const started = { inputs: { topic: 'bees' } }
const write = (name: string, text = 'x') => ['artifact__write', { name, text }] as const

async function transcript(at: TestPlace, run_id: string, query: Record<string, string> = {}, block_id = 'act') {
  const event = { httpMethod: 'GET', path: '/', headers: {}, body: null, isBase64Encoded: false }
  const params = { pathParameters: { run_id, block_id }, queryStringParameters: query }
  const answer = (await at.place.invoke('get-transcript', { ...event, ...params })) as {
    statusCode: number
    body: string
  }
  const json = JSON.parse(answer.body) as Transcript & { readonly code?: string }
  if (answer.statusCode === 200) expect(GET_TRANSCRIPT.answer.safeParse(json).error?.issues).toBeUndefined()
  return { status: answer.statusCode, json }
}

async function asked(at: TestPlace, run_id: string, nth = 0) {
  await at.until(run_id, ({ type, seq }) => type === 'approval:requested' && seq > 0)
  const questions = (events: readonly RunEvent[]) =>
    events.flatMap((event) => (event.type === 'approval:requested' ? [event.data] : []))
  for (;;) {
    const found = questions(await at.events(run_id))[nth]
    if (found !== undefined) return found
    await at.place.world.waker.changed({ tenant: 'main', run_id }, 50)
  }
}

describe('the transcript of an agent', () => {
  test('has each turn with what was said, and each call with its arguments, gates and result', async () => {
    const gates = [{ name: 'short', check: { type: 'max_length', port: 'text', max: 5 } }]
    const at = await placeWith((turn) =>
      turn === 0 ? { text: 'I write.', calls: [write('a.md', 'ok'), write('b.md', 'far too long')] } : 'Done.',
    )
    const id = await at.start(document([{ use: 'artifact.write', gates }]), started)
    await at.ended(id)
    const { json } = await transcript(at, id)
    expect(json).toMatchObject({ run_id: id, block_id: 'act', state: 'completed', epoch: 0, turns_total: 2 })
    expect(json).not.toHaveProperty('next_turn')
    const [first, second] = json.turns
    expect(first).toMatchObject({
      ...{ turn: 1, item: 0, state: 'completed', text: 'I write.', provider: 'probe', model: 'm' },
      ...{ finish_reason: 'tool_calls', tokens_in: 10, tokens_out: 5, usd: 0.001, attempts: 1, tainted: false },
      calls: [
        {
          ...{ call: 1, item: 1, tool: 'artifact__write', use: 'artifact.write', state: 'completed' },
          arguments: '{"name":"a.md","text":"ok"}',
          result: expect.stringContaining('2 bytes'),
          gates: [{ gate: 'short', status: 'passed', phase: 'pre' }],
        },
        {
          ...{
            call: 2,
            state: 'refused',
            error: { code: 'pre_gate_failed', reason: expect.stringContaining('short') },
          },
          gates: [{ gate: 'short', status: 'failed' }],
        },
      ],
    })
    expect(first?.calls[1]).not.toHaveProperty('result')
    expect(second).toMatchObject({ turn: 2, text: 'Done.', finish_reason: 'stop', calls: [] })
  })

  test('says what the user side told in between, and goes on over attempts of the block', async () => {
    const post_gates = [{ name: 'honey', check: { type: 'contains', port: 'answer', values: ['honey'] } }]
    const at = await placeWith((turn) =>
      turn === 0 ? { calls: [write('a.md')] } : turn === 1 ? 'No.' : 'It is honey.',
    )
    const retry = { max_attempts: 2, delay_ms: 1 }
    const id = await at.start(document(['artifact.write'], { post_gates, retry }), started)
    const events = await at.ended(id)
    const { json } = await transcript(at, id)
    expect(json).toMatchObject({ attempt: 2, turns_total: 3 })
    expect(json.turns[2]).toMatchObject({ told: expect.stringContaining('honey'), text: 'It is honey.' })
    expect(foldRun(events)).toEqual(secondFold(events))
    expect(foldRun(events).blocks.act).toMatchObject({ first_turn: 2, items: { 0: {}, 1: { tool: 'artifact.write' } } })
  })

  test('tells what a person was asked, and what they said and changed; the other call still waits', async () => {
    const at = await placeWith((turn) => (turn === 0 ? { calls: [write('a.md'), write('b.md')] } : 'Done.'))
    const approval = { prompt: 'Write {{args.name}}?', edit: ['text'] }
    const id = await at.start(document([{ use: 'artifact.write', approval }]), started)
    await asked(at, id, 1)
    const waiting = await transcript(at, id)
    expect(waiting.json.turns[0]?.calls.map(({ state }) => state)).toEqual(['paused_approval', 'paused_approval'])
    const run = await at.call('get-run', id)
    expect(run.json).toMatchObject({
      run: { waiting_for: expect.stringMatching(/a word on call \d of turn 1 \(artifact\.write\) of act since/) },
      blocks: { act: { first_turn: 0, agent: { turns: 1, calls: 2, waiting: 2, running: 0, refused: 0, failed: 0 } } },
    })
    expect(JSON.stringify(run.json)).not.toContain('item_count')

    const second = [await asked(at, id, 0), await asked(at, id, 1)].find(({ approval_id }) => /_i2a/.test(approval_id))
    const { approval_id, digest } = second ?? { approval_id: '', digest: '' }
    await at.call('decide-approval', id, { approval_id, digest, decision: 'reject', feedback: 'never on a Friday' })
    await at.until(id, ({ type, item }) => type === 'block:failed' && item === 2)
    const { turns } = (await transcript(at, id)).json
    expect(turns[0]?.calls).toMatchObject([
      { state: 'paused_approval', approvals: [{ status: 'pending', about: 'call' }] },
      {
        state: 'refused',
        approvals: [{ status: 'rejected', decided_by: expect.any(String), feedback: 'never on a Friday' }],
      },
    ])
    const half = await at.events(id)
    expect(foldRun(half)).toEqual(secondFold(half))

    const first = [await asked(at, id, 0), await asked(at, id, 1)].find(({ approval_id }) => /_i1a/.test(approval_id))
    await at.call('decide-approval', id, {
      ...{ approval_id: first?.approval_id, digest: first?.digest },
      ...{ decision: 'approve', edits: { text: 'changed!' } },
    })
    await at.ended(id)
    const { json } = await transcript(at, id)
    expect(json.turns[0]?.calls[0]).toMatchObject({
      state: 'completed',
      arguments: '{"name":"a.md","text":"x"}',
      approvals: [{ status: 'approved', edits: { text: 'changed!' } }],
      result: expect.stringContaining('8 bytes'),
    })
    const all = await at.events(id)
    expect(foldRun(all)).toEqual(secondFold(all))
  })

  test('comes in pages, and cuts what is long by a number it tells', async () => {
    const long = 'x'.repeat(20_000)
    const at = await placeWith((turn) => (turn < 4 ? { text: `${turn}`, calls: [write('a.md', long)] } : 'Done.'))
    const id = await at.start(document(['artifact.write']), started)
    await at.ended(id)
    const page = await transcript(at, id, { turn: '2', limit: '2' })
    expect(page.json.turns.map(({ turn }) => turn)).toEqual([2, 3])
    expect(page.json).toMatchObject({ turns_total: 5, next_turn: 4 })
    const call = page.json.turns[0]?.calls[0]
    expect((call?.arguments?.length ?? 0) + (call?.arguments_cut ?? 0)).toBe(`{"name":"a.md","text":"${long}"}`.length)
    expect((await transcript(at, id, { turn: '0' })).status).toBe(400)
  })

  test('begins with the turns that a retry kept of the run before', async () => {
    const at = await placeWith((turn) => (turn === 0 ? { text: 'First.', calls: [write('a.md')] } : `Answer ${turn}.`))
    const id = await at.start(document(['artifact.write']), started)
    await at.ended(id)
    const retried = await at.call('retry-run', id, { from_block: 'act', keep_turns: 1, say: 'In French.' })
    const again = String(Object.entries(retried.json).find(([name]) => name === 'run_id')?.[1])
    await at.ended(again)
    const { json } = await transcript(at, again)
    expect(json.turns).toMatchObject([
      { turn: 1, from_run: id, text: 'First.', calls: [{ state: 'completed' }] },
      { turn: 2, told: 'In French.', text: 'Answer 1.' },
    ])
    expect(json.turns[1]).not.toHaveProperty('from_run')
  })

  test('is no thing of a block that calls no tools', async () => {
    const at = await placeWith(() => 'Done.')
    const id = await at.start({
      blocks: [{ id: 'act', outputs: { answer: 'string' }, agent: { provider: 'probe', model: 'm', prompt: 'Go.' } }],
    })
    await at.ended(id)
    expect(await transcript(at, id)).toMatchObject({ status: 404, json: { code: 'no_transcript' } })
  })
})
