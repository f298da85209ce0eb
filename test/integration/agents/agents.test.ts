import { afterEach, describe, expect, test } from 'vitest'
import type { DispatchAnswer, DispatchRequest } from '../../../shared/providers/provider.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

type Said = string | { readonly text?: string; readonly calls: readonly (readonly [tool: string, args: unknown])[] }

/** A place whose model says what the script says, turn by turn; what it was asked. */
async function scripted(script: (turn: number, request: DispatchRequest) => Said) {
  const asked: DispatchRequest[] = []
  const probe = {
    async dispatch(request: DispatchRequest): Promise<DispatchAnswer> {
      asked.push(request)
      const turn = (request.conversation ?? []).filter(({ role }) => role === 'assistant').length
      const said = script(turn, request)
      const { text = '', calls = [] } = typeof said === 'string' ? { text: said } : said
      return {
        text,
        tokens_in: 10,
        tokens_out: 5,
        usd: 0.001,
        model: request.model,
        finish_reason: calls.length === 0 ? 'stop' : 'tool_calls',
        calls: calls.map(([tool, args], index) => ({
          id: `call_${turn}_${index}`,
          tool,
          arguments: typeof args === 'string' ? args : JSON.stringify(args),
        })),
      }
    },
  }
  open = await openTestPlace({ providers: { probe } })
  return { place: open, asked }
}

const agent = (over: object = {}) => ({
  provider: 'probe',
  model: 'm',
  prompt: 'Write a report about {{inputs.topic}}.',
  tools: ['artifact.write'],
  ...over,
})

const document = (over: object = {}, block: object = {}) => ({
  inputs: { topic: 'string' },
  blocks: [{ id: 'act', outputs: { answer: 'string' }, agent: agent(over), ...block }],
})

const started = { inputs: { topic: 'bees' } }

async function outputOf({ place }: TestPlace, events: readonly RunEvent[]): Promise<unknown> {
  const found = events.findLast((e) => e.type === 'block:output' && e.item === undefined)
  const ref = found?.type === 'block:output' ? (found.data.outputs.answer?.ref ?? '') : ''
  return JSON.parse(Buffer.from(await place.world.objects.get('main', ref)).toString('utf8'))
}

/** The run as it is stored keeps everything a run promises. */
async function expectSound(at: TestPlace, run_id: string): Promise<void> {
  const { json } = await at.call('verify-run', run_id)
  const { checks } = json as unknown as { checks: readonly { n: number; ok: boolean; problems: readonly string[] }[] }
  expect(checks.flatMap(({ n, ok, problems }) => (ok ? [] : [n, ...problems]))).toEqual([])
  expect(json).toMatchObject({ ok: true })
}

/** What the model was told of each call so far, by its id. */
const toldOf = (request: DispatchRequest | undefined) =>
  Object.fromEntries(
    (request?.conversation ?? []).flatMap((one) => (one.role === 'tool' ? [[one.id, one] as const] : [])),
  )

const write = (name: string, text = 'x') => ['artifact__write', { name, text }] as const

async function decided(at: TestPlace, run_id: string, decision: object): Promise<number> {
  const asked = (await at.until(run_id, ({ type }) => type === 'approval:requested')) as Extract<
    RunEvent,
    { type: 'approval:requested' }
  >
  const { approval_id, digest } = asked.data
  return (await at.call('decide-approval', run_id, { approval_id, digest, ...decision })).status
}

describe('an agent that acts', () => {
  test('calls a tool, sees what came of it, and answers', async () => {
    const { place, asked } = await scripted((turn) =>
      turn === 0 ? { text: 'I write.', calls: [write('bees.md')] } : 'Done.',
    )
    const id = await place.start(document(), started)
    const events = await place.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
    expect(await outputOf(place, events)).toBe('Done.')
    expect(asked).toHaveLength(2)
    expect(asked[0]?.tools?.map(({ name }) => name)).toEqual(['artifact__write'])
    expect(asked[1]?.conversation).toMatchObject([
      { role: 'assistant', text: 'I write.', calls: [{ tool: 'artifact__write' }] },
      { role: 'tool', id: 'call_0_0', is_error: false },
    ])
    await expectSound(place, id)
  })

  test('calls several tools at once, and is told of each in its order', async () => {
    const { place, asked } = await scripted((turn) =>
      turn === 0 ? { calls: [write('a.md'), write('b.md'), write('c.md')] } : 'Done.',
    )
    const id = await place.start(document(), started)
    await place.ended(id)
    const ids = (asked[1]?.conversation ?? []).flatMap((one) => (one.role === 'tool' ? [one.id] : []))
    expect(ids).toEqual(['call_0_0', 'call_0_1', 'call_0_2'])
    await expectSound(place, id)
  })

  test('is told why a call was refused: no such tool, no JSON, no fit, a gate, too many', async () => {
    const gates = [{ name: 'short', check: { type: 'max_length', port: 'text', max: 5 } }]
    const tools = [{ use: 'artifact.write', gates, max_calls: 4 }]
    const { place, asked } = await scripted((turn) =>
      turn === 0
        ? {
            calls: [
              ['delete_everything', {}],
              ['artifact__write', '{"name":'],
              ['artifact__write', { name: 7 }],
              write('long.md', 'far too long'),
              write('ok.md', 'ok'),
              write('more.md', 'ok'),
            ],
          }
        : 'Done.',
    )
    const id = await place.start(document({ tools }), started)
    const events = await place.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
    const told = toldOf(asked[1])
    expect(told.call_0_0).toMatchObject({
      is_error: true,
      text: expect.stringContaining('there is no tool "delete_everything"'),
    })
    expect(told.call_0_1).toMatchObject({ is_error: true, text: expect.stringContaining('JSON') })
    expect(told.call_0_2).toMatchObject({ is_error: true, text: expect.stringContaining('do not fit') })
    expect(told.call_0_3).toMatchObject({ is_error: true, text: expect.stringContaining('"short"') })
    expect(told.call_0_4).toMatchObject({ is_error: false })
    expect(told.call_0_5).toMatchObject({ is_error: true, text: expect.stringContaining('4 times') })
    await expectSound(place, id)
  })

  test('fails once more calls were refused than it may have refused, and says so', async () => {
    const { place } = await scripted(() => ({ text: 'Again.', calls: [['nothing', {}]] }))
    const id = await place.start(document({ max_refused: 2 }), started)
    const events = await place.ended(id)
    const failed = events.find(({ type, item }) => type === 'block:failed' && item === undefined)
    expect(failed?.data).toMatchObject({ code: 'max_refused', reason: expect.stringContaining('Again.') })
    await expectSound(place, id)
  })

  test('fails after max_turns with what it said last', async () => {
    const { place, asked } = await scripted((turn) => ({ text: `Turn ${turn}.`, calls: [write(`${turn}.md`)] }))
    const id = await place.start(document({ max_turns: 3 }), started)
    const events = await place.ended(id)
    const failed = events.find(({ type, item }) => type === 'block:failed' && item === undefined)
    expect(failed?.data).toMatchObject({ code: 'max_turns', reason: expect.stringContaining('Turn 2.') })
    expect(asked).toHaveLength(3)
    await expectSound(place, id)
  })

  test('mends an answer that breaks the output contract in a further turn', async () => {
    const { place, asked } = await scripted((turn) => (turn === 0 ? 'no number' : '{"answer": 7}'))
    const id = await place.start(document({}, { outputs: { answer: 'number' } }), started)
    const events = await place.ended(id)
    expect(await outputOf(place, events)).toBe(7)
    expect(asked[1]?.conversation).toMatchObject([
      { role: 'assistant', text: 'no number' },
      { role: 'user', text: expect.stringContaining('answer') },
    ])
    await expectSound(place, id)
  })

  test('goes on with its transcript when a gate refuses its answer: nothing is paid twice', async () => {
    const post_gates = [{ name: 'honey', check: { type: 'contains', port: 'answer', values: ['honey'] } }]
    const { place, asked } = await scripted((turn) =>
      turn === 0 ? { calls: [write('bees.md')] } : turn === 1 ? 'Bees.' : 'Bees make honey.',
    )
    const id = await place.start(document({}, { post_gates, retry: { max_attempts: 2, delay_ms: 1 } }), started)
    const events = await place.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
    expect(asked).toHaveLength(3)
    expect(asked[2]?.conversation?.at(-1)).toMatchObject({ role: 'user', text: expect.stringContaining('honey') })
    await expectSound(place, id)
  })

  const asking = {
    tools: [
      {
        use: 'artifact.write',
        approval: { when: "args.name != 'free.md'", prompt: 'Write {{args.name}}?', edit: ['text'] },
      },
    ],
  }

  test('waits for a person before a call that asks, and not for one that does not', async () => {
    const { place, asked } = await scripted((turn) =>
      turn === 0 ? { calls: [write('free.md'), write('asked.md')] } : 'Done.',
    )
    const id = await place.start(document(asking), started)
    await place.until(id, ({ type, item }) => type === 'block:completed' && item === 1)
    await place.until(id, ({ type }) => type === 'approval:requested')
    expect(asked).toHaveLength(1)
    expect(await decided(place, id, { decision: 'approve' })).toBe(200)
    expect((await place.ended(id)).at(-1)).toMatchObject({ type: 'run:completed' })
    expect(toldOf(asked[1])).toMatchObject({ call_0_0: { is_error: false }, call_0_1: { is_error: false } })
    await expectSound(place, id)
  })

  test('makes a call with the arguments a person changed, and judges those', async () => {
    const { place, asked } = await scripted((turn) => (turn === 0 ? { calls: [write('a.md', 'first')] } : 'Done.'))
    const id = await place.start(document(asking), started)
    expect(await decided(place, id, { decision: 'approve', edits: { text: 'changed!' } })).toBe(200)
    await place.ended(id)
    expect(toldOf(asked[1]).call_0_0?.text).toContain('8 bytes')
    await expectSound(place, id)
  })

  test('tells the model what a person said no with', async () => {
    const { place, asked } = await scripted((turn) => (turn === 0 ? { calls: [write('a.md')] } : 'Then not.'))
    const id = await place.start(document(asking), started)
    expect(await decided(place, id, { decision: 'reject', feedback: 'never on a Friday' })).toBe(200)
    expect((await place.ended(id)).at(-1)).toMatchObject({ type: 'run:completed' })
    expect(toldOf(asked[1]).call_0_0).toMatchObject({
      is_error: true,
      text: expect.stringContaining('never on a Friday'),
    })
    await expectSound(place, id)
  })

  test('asks a person a free question with a form, whose answers it is told', async () => {
    const fields = [{ name: 'amount', type: 'number' }]
    const { place, asked } = await scripted((turn) =>
      turn === 0 ? { calls: [['ask_person', { question: 'How much?', fields }]] } : 'Thanks.',
    )
    const id = await place.start(document({ tools: ['ask_person'] }), started)
    expect(await decided(place, id, { decision: 'approve', edits: { amount: 12 } })).toBe(200)
    await place.ended(id)
    expect(toldOf(asked[1]).call_0_0).toMatchObject({ is_error: false, text: expect.stringContaining('12') })
    await expectSound(place, id)
  })
})
