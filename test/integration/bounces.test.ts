import { afterEach, describe, expect, test } from 'vitest'
import { block, bounce, expectFoldStored, goodFrom, probe, story } from './loop.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

/** Runs the blocks to their end; the story of what happened. */
async function run(blocks: readonly object[], answers: Parameters<typeof probe>[0], options: object = {}) {
  const prompts: string[] = []
  open = await openTestPlace({ providers: { probe: probe(answers, prompts) } })
  const id = await open.start({ blocks }, { options })
  const events = await open.ended(id)
  await expectFoldStored(open, id)
  return { id, events, prompts, told: story(events) }
}

const times = (told: readonly string[], what: RegExp) => told.filter((line) => what.test(line)).length

describe('a bounce', () => {
  test('runs the blocks between again, with the verdict as feedback, until the gate holds', async () => {
    const blocks = [
      block('plan'),
      block('build', ['plan']),
      block('review', ['build'], bounce('build', 3)),
      block('ship', ['review', 'plan']),
    ]
    const { told, prompts } = await run(blocks, { review: goodFrom(3) })
    expect(told).toEqual([
      'run:started',
      'plan started',
      'plan completed',
      'build started',
      'build completed',
      'review started',
      'review failed',
      'rerouted to build: build review (1/3)',
      'build started~1',
      'build completed~1',
      'review started~1',
      'review failed~1',
      'rerouted to build: build review (2/3)',
      'build started~2',
      'build completed~2',
      'review started~2',
      'review completed~2',
      'ship started',
      'ship completed',
      'run:completed',
    ])
    const builds = prompts.filter((prompt) => prompt.startsWith('build'))
    expect(builds[0]).not.toMatch(/refused/)
    expect(builds[1]).toMatch(/refused:\n- good: .*good/)
  })

  test('tells of the last round alone: a verdict that was given anew stands for the one before it', async () => {
    const prompts: string[] = []
    let words = 0
    // A word more with each answer: what a gate says of it is another sentence each time.
    const counting = provider(({ prompt }) => {
      prompts.push(prompt)
      words += 1
      return 'word '.repeat(words)
    })
    open = await openTestPlace({ providers: { probe: counting } })
    const build = {
      ...block('build'),
      post_gates: [{ name: 'long', check: { type: 'word_count', port: 'text', min: 6 } }],
      retry: { max_attempts: 2, backoff: 'none', delay_ms: 0 },
      on_gate_fail: [{ when_gate: 'long', route_to: 'build', max_bounces: 2, reason: 'Say more.' }],
    }
    const events = await open.ended(await open.start({ blocks: [build] }))
    expect(events.at(-1)?.type).toBe('run:completed')
    const told = prompts.map((prompt) => prompt.split('\n').filter((line) => line.startsWith('- ')))
    expect(told.map((lines) => lines.map((line) => Number(/has (\d+)/.exec(line)?.[1] ?? 0)))).toEqual([
      [],
      [1],
      [2, 0],
      [0, 3],
      [4, 0],
      [0, 5],
    ])
  })

  test('that does not help is an ordinary failure once its bounces are used up', async () => {
    const blocks = [block('build'), block('review', ['build'], bounce('build', 2)), block('ship', ['review'])]
    const { events, told } = await run(blocks, { review: goodFrom(9) })
    expect(times(told, /^rerouted/)).toBe(2)
    expect(told.slice(-3)).toEqual(['review failed~2', 'ship skipped', 'run:failed'])
    const end = events.at(-1)
    expect(end?.data).toMatchObject({ code: 'post_gate_failed', block_id: 'review' })
    expect(JSON.stringify(end?.data)).toMatch(/after 2 of 2 bounces/)
  })

  test('comes after the block has used its own retry, unless its gate says route', async () => {
    const gate = { name: 'good', check: { type: 'contains', port: 'text', values: ['good'] } }
    const review = {
      ...bounce('build', 1),
      post_gates: [gate],
      retry: { max_attempts: 2, backoff: 'none', delay_ms: 0 },
    }
    const { told } = await run([block('build'), block('review', ['build'], review)], { review: goodFrom(4) })
    expect(told).toEqual([
      'run:started',
      'build started',
      'build completed',
      'review started',
      'review retrying',
      'review started',
      'review failed',
      'rerouted to build: build review (1/1)',
      'build started~1',
      'build completed~1',
      'review started~1',
      'review retrying~1',
      'review started~1',
      'review completed~1',
      'run:completed',
    ])
  })

  test('follows the first rule that is due: two rules of one block have counts of their own', async () => {
    const gate = (name: string) => ({
      name,
      check: { type: 'contains', port: 'text', values: [name] },
      on_fail: 'route',
    })
    const rule = (when_gate: string, route_to: string) => ({ when_gate, route_to, max_bounces: 1 })
    const review = {
      post_gates: [gate('sound'), gate('short')],
      on_gate_fail: [rule('sound', 'plan'), rule('short', 'build')],
    }
    const blocks = [block('plan'), block('build', ['plan']), block('review', ['build'], review)]
    const answers = { review: (round: number) => ['neither', 'sound only', 'sound short'][round - 1] ?? '' }
    const { told, prompts } = await run(blocks, answers)
    expect(told.filter((line) => line.startsWith('rerouted'))).toEqual([
      'rerouted to plan: plan build review (1/1)',
      'rerouted to build: build review (1/1)',
    ])
    expect(told.at(-1)).toBe('run:completed')
    // The second bounce leaves plan in epoch 1, and build is told only of what sent it back last.
    expect(told).toContain('build completed~2')
    expect(told).not.toContain('plan started~2')
    const builds = prompts.filter((prompt) => prompt.startsWith('build'))
    expect([builds[1]?.includes('- sound:'), builds[2]?.includes('- sound:')]).toEqual([true, false])
    expect(builds[2]).toMatch(/- short:/)
  })

  test('of a nested hull leaves the rest of its module as it is, and what comes after it without an event', async () => {
    const blocks = [
      block('plan'),
      block('build', ['plan']),
      block('check', ['build'], bounce('build', 2)),
      block('review', ['check'], bounce('plan', 2)),
    ]
    const { told } = await run(blocks, { check: goodFrom(2), review: goodFrom(2) })
    expect(told).toEqual([
      'run:started',
      'plan started',
      'plan completed',
      'build started',
      'build completed',
      'check started',
      'check failed',
      'rerouted to build: build check (1/2)',
      'build started~1',
      'build completed~1',
      'check started~1',
      'check completed~1',
      'review started',
      'review failed',
      'rerouted to plan: plan build check review (1/2)',
      'plan started~2',
      'plan completed~2',
      'build started~2',
      'build completed~2',
      'check started~2',
      'check completed~2',
      'review started~2',
      'review completed~2',
      'run:completed',
    ])
  })

  test('of overlapping hulls fires every due rule at once, and each block takes the epoch of its own', async () => {
    const blocks = [
      block('a'),
      block('b', ['a']),
      block('c', ['a', 'b'], bounce('a', 2)),
      block('d', ['b'], bounce('b', 2)),
      block('end', ['c', 'd']),
    ]
    const { told } = await run(blocks, { c: goodFrom(2), d: goodFrom(3) })
    const bounces = told.filter((line) => line.startsWith('rerouted'))
    expect(bounces).toEqual(['rerouted to a: a b c (1/2)', 'rerouted to b: b d (1/2)', 'rerouted to b: b d (2/2)'])
    expect(told).not.toContain('a started~2')
    expect(told).not.toContain('c started~2')
    expect(told).toContain('d completed~2')
    expect(told.slice(-3)).toEqual(['end started', 'end completed', 'run:completed'])
  })

  test('does not end the run under fail_fast while it is due', async () => {
    const blocks = [block('build'), block('review', ['build'], bounce('build', 1)), block('ship', ['review'])]
    const helped = await run(blocks, { review: goodFrom(2) }, { fail_fast: true })
    expect(helped.told.at(-1)).toBe('run:completed')
    await open?.close()
    const spent = await run(blocks, { review: goodFrom(3) }, { fail_fast: true })
    expect(spent.told.slice(-2)).toEqual(['review failed~1', 'run:failed'])
  })

  test('lets a block that depends on the failure wait for what comes of it', async () => {
    const mend = block('mend', [], { depends: 'review.failed' })
    const blocks = [block('build'), block('review', ['build'], bounce('build', 1, ['mend'])), mend]
    const helped = await run(blocks, { review: goodFrom(2) })
    expect(helped.told).not.toContain('mend started')
    expect(helped.told.slice(-2)).toEqual(['mend skipped~1', 'run:completed'])
    await open?.close()
    const spent = await run(blocks, { review: goodFrom(3) })
    expect(spent.told.slice(-4)).toEqual(['review failed~1', 'mend started~1', 'mend completed~1', 'run:failed'])
  })

  test('is obeyed by the provider that needs no model: plan, build, review, and back until the review is content', async () => {
    open = await openTestPlace()
    const agent = (prompt: string) => ({ provider: 'local', model: 'outline', prompt })
    const rollback = { type: 'contains', port: 'patch', values: ['Rollback'], case_sensitive: true }
    const blocks = [
      { id: 'plan', outputs: { plan: 'string' }, agent: agent('Plan: {{inputs.goal}}') },
      {
        id: 'build',
        inputs: { plan: { from: 'plan.plan' } },
        outputs: { patch: 'string' },
        agent: agent('Build {{inputs.plan}}'),
      },
      {
        id: 'review',
        inputs: { patch: { from: 'build.patch' } },
        outputs: { review: 'string' },
        agent: agent('Review {{inputs.patch}}'),
        post_gates: [{ name: 'can-be-undone', check: rollback, on_fail: 'route' }],
        on_gate_fail: [{ when_gate: 'can-be-undone', route_to: 'build', max_bounces: 2 }],
      },
    ]
    const id = await open.start(
      { blocks },
      { context: { goal: 'Move the orders to the new table. Keep the old one.' } },
    )
    const told = story(await open.ended(id))
    expect(told.slice(-6)).toEqual([
      'rerouted to build: build review (1/2)',
      'build started~1',
      'build completed~1',
      'review started~1',
      'review completed~1',
      'run:completed',
    ])
  })

  test('asks skipped blocks of its module again when what they waited for begins again', async () => {
    // One module of two hulls: {a, bad, late} and {bad, mid, last}; mid is skipped for a failure no rule looks at.
    const never = { post_gates: [{ name: 'ok', check: { type: 'contains', port: 'text', values: ['ok'] } }] }
    const blocks = [
      block('a'),
      block('bad', ['a'], never),
      block('late', ['a'], bounce('a', 1, ['bad'])),
      block('mid', ['bad']),
      block('last', ['mid'], bounce('bad', 1)),
    ]
    const { told } = await run(blocks, { late: goodFrom(2), bad: (n) => (n > 1 ? 'ok' : 'no'), last: goodFrom(1) })
    expect(told.filter((line) => line.startsWith('rerouted'))).toEqual(['rerouted to a: a bad late mid last (1/1)'])
    expect(told.filter((line) => line.startsWith('mid'))).toEqual(['mid skipped', 'mid started~1', 'mid completed~1'])
    expect(told.at(-1)).toBe('run:completed')
  })

  test('fills the joins of its module anew in each pass, and those outside once, when it leaves', async () => {
    // Two N shapes: a, b -> c, d inside the hull (a -> c only), and x, out -> y, z behind it.
    const blocks = [
      block('start'),
      block('a', ['start']),
      block('b', ['start']),
      block('c', ['a']),
      block('d', ['a', 'b']),
      block('review', ['c', 'd'], bounce('start', 2)),
      block('x'),
      block('y', ['x']),
      block('z', ['x', 'review', 'b']),
    ]
    // In later passes a takes its time: d must not find it done by the pass before.
    const slow = async (round: number) => {
      if (round > 1) await new Promise((resolve) => setTimeout(resolve, 60))
      return `a ${round}`
    }
    const { told, events } = await run(blocks, { review: goodFrom(3), a: slow })
    expect(times(told, /^d completed/)).toBe(3)
    expect(told.at(-1)).toBe('run:completed')
    const seqOf = (line: string) => told.indexOf(line)
    expect(seqOf('z started')).toBeGreaterThan(seqOf('review completed~2'))
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  })

  test('says which blocks begin again also when their ids fill several events', async () => {
    const name = (i: number) => `b${i}${'x'.repeat(60)}`
    const chain = Array.from({ length: 60 }, (_, i) => block(name(i), i === 0 ? [] : [name(i - 1)]))
    const { events, told } = await run([...chain, block('review', [name(59)], bounce(name(0), 1))], {
      review: goodFrom(2),
    })
    const rerouted = events.filter(({ type }) => type === 'block:rerouted')
    expect(rerouted.length).toBeGreaterThan(5)
    for (const event of rerouted) expect(JSON.stringify(event).length).toBeLessThan(1_400)
    expect(rerouted.flatMap(({ data }) => ('reset' in data ? data.reset : [])).length).toBe(61)
    expect(told.at(-1)).toBe('run:completed')
  })
})
