import { afterEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const text = { text: { type: 'string' } }
const agent = { provider: 'probe', model: 'm', prompt: '{{inputs.file}}' }
const each = { items: '{{inputs.files}}', as: 'file' }
const block = (over: object = {}) => ({
  id: 'read',
  inputs: { files: 'json' },
  outputs: text,
  agent,
  foreach: each,
  ...over,
})

/** Answers a prompt in capitals; says which prompts it saw. */
function shouting(calls: string[]) {
  return provider(({ prompt }) => {
    calls.push(prompt)
    return prompt.toUpperCase()
  })
}

const of = (events: readonly RunEvent[], type: RunEvent['type'], item?: number) =>
  events.filter((event) => event.type === type && event.block_id === 'read' && event.item === item)

async function outputOf(place: TestPlace, events: readonly RunEvent[], id = 'read'): Promise<unknown> {
  const found = events.findLast((e) => e.type === 'block:output' && e.block_id === id && e.item === undefined)
  const ref = found?.type === 'block:output' ? (found.data.outputs.text?.ref ?? '') : ''
  return JSON.parse(Buffer.from(await place.place.world.objects.get('main', ref)).toString('utf8'))
}

describe('a foreach block', () => {
  test('runs each item once and publishes a list in item order', async () => {
    const calls: string[] = []
    open = await openTestPlace({ providers: { probe: shouting(calls) } })
    const id = await open.start({ blocks: [block()] }, { context: { files: ['a', 'b', 'c'] } })
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(calls.toSorted()).toEqual(['a', 'b', 'c'])
    expect(await outputOf(open, events)).toEqual(['A', 'B', 'C'])
  })
})
