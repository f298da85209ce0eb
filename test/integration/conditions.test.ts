import { afterEach, describe, expect, test } from 'vitest'
import { block, expectFoldStored, probe, story } from './loop.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

interface Ran {
  readonly answers?: Parameters<typeof probe>[0]
  readonly edges?: readonly object[]
  readonly context?: Readonly<Record<string, unknown>>
}

async function run(blocks: readonly object[], { answers = {}, edges, context = {} }: Ran = {}) {
  const prompts: string[] = []
  open = await openTestPlace({ providers: { probe: probe(answers, prompts) } })
  const id = await open.start({ blocks, ...(edges === undefined ? {} : { edges }) }, { context })
  const events = await open.ended(id)
  await expectFoldStored(open, id)
  const skips = events.flatMap((event) => (event.type === 'block:skipped' ? [[event.block_id, event.data]] : []))
  return { id, events, prompts, told: story(events), skips: Object.fromEntries(skips), end: events.at(-1) }
}

const fails = { post_gates: [{ name: 'never', check: { type: 'contains', port: 'text', values: ['never'] } }] }
const optional = (from: string) => ({ inputs: { text: { from: `${from}.text`, required: false } } })

describe('when', () => {
  const report = block('report', [], {
    inputs: { kind: { type: 'string', required: false } },
    when: 'inputs.kind == "report"',
  })

  test('runs the block when it is true, else skips it and what follows; that is no failure', async () => {
    const wanted = await run([report, block('after', ['report']), block('other')], { context: { kind: 'report' } })
    expect(wanted.end?.data).toMatchObject({ code: 'completed', reason: 'all 3 blocks completed' })
    await open?.close()
    const not = await run([report, block('after', ['report']), block('other')], { context: { kind: 'note' } })
    expect(not.skips).toEqual({ report: { because: [], condition: 'when' }, after: { because: ['report'] } })
    expect(not.end?.type).toBe('run:completed')
    expect(not.end?.data).toMatchObject({ reason: '1 of 3 blocks completed, 2 were skipped by conditions' })
    expect(not.prompts).toEqual(['other'])
  })

  test('is not true for a value that is missing, so that a required input is not missed either', async () => {
    const maker = block('a', [], { outputs: { text: 'string', kind: { type: 'string', required: false } } })
    const needs = block('needs', [], { inputs: { kind: { from: 'a.kind' } }, when: 'inputs.kind == "report"' })
    const { skips } = await run([maker, needs], { answers: { a: () => '{"text": "x"}' } })
    expect(skips).toEqual({ needs: { because: [], condition: 'when' } })
  })

  test('asks nobody about a block that is skipped', async () => {
    const asks = { ...report, approval: { required: true } }
    expect((await run([asks])).told).toEqual(['run:started', 'report skipped', 'run:completed'])
  })

  test('is judged once: a context patched between two tries takes back nothing', async () => {
    open = await openTestPlace({ providers: { probe: probe({ report: (n) => (n === 1 ? 'x' : 'never') }) } })
    const retry = { max_attempts: 2, backoff: 'none', delay_ms: 900, jitter: 'none' }
    const id = await open.start({ blocks: [{ ...report, ...fails, retry }] }, { context: { kind: 'report' } })
    await open.until(id, ({ type }) => type === 'block:retrying')
    const { runs } = open.place.world
    expect(await runs.putContext({ tenant: 'main', run_id: id }, { version: 1, values: { kind: 'note' } }, 0)).toBe(
      true,
    )
    expect(story(await open.ended(id)).slice(-2)).toEqual(['report completed', 'run:completed'])
  })
})

describe('depends', () => {
  test('lets a block run after a failure it names; the failure still fails the run', async () => {
    const mend = block('mend', [], { ...optional('build'), depends: 'build.failed' })
    const { told, end, prompts } = await run([block('build', [], fails), mend, block('ship', ['build'])])
    expect(told.slice(0, 3)).toEqual(['run:started', 'build started', 'build failed'])
    expect(told).toContain('mend completed')
    expect(told).toContain('ship skipped')
    expect(end?.data).toMatchObject({ code: 'post_gate_failed', block_id: 'build' })
    // What a block that failed made is not published, whatever its dependents allow.
    expect(prompts).toContain('mend')
  })

  test('joins branches of which one was skipped', async () => {
    const quick = block('quick', [], {
      inputs: { deep: { type: 'boolean', required: false } },
      when: 'inputs.deep != true',
    })
    const deep = block('deep', [], {
      inputs: { deep: { type: 'boolean', required: false } },
      when: 'inputs.deep == true',
    })
    const sum = block('sum', [], {
      inputs: { q: { from: 'quick.text', required: false }, d: { from: 'deep.text', required: false } },
      depends: 'quick.succeeded || deep.succeeded',
      agent: { provider: 'probe', model: 'm' },
    })
    const { skips, end, prompts } = await run([quick, deep, sum], { context: { deep: true } })
    expect(skips).toEqual({ quick: { because: [], condition: 'when' } })
    expect(end?.data).toMatchObject({ reason: '2 of 3 blocks completed, 1 was skipped by conditions' })
    const asked = prompts.find((prompt) => prompt.startsWith('sum'))
    expect([asked?.includes('deep 1'), asked?.includes('- q')]).toEqual([true, false])
  })

  test('that is false skips, naming who did not complete; a required wire of a failed block is missing', async () => {
    const both = block('both', ['build'], { depends: 'build.failed' })
    const only = block('only', [], { depends: 'build.succeeded && plan.succeeded' })
    const { events, skips } = await run([block('plan'), block('build', [], fails), both, only])
    expect(skips).toEqual({ only: { because: ['build'], condition: 'depends' } })
    const failed = events.find(({ type, block_id }) => type === 'block:failed' && block_id === 'both')
    expect(failed?.data).toMatchObject({ code: 'missing_input' })
  })
})

describe('the transform of an edge', () => {
  test('changes what arrives; an unknown result is an absent input', async () => {
    const sink = (id: string, input: object) =>
      block(id, [], { inputs: { x: input }, agent: { provider: 'probe', model: 'm', prompt: `${id} {{inputs.x}}` } })
    const edge = (to: string, transform: string) => ({ from: 'a', output: 'text', to, input: 'x', transform })
    const { prompts, events } = await run(
      [block('a'), sink('len', { type: 'number' }), sink('said', { type: 'string' }), sink('none', { type: 'string' })],
      {
        answers: { a: () => 'four' },
        edges: [edge('len', 'value.length'), edge('said', 'outputs.text + "!"'), edge('none', 'value.nothing')],
      },
    )
    expect(prompts.toSorted()).toEqual(['a', 'len 4', 'said four!'])
    const failed = events.find(({ type, block_id }) => type === 'block:failed' && block_id === 'none')
    expect(failed?.data).toMatchObject({ code: 'missing_input' })
  })
})
