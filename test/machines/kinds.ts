import type { AskingBlock } from '../../shared/compile/compile-dag.ts'

/** Goes back where gate `g` does not hold. */
const back = (route_to: string) => [
  { when_gate: 'g', route_to, reset_blocks: [], max_bounces: 2, feedback_from: 'gate_verdicts' as const },
]

/** Gates of a block that ask a person where they do not hold. */
export const ASK = [{ on_fail: 'ask' as const }]

/** The blocks of a document of each kind of machine. */
export const KINDS: Readonly<Record<string, readonly AskingBlock[]>> = {
  'a block that sends the run back, and one after it': [
    { id: 'build', upstream: [] },
    { id: 'review', upstream: ['build'], on_gate_fail: back('build') },
    { id: 'publish', upstream: ['review'] },
  ],
  'a module in a branch, with an approval, a Parallel and a join inside': [
    { id: 'a', upstream: [], on_gate_fail: back('a') },
    { id: 'plan', upstream: [], approval: { timeout_sec: 600 } },
    { id: 'x', upstream: ['plan'] },
    { id: 'y', upstream: ['plan'] },
    { id: 'x2', upstream: ['x'] },
    { id: 'review', upstream: ['x2'], on_gate_fail: back('plan') },
    { id: 'y2', upstream: ['x', 'y'], on_gate_fail: back('plan') },
  ],
  'a module that a join outside waits for': [
    { id: 'build', upstream: [], on_gate_fail: back('build') },
    { id: 'other', upstream: [] },
    { id: 'c', upstream: ['build'] },
    { id: 'd', upstream: ['build', 'other'] },
  ],
  'a fan-out': [{ id: 'each', upstream: [], foreach: { items: '{{inputs.files}}', max_concurrency: 50 } }],
  'a fan-out a person decides about, in a module': [
    {
      id: 'each',
      upstream: [],
      approval: { timeout_sec: 600 },
      foreach: { items: [1], max_concurrency: 4 },
      on_gate_fail: back('each'),
    },
  ],
  'a block that may ask, one that decides before that, and one that never asks': [
    { id: 'plan', upstream: [], post_gates: ASK },
    { id: 'build', upstream: ['plan'], pre_gates: ASK, approval: { timeout_sec: 600 } },
    { id: 'ship', upstream: ['build'] },
  ],
  'blocks of a module that may ask': [
    { id: 'build', upstream: [], post_gates: ASK, on_gate_fail: back('build') },
    { id: 'child', upstream: ['build'], mode: 'dag', pre_gates: ASK, on_gate_fail: back('build') },
  ],
  'a child run': [{ id: 'child', upstream: [], mode: 'dag' }],
  'a research run': [{ id: 'question', upstream: [], mode: 'research' }],
  'a child run in a module': [{ id: 'child', upstream: [], mode: 'dag', on_gate_fail: back('child') }],
}

/** Whether gate `g` of its blocks holds; where it does not, runs go back until their bounces are used up. */
interface DocumentOptions {
  readonly holds: boolean
}

/**
 * A document that compiles to the machine of these blocks and can be run: blocks pass on what they are given, children are a
 * shipped document and a question.
 */
export function documentOf(blocks: readonly AskingBlock[], { holds }: DocumentOptions): string {
  const inputs = { t: { type: 'json', default: ['one', 'two', 'three'] } }
  const given = blocks.map((block) => runnable(block, holds ? 'true' : 'false'))
  return JSON.stringify({ name: 'kind', inputs, blocks: given })
}

const PASS = { mode: 'deterministic', deterministic: { handler: 'pass' } }
const CHILDREN: Readonly<Record<string, { readonly port: string; readonly work: object }>> = {
  dag: { port: 'receipt', work: { mode: 'dag', dag: { name: 'refund', outputs: { receipt: 'book.receipt' } } } },
  research: { port: 'synthesis', work: { mode: 'research', research: { topic: 'What is the capital of Norway?' } } },
}

function runnable(block: AskingBlock, expression: string) {
  const { id, upstream, mode = '', foreach, approval, on_gate_fail, pre_gates, post_gates, retry } = block
  const child = CHILDREN[mode]
  const first = child === undefined ? { t: 'json' } : undefined
  const inputs = Object.fromEntries(upstream.map((from, i) => [i === 0 ? 't' : `t${i}`, { from: `${from}.t` }]))
  const asks = (gates: AskingBlock['pre_gates']) =>
    gates?.map(({ on_fail }) => ({ name: 'asked', check: { type: 'expr', expression: 'false' }, on_fail }))
  const route = on_gate_fail && [{ name: 'g', check: { type: 'expr', expression }, on_fail: 'route' }]
  return {
    id,
    ...(child?.work ?? PASS),
    inputs: upstream.length > 0 ? inputs : first,
    outputs: child === undefined ? { [foreach === undefined ? 't' : 'one']: 'json' } : { [child.port]: 'string' },
    foreach: foreach && { items: '{{inputs.t}}', as: 'one', max_concurrency: Math.min(foreach.max_concurrency, 40) },
    approval,
    retry,
    on_gate_fail,
    pre_gates: asks(pre_gates),
    post_gates: [...(route ?? []), ...(asks(post_gates) ?? [])],
  }
}
