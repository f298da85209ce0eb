import { describe, expect, test } from 'vitest'
import type { Block, Dag, InputPort } from '../../../shared/dag/dag.ts'
import { fitsPort, type InputSources, resolveInputs } from '../../../shared/runs/block-inputs.ts'

const block = (inputs: Record<string, InputPort>): Block => ({
  id: 'build',
  index: 0,
  name: 'build',
  mode: 'deterministic',
  handler: 'pass',
  config: {},
  inputs,
  outputs: {},
  pre_gates: [],
  post_gates: [],
  gate_composition: { pre: 'all', post: 'all' },
  retry: { max_attempts: 1, backoff: 'none', delay_ms: 0, max_delay_ms: 0, jitter: 'none' },
  timeout_ms: 1_000,
  strict_output: false,
  contract_repair_attempts: 0,
  upstream: [],
  hash: '',
})
const dag = (one: Block, inputs: Dag['inputs'] = {}): Dag => ({ name: 'd', inputs, blocks: [one] })
const sources = (change: Partial<InputSources>): InputSources => ({
  overrides: {},
  upstream: {},
  context: {},
  ...change,
})
const wired: InputPort = { type: 'string', required: true, default: 'default', from: { block: 'plan', output: 'text' } }

describe('resolveInputs()', () => {
  const resolve = (port: InputPort, from: Partial<InputSources>) => {
    const one = block({ port })
    return resolveInputs(dag(one), one, sources(from)).values.port
  }

  test('takes override, then upstream output, then default, for a wired port', () => {
    const upstream = { plan: { text: 'upstream' } }
    expect(resolve(wired, { overrides: { 'build.port': 'override' }, upstream })).toBe('override')
    expect(resolve(wired, { upstream, context: { port: 'context' } })).toBe('upstream')
    expect(resolve(wired, {})).toBe('default')
  })

  test("evaluates an edge's transform over the value and all outputs of its source", () => {
    const upstream = { plan: { text: 'four', n: 3 } }
    const through = (transform: string) => ({
      ...wired,
      type: 'json' as const,
      from: { block: 'plan', output: 'text', transform },
    })
    expect(resolve(through('value.length'), { upstream })).toBe(4)
    expect(resolve(through('value + "!"'), { upstream })).toBe('four!')
    expect(resolve(through('outputs.n > 2 ? value : null'), { upstream })).toBe('four')
    // What it does not know is absent, and so is everything of a source that did not complete.
    expect(resolve(through('outputs.other'), { upstream })).toBe('default')
    expect(resolve(through('value == null'), {})).toBe('default')
    expect(resolve(through('value == null'), { upstream: { plan: {} } })).toBe(true)
  })

  test('checks the type of what the transform gives', () => {
    const port: InputPort = {
      ...wired,
      type: 'number',
      from: { block: 'plan', output: 'text', transform: 'value + "!"' },
    }
    const one = block({ port })
    const { problems } = resolveInputs(dag(one), one, sources({ upstream: { plan: { text: 'four' } } }))
    expect(problems).toEqual(['input "build.port" must be number, got string'])
  })

  test('takes the context key of the same name for an unwired port, then the default', () => {
    const port: InputPort = { type: 'string', required: true, default: 'default' }
    expect(resolve(port, { context: { port: 'context' } })).toBe('context')
    expect(resolve(port, {})).toBe('default')
  })

  test('names a required port without value and one of another type', () => {
    const one = block({ a: { type: 'string', required: true }, b: { type: 'number', required: true } })
    expect(resolveInputs(dag(one), one, sources({ context: { b: 'x' } })).problems).toEqual([
      'input "build.a" (string) has no value',
      'input "build.b" must be number, got string',
    ])
  })

  test('gives templates the run inputs they read without a port', () => {
    const one = block({})
    const read = dag(one, { goal: { required: true, declared: false } })
    expect(resolveInputs(read, one, sources({ context: { goal: 'ship', other: 1 } })).values).toEqual({ goal: 'ship' })
  })

  test('reads no inherited key', () => {
    const one = block({ ['constructor' as string]: { type: 'json', required: true } })
    expect(resolveInputs(dag(one), one, sources({})).problems).toHaveLength(1)
  })
})

test('fitsPort(): json takes anything, file and artifact take object refs, numbers are finite', () => {
  expect(fitsPort('json', [1])).toBe(true)
  expect(fitsPort('artifact', 'objstore://main/ab')).toBe(true)
  expect(fitsPort('file', '/etc/passwd')).toBe(false)
  expect(fitsPort('number', Number.NaN)).toBe(false)
  expect(fitsPort('boolean', 'true')).toBe(false)
})
