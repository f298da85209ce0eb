import { describe, expect, test } from 'vitest'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import { type Block, DEFAULT_COMPLETION, PORT_TYPES } from '../../../shared/dag/dag.ts'
import { OUTCOMES } from '../../../shared/dag/expression.ts'
import { HANDLERS } from '../../../shared/dag/handlers.ts'
import { NATIVE_HANDLERS } from '../../../shared/dag/native-call.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { SECTIONS } from '../../../shared/document/sections.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { codesIn, fencedBlocks, readText, rowsBelow } from './markdown.ts'

const TEXT = readText('docs/dag.md')
const keysBelow = (heading: string) => rowsBelow(TEXT, heading).flatMap(([key = '']) => codesIn(key))

describe('docs/dag.md', () => {
  test.each<[string, keyof typeof SECTIONS]>([
    ['Document', 'document'],
    ['Run input', 'run_input'],
    ['Block', 'block'],
    ['Input', 'input'],
    ['Output', 'output'],
    ['Agent', 'agent'],
    ['Deterministic', 'deterministic'],
    ['Gate', 'gate'],
    ['gate_composition', 'gate_composition'],
    ['Approval', 'approval'],
    ['Escalation', 'escalate'],
    ['Retry', 'retry'],
    ['Edge', 'edge'],
    ['Foreach', 'foreach'],
    ['Bounce', 'bounce'],
    ['Child', 'child'],
    ['Research', 'research'],
    ['Wait', 'wait'],
    ['Events', 'wait_event'],
    ['Cache', 'cache'],
    ['Budget', 'budget'],
    ['Completion', 'completion'],
    ['Verifiers', 'trust'],
  ])('%s has exactly the keys this version reads', (heading, section) => {
    expect(keysBelow(heading).toSorted()).toEqual(Object.keys(SECTIONS[section].shape).sort())
  })

  test('Depends has exactly the outcomes there are', () => {
    expect(keysBelow('Depends').toSorted()).toEqual(OUTCOMES.toSorted())
  })

  const examples = fencedBlocks(TEXT, 'yaml').map((text) => [headingOf(text), text] as const)
  test.each(examples)('the example of %s is valid and compiles', (_, text) => {
    const result = parseDag(text)
    if (!result.ok) throw new Error(result.errors.map(({ message }) => message).join('\n'))
    expect(result.warnings).toEqual([])
    expect(compileDag(result.dag).text).not.toBe('')
  })

  test('every section of the whole language has an example', () => {
    const shown = new Set(examples.map(([heading]) => heading))
    const wanted = [
      'Routes',
      'Edge',
      'Conditions',
      'Depends',
      'Foreach',
      'Bounce',
      'Child',
      'Research',
      'Wait',
      'Cache',
      'Budget',
      'Completion',
    ]
    expect(wanted.filter((heading) => !shown.has(heading))).toEqual([])
  })

  test('Handlers are exactly those there are', () => {
    expect(rowsBelow(TEXT, 'Handlers').map(([handler = '']) => codesIn(handler)[0])).toEqual([
      ...Object.keys(HANDLERS),
      ...Object.keys(NATIVE_HANDLERS),
    ])
  })

  test('Output names every port type', () => {
    expect(PORT_TYPES.filter((type) => !TEXT.includes(`\`${type}\``))).toEqual([])
  })

  test('defaults are those of a document that says nothing', () => {
    const block = silentBlock()
    expect(shownDefaults('Block', ['timeout_ms', 'strict_output', 'contract_repair_attempts'])).toEqual([
      block.timeout_ms,
      block.strict_output,
      block.contract_repair_attempts,
    ])
    const approval = ['quorum', 'self_approval', 'timeout_sec', 'on_timeout', 'on_reject', 'max_iterations'] as const
    expect(shownDefaults('Approval', approval)).toEqual(approval.map((key) => block.approval?.[key]))
    const retry = ['backoff', 'delay_ms', 'max_delay_ms', 'jitter'] as const
    expect(shownDefaults('Retry', retry)).toEqual(retry.map((key) => block.retry[key]))
    const foreach = ['as', 'max_concurrency', 'tolerate', 'fail_fast'] as const
    expect(shownDefaults('Foreach', foreach)).toEqual(foreach.map((key) => block.foreach?.[key]))
    const bounce = ['max_bounces', 'feedback_from'] as const
    expect(shownDefaults('Bounce', bounce)).toEqual(bounce.map((key) => block.on_gate_fail?.[0]?.[key]))
    const completion = ['quality', 'pivot', 'contract'] as const
    expect(shownDefaults('Completion', completion)).toEqual(completion.map((key) => DEFAULT_COMPLETION[key]))
  })

  test('Limits are those the checks hold', () => {
    const numbers = rowsBelow(TEXT, 'Limits').map(([, value = '']) => Number(value.match(/^\d+(?= ?\w*$)/)?.[0]))
    expect(numbers.filter((value) => !Number.isNaN(value))).toEqual(Object.values(LIMITS))
  })
})

/** The heading an example stands under. */
function headingOf(example: string): string {
  const before = TEXT.slice(0, TEXT.indexOf(example))
  return [...before.matchAll(/^#+ (.+)$/gm)].at(-1)?.[1] ?? ''
}

function silentBlock(): Block {
  const parsed = parseDag({
    blocks: [
      {
        id: 'a',
        agent: { provider: 'local', model: 'm' },
        approval: true,
        retry: { max_attempts: 2 },
        outputs: { o: 'string' },
        post_gates: [{ name: 'g', check: { type: 'not_empty', port: 'o' } }],
        on_gate_fail: [{ when_gate: 'g', route_to: 'a' }],
        foreach: { items: [1] },
      },
    ],
  })
  const block = parsed.ok ? parsed.dag.blocks[0] : undefined
  if (block === undefined) throw new Error('the smallest document is refused')
  return block
}

function shownDefaults(heading: string, keys: readonly string[]): readonly unknown[] {
  const shown = new Map(rowsBelow(TEXT, heading).map(([key = '', , value = '']) => [codesIn(key)[0], value]))
  return keys.map((key) => {
    const value = (shown.get(key) ?? '').replaceAll('`', '')
    return /^(?:\d+|true|false)$/.test(value) ? JSON.parse(value) : value
  })
}
