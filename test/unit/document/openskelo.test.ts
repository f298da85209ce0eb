import { describe, expect, test } from 'vitest'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { filesBelow, readText } from '../docs/markdown.ts'

/**
 * Documents as people write them for OpenSkelo: they are taken unchanged. What is said there and has no effect here is
 * a warning. A row: file, blocks in their order, warnings.
 */
const FILES: readonly (readonly [file: string, order: string, warnings: readonly string[]])[] = [
  [
    'data-quality',
    'load rules clean profile nulls ranges duplicates referential merge judge before-after report store',
    ['key_without_effect blocks[1].block_dir'],
  ],
  ['field-guide', 'species order page proof save publish', ['rule_without_effect blocks[3].on_gate_fail[0].when_gate']],
  [
    'incident-response',
    'triage fetch-logs fetch-metrics fetch-deploys hypothesise verify mitigate timeline postmortem publish notify',
    [],
  ],
  ['newsletter', 'sources rank angle lead-story short-news subject assemble proofread sign-off send', []],
  ['release-train', 'scope changelog build unit integration audit licences docs stage go ship announce', []],
  [
    'site-migration',
    'crawl redirects convert rehearse images fonts forms privacy search accessibility speed plan ready switch-dns archive',
    ['end_has_no_effect entrypoints[1]', 'end_has_no_effect terminals[1]'],
  ],
  [
    'tender-review',
    'intake score-price score-team score-method score-risk score-law score-green doubt-price doubt-team doubt-method ' +
      'doubt-risk doubt-law doubt-green ask-money ask-law hard soft summary letter check-letter decide',
    [],
  ],
]

describe('a document written for OpenSkelo', () => {
  test('every file has its row', () => {
    const files = filesBelow(['test/unit/document/openskelo'], '.yaml').map((file) =>
      file.replace(/^.*\/|\.yaml$/g, ''),
    )
    expect(files.toSorted()).toEqual(FILES.map(([file]) => file))
  })

  test.each(FILES)('%s.yaml is valid, in the order of its edges, and compiles', (file, order, warnings) => {
    const result = parseDag(readText(`test/unit/document/openskelo/${file}.yaml`), { name: file })
    if (!result.ok) throw new Error(result.errors.map(({ message }) => message).join('\n'))
    expect(result.order.join(' ')).toBe(order)
    expect(result.warnings.map(({ code, path }) => `${code} ${path}`)).toEqual(warnings)
    const { text } = compileDag(result.dag)
    expect(result.order.filter((id) => !text.includes(`"${id}":{`) && !text.includes(`"${id}": {`))).toEqual([])
  })

  test.each<[string, object, string]>([
    ['builtin:read-file', { path: 'x' }, 'Use read-input'],
    ['builtin:transform', { map: {} }, 'Use transform with a JSONata expression, or pass'],
    ['builtin:http-request', { url: 'https://example.com' }, 'Use http: it asks a service that the operator named'],
  ])('names what does the work of %s here', (handler, config, hint) => {
    const result = parseDag({ blocks: [{ id: 'a', mode: 'deterministic', deterministic: { handler, config } }] })
    expect(result).toMatchObject({ ok: false, errors: [{ code: 'unknown_handler' }] })
    expect(result.ok ? '' : result.errors[0]?.message).toContain(hint)
  })

  test('is warned of a route beside a named model, and of a rule for a gate that only warns', () => {
    const result = parseDag({
      blocks: [
        {
          id: 'a',
          agent: { provider: 'local', model: 'm', role: 'worker' },
          outputs: { o: 'string' },
          post_gates: [{ name: 'g', check: { type: 'not_empty', port: 'o' }, on_fail: 'warn' }],
          on_gate_fail: [{ when_gate: 'g', route_to: 'a' }],
        },
      ],
    })
    expect(result.ok && result.warnings.map(({ code, path }) => [code, path])).toEqual([
      ['route_without_effect', 'blocks[0].agent'],
      ['rule_without_effect', 'blocks[0].on_gate_fail[0].when_gate'],
    ])
  })

  test('is warned of a rule for a gate that another block has, and refused where no block has it', () => {
    const agent = { provider: 'local', model: 'm' }
    const gate = { name: 'qa-approved', check: { type: 'not_empty', port: 'o' } }
    const rule = (when_gate: string) => ({ when_gate, route_to: 'build' })
    const document = (when_gate: string) => ({
      blocks: [
        { id: 'build', agent, outputs: { o: 'string' } },
        { id: 'polish', agent, inputs: { o: { from: 'build.o' } }, on_gate_fail: [rule(when_gate)] },
        { id: 'release', agent, inputs: { o: { from: 'build.o' } }, pre_gates: [gate] },
      ],
    })
    const result = parseDag(document('qa-approved'))
    expect(result.ok && result.warnings).toEqual([
      {
        code: 'rule_without_effect',
        path: 'blocks[1].on_gate_fail[0].when_gate',
        message:
          'A rule of "on_gate_fail" of block "polish" is for gate "qa-approved", which is a gate of block "release": it never fires. A rule is for gates of its own block: move it to "release", or remove it.',
      },
    ])
    const [error] = errorsOf(document('qa-aproved'))
    expect(error).toMatchObject({ code: 'unknown_gate_name', path: 'blocks[1].on_gate_fail[0].when_gate' })
    expect(error?.message).toContain('Did you mean "qa-approved"?')
  })
})

function errorsOf(document: object) {
  const result = parseDag(document)
  return result.ok ? [] : result.errors
}
