import { afterEach, describe, expect, test } from 'vitest'
import { block, child, childOf, deployDocument, headOf, lastOf, retry, startsOf, text } from './child-place.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

/** Answers the prompt itself in capitals. */
const shout = provider(({ prompt }) => prompt.toUpperCase())

describe('a block of mode dag', () => {
  test('runs its document as a child and takes what its last block made', async () => {
    open = await openTestPlace({ providers: { probe: shout } })
    const inner = block('say', { inputs: { topic: 'string' }, agent: { provider: 'probe', model: 'm', prompt: 'on {{inputs.topic}}' } })
    deployDocument(open, 'inner', [inner])
    const id = await open.start({
      blocks: [
        block('first'),
        child('sub', 'inner', { inputs: { topic: { from: 'first.text' } } }),
        block('last', { inputs: { text: { from: 'sub.text' } }, agent: { provider: 'probe', model: 'm', prompt: 'then {{inputs.text}}' } }),
      ],
    })
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    const childId = await childOf(open, id, 'sub')
    const output = events.find(({ type, block_id }) => type === 'block:output' && block_id === 'sub')
    expect(output?.data).toMatchObject({ provider: 'dag', model: 'inner', tokens_in: 1, tokens_out: 1, usd_micros: 0 })
    expect((await open.call('get-outputs', id)).json).toBeDefined()
    const started = (await open.events(childId))[0]
    expect(started?.data).toMatchObject({ dag_name: 'inner', parent: { run_id: id, block_id: 'sub', epoch: 0, attempt: 1 } })
  })
})
