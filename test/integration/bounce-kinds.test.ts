import { writeFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { block, bounce, expectFoldStored, goodFrom, probe, story } from './loop.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

describe('a bounce resets', () => {
  test('a fan-out: its items run again, and its lists are those of the new pass', async () => {
    const prompts: string[] = []
    const each = (n: number) => `each ${n}`
    open = await openTestPlace({ providers: { probe: probe({ each, review: goodFrom(2) }, prompts) } })
    const blocks = [
      block('each', [], { foreach: { items: ['x', 'y'], as: 'item', max_concurrency: 1 } }),
      {
        ...block('review', [], bounce('each', 1)),
        inputs: { all: { from: 'each.text' } },
        agent: { provider: 'probe', model: 'm', prompt: 'review\n{{inputs.all}}' },
      },
    ]
    const id = await open.start({ blocks })
    const events = await open.ended(id)
    expect(story(events).slice(-2)).toEqual(['review completed~1', 'run:completed'])
    const reviews = prompts.filter((prompt) => prompt.startsWith('review'))
    expect(reviews[0]).toContain('["each 1","each 2"]')
    expect(reviews[1]).toContain('["each 3","each 4"]')
    expect(prompts.filter((prompt) => prompt.startsWith('each') && prompt.includes('- good:'))).toHaveLength(2)
    expect(new Set(events.map((event) => event.id)).size).toBe(events.length)
    await expectFoldStored(open, id)
  })

  test('a child: the new pass has a child run of its own', async () => {
    const prompts: string[] = []
    open = await openTestPlace({ providers: { probe: probe({ review: goodFrom(2) }, prompts) } })
    writeFileSync(`${open.folder}/inner.yaml`, JSON.stringify({ name: 'inner', blocks: [block('work')] }))
    await open.reopen()
    const child = { id: 'sub', mode: 'dag', dag: { name: 'inner' }, outputs: { text: 'string' } }
    const id = await open.start({ blocks: [child, block('review', ['sub'], bounce('sub', 1))] })
    const told = story(await open.ended(id))
    expect(told.slice(-3)).toEqual(['review started~1', 'review completed~1', 'run:completed'])
    expect(prompts.filter((prompt) => prompt.startsWith('work'))).toHaveLength(2)
    await expectFoldStored(open, id)
  })
})
