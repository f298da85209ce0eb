import { afterEach, describe, expect, test } from 'vitest'
import type { PlaceOptions } from '../../../infra/local/place.ts'
import type { DispatchAnswer, DispatchRequest } from '../../../shared/providers/provider.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { EACH, firstDaily } from '../../how-much.ts'
import { deployDocument, headOf, lastOf } from '../child-place.ts'
import { hangAt } from '../hang-at.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const silent = { info: () => undefined, error: () => undefined }

type Call = readonly [tool: string, args: object]

/** A model that makes these calls, turn by turn, and then says what it was told of the last ones. */
function calling(...turns: readonly (readonly Call[])[]): PlaceOptions & { readonly asked: DispatchRequest[] } {
  const asked: DispatchRequest[] = []
  const probe = {
    async dispatch(request: DispatchRequest): Promise<DispatchAnswer> {
      asked.push(request)
      const said = request.conversation ?? []
      const turn = said.filter(({ role }) => role === 'assistant').length
      const calls = (request.tools === undefined ? [] : (turns[turn] ?? [])).map(([tool, args], n) => ({
        id: `call_${turn}_${n}`,
        tool,
        arguments: JSON.stringify(args),
      }))
      const text = request.tools === undefined ? 'Words.' : calls.length > 0 ? '' : told(request).join(' | ')
      const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop'
      return { text, tokens_in: 10, tokens_out: 5, usd: 0.001, model: request.model, finish_reason, calls }
    },
  }
  return { providers: { probe }, log: silent, asked }
}

/** What the model was told of each call, in order. */
function told(request: DispatchRequest | undefined): readonly string[] {
  return (request?.conversation ?? []).flatMap((one) => (one.role === 'tool' ? [one.text] : []))
}

const brief = (topic: string): Call => ['dag__brief', { topic }]
const says = {
  id: 'say',
  mode: 'deterministic',
  outputs: { words: 'string' },
  deterministic: { handler: 'transform', config: { expression: '"All about " & inputs.topic' } },
}
const asks = { id: 'ask', mode: 'approval', approval: { prompt: 'Go on?' } }
const saysThen = { ...says, depends: 'ask.succeeded' }
const takesTopic = { inputs: { topic: 'string' } }

const agentOf = (tools: readonly unknown[], more: object = {}, block: object = {}) => ({
  id: 'act',
  outputs: { answer: 'string' },
  agent: { provider: 'probe', model: 'm', prompt: 'Go.', tools, ...more },
  ...block,
})

/** The run as it is stored keeps everything a run promises. */
async function problemsOf(place: TestPlace, run_id: string): Promise<readonly unknown[]> {
  const { json } = await place.call('verify-run', run_id)
  const { checks } = json as unknown as { checks: readonly { n: number; ok: boolean; problems: readonly string[] }[] }
  return checks.flatMap(({ n, ok, problems }) => (ok ? [] : [n, ...problems]))
}

async function childOfItem(place: TestPlace, run_id: string, item: number): Promise<string> {
  const begun = await place.until(run_id, (event) => event.type === 'block:started' && event.item === item)
  return begun.type === 'block:started' ? (begun.data.child ?? '') : ''
}

async function decide(place: TestPlace, run_id: string, decision: object): Promise<number> {
  const event = await place.until(run_id, ({ type }) => type === 'approval:requested')
  const { approval_id, digest } = event.type === 'approval:requested' ? event.data : { approval_id: '', digest: '' }
  return (await place.call('decide-approval', run_id, { approval_id, digest, ...decision })).status
}

const endOfItem = (events: readonly RunEvent[], item: number) =>
  events.find((event) => event.item === item && ['block:completed', 'block:failed'].includes(event.type))

describe('kill -9 while documents work as tools', () => {
  const TOP = { blocks: [agentOf(['dag.brief'])] }
  const twoAtOnce = () => calling([brief('bees'), brief('ants')], [brief('wasps')])

  async function countSteps(): Promise<number> {
    const place = await openTestPlace(twoAtOnce())
    try {
      deployDocument(place, 'brief', [says], takesTopic)
      const { counts } = hangAt(place, Number.POSITIVE_INFINITY, 'before')
      await place.ended(await place.start(TOP))
      return counts.steps
    } finally {
      await place.close()
    }
  }

  /** Killed at its n-th step and taken up by a new process; what is wrong with its end, if anything. */
  async function killedAt(n: number, when: 'before' | 'after'): Promise<unknown> {
    const options = twoAtOnce()
    open = await openTestPlace(options)
    deployDocument(open, 'brief', [says], takesTopic)
    const { reached, die } = hangAt(open, n, when)
    const key = { 'idempotency-key': `at-${n}` }
    const starting = open.start(TOP, {}, key).catch(() => undefined)
    // Steps of several runs interleave: the last ones may not come.
    await Promise.race([reached, new Promise((resolve) => setTimeout(resolve, 2_000))])
    const killed = open.kill(options)
    die()
    await Promise.all([killed, starting])
    const id = await open.start(TOP, {}, key)
    const last = await lastOf(open, id).catch(String)
    const runs: readonly { readonly state: string }[] = (await open.call('list-runs', '')).json.runs ?? []
    const states = runs.map(({ state }) => state).join(' ')
    const problems = await problemsOf(open, id)
    const text = told(options.asked.at(-1)).join(' | ')
    await open.close()
    open = undefined
    const isWell =
      typeof last !== 'string' &&
      last?.type === 'run:completed' &&
      states === 'completed completed completed completed' &&
      text === 'All about bees | All about ants | All about wasps' &&
      problems.length === 0
    return isWell ? undefined : [n, typeof last === 'string' ? last : last?.type, states, text, ...problems]
  }

  for (const { tags, rows } of firstDaily<'before' | 'after'>(1, ['after', 'before'])) {
    test.each(rows)('%s any step: each child ran once', { tags, timeout: 240_000 }, async (when) => {
      const steps = await countSteps()
      expect(steps).toBeGreaterThan(40)
      const wrong: unknown[] = []
      for (let n = 1; n <= steps; n += 2 * EACH) wrong.push(await killedAt(n, when))
      expect(wrong.filter((problem) => problem !== undefined)).toEqual([])
    })
  }
})

describe('a child that is a tool', () => {
  test('asks people of its own, who decide about it as about any child', async () => {
    const options = calling([brief('bees')])
    open = await openTestPlace(options)
    deployDocument(open, 'brief', [asks, saysThen], takesTopic)
    const id = await open.start({ blocks: [agentOf(['dag.brief'])] })
    const child = await childOfItem(open, id, 1)
    expect(await decide(open, child, { decision: 'approve' })).toBe(200)
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    expect(told(options.asked[1])).toEqual(['All about bees'])
    expect([await problemsOf(open, id), await problemsOf(open, child)]).toEqual([[], []])
  })

  test('that is refused by a person is an error of the tool', async () => {
    const options = calling([brief('bees')])
    open = await openTestPlace(options)
    deployDocument(open, 'brief', [asks, saysThen], takesTopic)
    const id = await open.start({ blocks: [agentOf(['dag.brief'])] })
    const child = await childOfItem(open, id, 1)
    expect(await decide(open, child, { decision: 'reject', feedback: 'no bees today' })).toBe(200)
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    expect(told(options.asked[1])[0]).toContain('no bees today')
    expect(await problemsOf(open, id)).toEqual([])
  })

  test('that was approved as one document does not run as another', async () => {
    const options = calling([brief('bees')])
    open = await openTestPlace(options)
    deployDocument(open, 'brief', [says], takesTopic)
    const id = await open.start({ blocks: [agentOf([{ use: 'dag.brief', approval: true }])] })
    await open.until(id, ({ type }) => type === 'approval:requested')
    const other = { ...says, deterministic: { handler: 'transform', config: { expression: '"Something else"' } } }
    deployDocument(open, 'brief', [other], takesTopic)
    expect(await decide(open, id, { decision: 'approve' })).toBe(200)
    await lastOf(open, id)
    expect(told(options.asked[1])[0]).toContain('has changed since this run was started')
    expect(await problemsOf(open, id)).toEqual([])
  })

  test('is made with the arguments a person changed', async () => {
    const options = calling([brief('bees')])
    open = await openTestPlace(options)
    deployDocument(open, 'brief', [says], takesTopic)
    const approval = { edit: ['topic'] }
    const id = await open.start({ blocks: [agentOf([{ use: 'dag.brief', approval }])] })
    expect(await decide(open, id, { decision: 'approve', edits: { topic: 'wasps' } })).toBe(200)
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    expect(told(options.asked[1])).toEqual(['All about wasps'])
    expect(await problemsOf(open, id)).toEqual([])
  })

  test('stands under what is left to its agent, with its gates before and behind it', async () => {
    const options = calling([brief('bees'), brief('ants')])
    open = await openTestPlace(options)
    deployDocument(open, 'brief', [says], takesTopic)
    const gates = [
      { name: 'bees', check: { type: 'one_of', port: 'topic', values: ['bees'] } },
      { name: 'short', check: { type: 'max_length', port: 'words', max: 200 }, after: true },
    ]
    const id = await open.start({
      blocks: [agentOf([{ use: 'dag.brief', gates }])],
      budget: { tokens: 100_000 },
    })
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect([endOfItem(events, 1)?.type, endOfItem(events, 2)?.type]).toEqual(['block:completed', 'block:failed'])
    expect(await problemsOf(open, id)).toEqual([])
  })

  test('shares what is left with the others that are called with it', async () => {
    const options = calling([brief('bees'), brief('ants'), brief('wasps')])
    open = await openTestPlace(options)
    const words = { id: 'say', outputs: { words: 'string' }, agent: { provider: 'probe', model: 'm', prompt: 'Say.' } }
    deployDocument(open, 'brief', [words], takesTopic)
    const id = await open.start({ blocks: [agentOf(['dag.brief'])], budget: { tokens: 200_000 } })
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect([1, 2, 3].map((item) => endOfItem(events, item)?.type)).toEqual(Array(3).fill('block:completed'))
    const { budget } = await headOf(open, id)
    expect(budget).toMatchObject({ committed_tokens: 5 * 15, spent_tokens: 5 * 15 })
    expect(await problemsOf(open, id)).toEqual([])
  })

  test('that calls its own document ends where children lie too deep', async () => {
    const options = calling([['dag__deep', {}]])
    open = await openTestPlace(options)
    deployDocument(open, 'deep', [agentOf(['dag.deep'])])
    const id = await open.start({ blocks: [agentOf(['dag.deep'])] })
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    expect(await problemsOf(open, id)).toEqual([])
  })

  test('gives the outputs of its last blocks, without refs and no more than a model is shown', async () => {
    const options = calling([brief('bees')])
    open = await openTestPlace(options)
    const long = {
      handler: 'transform',
      config: { expression: '$join($map([1..9000], function($n) { "line " & $n & "; " }))' },
    }
    const file = {
      id: 'file',
      mode: 'deterministic',
      inputs: { body: { from: 'say.words' } },
      outputs: { ref: 'artifact' },
      deterministic: { handler: 'write-artifact', config: { name: 'a.md' } },
    }
    deployDocument(
      open,
      'brief',
      [says, file, { id: 'long', mode: 'deterministic', outputs: { text: 'string' }, deterministic: long }],
      takesTopic,
    )
    const id = await open.start({ blocks: [agentOf(['dag.brief'])] })
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    const [text = ''] = told(options.asked[1])
    expect(text).not.toContain('objstore://')
    expect(text).toContain('more characters')
    expect(text.length).toBeLessThan(66_000)
    expect(await problemsOf(open, id)).toEqual([])
  })
})

describe('an agent that is stopped while the rest of its run goes on', () => {
  const other = { id: 'other', mode: 'approval', approval: { prompt: 'And the other?' } }
  const stopAct = (place: TestPlace, id: string) => place.call('stop-run', id, { block_id: 'act' })

  test('gives back its places among what runs, and what its child has not used', async () => {
    const options = calling([brief('bees'), ['artifact__write', { name: 'a.md', text: 'x' }]])
    open = await openTestPlace(options)
    const place = open
    const words = { id: 'say', outputs: { words: 'string' }, agent: { provider: 'probe', model: 'm', prompt: 'Say.' } }
    deployDocument(place, 'brief', [words, { ...asks, depends: 'say.succeeded' }], takesTopic)
    const blocks = [agentOf(['dag.brief', 'artifact.write']), { ...words, id: 'after', depends: 'act.failed' }]
    const id = await place.start({ blocks, budget: { tokens: 200_000 } }, { options: { max_parallel: 3 } })
    const child = await childOfItem(place, id, 1)
    await place.until(child, ({ type }) => type === 'approval:requested')
    await expect.poll(async () => (await headOf(place, id)).running).toContain('0.1')
    expect((await stopAct(place, id)).status).toBe(200)
    const head = await headOf(place, id)
    expect(head.running.filter((lane) => lane.startsWith('0'))).toEqual([])
    expect(head.budget).toMatchObject({ spent_tokens: 30, committed_tokens: 30 })
    await lastOf(place, id)
    expect((await lastOf(place, child))?.type).toBe('run:cancelled')
    expect(await problemsOf(place, id)).toEqual([])
  })

  test('in the middle of a turn holds no place any more', async () => {
    const asked = Promise.withResolvers<void>()
    const probe = {
      dispatch: ({ signal }: DispatchRequest) => {
        asked.resolve()
        return new Promise<DispatchAnswer>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    }
    open = await openTestPlace({ providers: { probe }, log: silent })
    const place = open
    const id = await place.start({ blocks: [agentOf(['artifact.write']), other] }, { options: { max_parallel: 2 } })
    await asked.promise
    expect((await stopAct(place, id)).status).toBe(200)
    expect((await headOf(place, id)).running.filter((lane) => lane.startsWith('0'))).toEqual([])
    await decide(place, id, { decision: 'approve' })
    await lastOf(place, id)
    expect(await problemsOf(place, id)).toEqual([])
  })

  test('leaves no question of its calls that anybody could answer, and none is asked after it', async () => {
    const write = (name: string): Call => ['artifact__write', { name, text: 'x' }]
    const options = calling([write('a.md'), write('b.md'), write('c.md')])
    open = await openTestPlace(options)
    const place = open
    const id = await place.start({ blocks: [agentOf([{ use: 'artifact.write', approval: true }]), other] })
    const requested = async () => (await place.events(id)).filter(({ type }) => type === 'approval:requested')
    await expect.poll(async () => (await requested()).length, { timeout: 20_000 }).toBe(4)
    expect((await place.call('stop-run', id, { block_id: 'act' })).status).toBe(200)
    await place.until(id, ({ type, block_id }) => type === 'block:cancelled' && block_id === 'act')
    const pending = async () =>
      Object.values((await headOf(place, id)).approvals).filter(({ status }) => status === 'pending')
    expect((await pending()).map(({ block }) => block)).toEqual([1])
    expect(Object.keys((await headOf(place, id)).lanes).filter((lane) => lane.startsWith('0.'))).toEqual([])
    const [first] = (await requested()).flatMap((event) =>
      event.type === 'approval:requested' && event.block_id === 'act' ? [event.data] : [],
    )
    const late = { approval_id: first?.approval_id, digest: first?.digest, decision: 'approve' }
    expect((await place.call('decide-approval', id, late)).status).toBe(409)
    const [last] = (await requested()).flatMap((event) =>
      event.type === 'approval:requested' && event.block_id === 'other' ? [event.data] : [],
    )
    const yes = { approval_id: last?.approval_id, digest: last?.digest, decision: 'approve' }
    expect((await place.call('decide-approval', id, yes)).status).toBe(200)
    expect((await lastOf(place, id))?.type).toBe('run:failed')
    expect(await problemsOf(place, id)).toEqual([])
  })
})
