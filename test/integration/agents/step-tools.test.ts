import { afterEach, describe, expect, test } from 'vitest'
import type { ProviderServer } from '../../emulators/provider-server.ts'
import { startScriptedModel } from '../../emulators/scripted-model.ts'
import { all, decide, expectVerified } from '../asks/ask-place.ts'
import { module, noneLeft, openStepPlace, type StepPlace } from '../steps/step-place.ts'

let place: StepPlace
let model: ProviderServer
afterEach(async () => {
  await noneLeft(place)
  await place.close()
  await model.close()
})

/** Steps of a project as tools: each call a process of its own. */
const REFUND = module(
  `appendFileSync(OUT + '/keys', call.key + '\\n')
   if (call.inputs.amount === 13) throw new Error('unlucky')
   if (call.inputs.amount === 60) await new Promise((resolve) => {
     setTimeout(resolve, 60_000)
     call.signal.addEventListener('abort', resolve)
   })
   return { text: 'refunded ' + call.inputs.amount }`,
  { inputs: 'amount: z.number()' },
)

async function refunds(amounts: readonly number[], tool: object = {}) {
  model = await startScriptedModel(({ turn }) =>
    turn === 0 ? { calls: amounts.map((amount) => ({ tool: 'refund', arguments: { amount } })) } : 'Done.',
  )
  place = await openStepPlace(
    { 'steps/refund.ts': REFUND },
    { providers: { scripted: { type: 'openai-compatible', url: `${model.url}/v1` } } },
  )
  return place.start({
    name: 'refunds',
    blocks: [
      {
        id: 'act',
        outputs: { answer: 'string' },
        agent: {
          provider: 'scripted',
          model: 'm',
          prompt: 'Go.',
          tools: [{ use: './steps/refund.ts', ...tool }],
        },
      },
    ],
  })
}

const told = () => JSON.stringify(model.asked.at(-1)?.body)

describe('a step as a tool', () => {
  test('runs for each call, and its failure is an error of the tool', async () => {
    const run = await refunds([1, 13])
    expect((await place.ended(run)).at(-1)).toMatchObject({ type: 'run:completed' })
    expect(told()).toContain('refunded 1')
    expect(told()).toContain('unlucky')
    await expectVerified(place, run)
  })

  test('waits for a person where the document says so', async () => {
    const run = await refunds([70], { approval: { when: 'args.amount > 50', edit: ['amount'] } })
    const event = await place.until(run, ({ type }) => type === 'approval:requested')
    const question = event.type === 'approval:requested' ? event.data : undefined
    const edited = { ...question, decision: 'approve', edits: { amount: 40 } }
    const { approval_id, digest, decision, edits } = edited
    expect((await place.call('decide-approval', run, { approval_id, digest, decision, edits })).status).toBe(200)
    expect((await place.ended(run)).at(-1)).toMatchObject({ type: 'run:completed' })
    expect(told()).toContain('refunded 40')
    await expectVerified(place, run)
  })

  test('whose place is killed in the middle is asked about, since it writes', async () => {
    const run = await refunds([60])
    await place.until(run, ({ type }) => type === 'step:started')
    await place.kill()
    const event = await place.until(run, ({ type }) => type === 'approval:requested')
    const question = event.type === 'approval:requested' ? event.data : undefined
    expect(question).toMatchObject({ about: 'lost_step' })
    expect((await decide(place, run, question as never, 'reject', 'it was done')).status).toBe(200)
    expect((await place.ended(run)).at(-1)).toMatchObject({ type: 'run:completed' })
    expect(told()).toContain('it was done')
    expect(all(await place.events(run), 'step:started')).toHaveLength(1)
    await expectVerified(place, run)
  })

  test('that may be made twice is made again with the same key', async () => {
    const run = await refunds([60], { idempotent: true })
    await place.left('keys')
    await place.kill()
    await place.until(run, ({ type, attempt }) => type === 'step:started' && attempt === 2)
    await expect.poll(async () => (await place.left('keys')).trim().split('\n')).toHaveLength(2)
    const [first, again] = (await place.left('keys')).split('\n')
    expect(again).toBe(first)
    expect((await place.call('stop-run', run, {})).status).toBe(200)
    await place.ended(run)
  })

  test('has a key of its own for each call, and another where a person changed what it is given', {
    tags: ['thorough'],
  }, async () => {
    const run = await refunds([1, 2], { approval: { when: 'args.amount > 1', edit: ['amount'] }, idempotent: true })
    const event = await place.until(run, ({ type }) => type === 'approval:requested')
    const { approval_id, digest } = event.type === 'approval:requested' ? event.data : {}
    const edits = { amount: 1 }
    await place.call('decide-approval', run, { approval_id, digest, decision: 'approve', edits })
    await place.ended(run)
    expect(new Set((await place.left('keys')).trim().split('\n')).size).toBe(2)
  })

  test('ends at its time-out, and with a stop', async () => {
    const run = await refunds([60], { idempotent: true })
    await place.until(run, ({ type }) => type === 'step:started')
    expect((await place.call('stop-run', run, {})).status).toBe(200)
    expect((await place.ended(run)).at(-1)).toMatchObject({ type: 'run:cancelled' })
  })
})
