import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'

const AGENT = 'agent: { provider: local, model: m }'
const GATES = 'post_gates: [{ name: ok, check: { type: not_empty, port: out }, on_fail: route }]'

/** spec -> make -> judge, and other beside them; the last lines are those of judge. */
const judge = (lines: string, mode = AGENT) => `inputs: { kind: { type: string, default: a }, all: json }
blocks:
  - { id: spec, ${AGENT}, outputs: { text: string, n: number, rows: json } }
  - { id: make-it, ${AGENT}, inputs: { text: { from: spec.text } }, outputs: { made: string } }
  - { id: other, ${AGENT}, inputs: { text: { from: spec.text } } }
  - id: judge
    ${mode}
    inputs: { made: { from: make-it.made }, rows: { from: spec.rows } }
    outputs: { out: string }
${lines.replaceAll(/^/gm, '    ')}`

/** Code, path in the document, text with `▶` right before the place, part of the message. */
type Row = readonly [code: string, path: string, text: string, message: string]
const J = 'blocks[3]'

const CONDITIONS: readonly Row[] = [
  ['malformed_expression', `${J}.when`, judge('when: ▶inputs.made =='), 'not an expression that can be used'],
  [
    'malformed_expression',
    `${J}.when`,
    judge('when: ▶input.made'),
    'it reads "input", and may read "inputs". Did you mean',
  ],
  ['malformed_expression', `${J}.when`, judge('when: ▶"f(inputs.made)"'), 'calls are not allowed'],
  ['wrong_type', `${J}.when`, judge('when: ▶true'), 'must be a text, got true'],
  ['wrong_type', `${J}.when`, judge('▶when:'), 'must be a text, got nothing'],
  ['unknown_input', `${J}.when`, judge('when: ▶"inputs.mad == \'x\'"'), 'Did you mean "made"?'],
  ['unknown_input', `${J}.when`, judge('when: ▶"inputs.knd == \'x\'"'), 'Did you mean "kind"?'],
  ['type_mismatch', `${J}.when`, judge('when: ▶inputs.kind.deep'), '"kind" is a string and has no such member'],
  ['malformed_expression', `${J}.depends`, judge('depends: ▶spec'), 'spec alone says nothing; write spec.succeeded'],
  [
    'malformed_expression',
    `${J}.depends`,
    judge('depends: ▶spec.ok'),
    'outcomes are succeeded, failed, skipped, completed, cancelled, done',
  ],
  [
    'malformed_expression',
    `${J}.depends`,
    judge('depends: ▶make-it.succeeded.x'),
    '"make-it.succeeded.x" is no outcome',
  ],
  ['malformed_expression', `${J}.depends`, judge('depends: ▶spec.done &&'), 'cannot be read'],
  ['malformed_expression', `${J}.depends`, judge('depends: ▶"$.done"'), '"$" is not allowed'],
  [
    'unknown_block',
    `${J}.depends`,
    judge('depends: ▶spek.succeeded'),
    'depends on "spek", but there is no such block; blocks are "spec", "make-it", "other", "judge". Did you mean "spec"?',
  ],
  ['unknown_block', `${J}.depends`, judge('depends: ▶make-up.done || other.done'), 'Did you mean "make-it"?'],
  ['cycle', `${J}.depends`, judge('depends: ▶judge.succeeded'), 'in a cycle: judge -> judge'],
  [
    'cycle',
    'blocks[0].depends',
    `blocks:\n  - { id: a, ${AGENT}, outputs: { o: string }, depends: ▶b.done }\n  - { id: b, ${AGENT}, inputs: { x: { from: a.o } } }`,
    'in a cycle: a -> b -> a',
  ],
]

const BOUNCES: readonly Row[] = [
  [
    'route_without_rule',
    `${J}.post_gates[0].on_fail`,
    judge(GATES.replace('route', '▶route')),
    'no rule of "on_gate_fail" of block "judge" says where to. Add on_gate_fail: [{ when_gate: ok',
  ],
  ['wrong_type', `${J}.on_gate_fail`, judge('on_gate_fail: ▶{ when_gate: ok }'), 'must be a list'],
  [
    'missing_key',
    `${J}.on_gate_fail[0].route_to`,
    judge(`${GATES}\non_gate_fail: [▶{ when_gate: ok }]`),
    'Add "route_to"',
  ],
  [
    'unknown_gate_name',
    `${J}.on_gate_fail[0].when_gate`,
    judge(`${GATES.replace(', on_fail: route', '')}\non_gate_fail:\n  - when_gate: ▶o\n    route_to: spec`),
    'its gates are "ok". Did you mean "ok"?',
  ],
  [
    'unknown_block',
    `${J}.on_gate_fail[0].route_to`,
    judge(`${GATES}\non_gate_fail: [{ when_gate: ok, route_to: ▶spek }]`),
    'routes back to "spek", but there is no such block',
  ],
  [
    'not_upstream',
    `${J}.on_gate_fail[0].route_to`,
    judge(`${GATES}\non_gate_fail: [{ when_gate: ok, route_to: ▶other }]`),
    'is not done before it',
  ],
  [
    'unknown_block',
    `${J}.on_gate_fail[0].reset_blocks[1]`,
    judge(`${GATES}\non_gate_fail: [{ when_gate: ok, route_to: spec, reset_blocks: [make-it, ▶jugde] }]`),
    'Did you mean "judge"?',
  ],
  [
    'not_upstream',
    `${J}.on_gate_fail[0].reset_blocks[0]`,
    judge(`${GATES}\non_gate_fail: [{ when_gate: ok, route_to: make-it, reset_blocks: [▶other] }]`),
    'neither done before it nor comes after "make-it"',
  ],
  [
    'invalid_value',
    `${J}.on_gate_fail[0].max_bounces`,
    judge(`${GATES}\non_gate_fail: [{ when_gate: ok, route_to: spec, max_bounces: ▶0 }]`),
    'it must be at least 1',
  ],
  [
    'limit_exceeded',
    `${J}.on_gate_fail[0].max_bounces`,
    judge(`${GATES}\non_gate_fail: [{ when_gate: ok, route_to: spec, max_bounces: ▶101 }]`),
    'the limit is 100',
  ],
  [
    'unknown_key',
    `${J}.on_gate_fail[0].reset`,
    judge(`${GATES}\non_gate_fail: [{ when_gate: ok, route_to: spec, ▶reset: [] }]`),
    'unknown key',
  ],
]

const FOREACH: readonly Row[] = [
  ['missing_key', `${J}.foreach.items`, judge('foreach: ▶{ as: row }'), 'Add items'],
  [
    'invalid_value',
    `${J}.foreach.items`,
    judge('foreach: { items: ▶rows }'),
    'allowed are a list, and one placeholder',
  ],
  [
    'invalid_value',
    `${J}.foreach.items`,
    judge('foreach: { items: ▶"{{ a + b }}" }'),
    'allowed are a list, and one placeholder',
  ],
  [
    'invalid_value',
    `${J}.foreach.items`,
    judge('foreach: { items: ▶"{{inputs.rows}} and more" }'),
    'allowed are a list',
  ],
  [
    'malformed_template',
    `${J}.foreach.items`,
    judge('foreach: { items: ▶"{{rows}}" }'),
    'Did you mean "{{inputs.rows}}"?',
  ],
  [
    'type_mismatch',
    `${J}.foreach.items`,
    judge('foreach: { items: ▶"{{inputs.made}}" }'),
    'a list comes from an input of type json',
  ],
  [
    'type_mismatch',
    `${J}.foreach.items`,
    judge('foreach:\n  items: ▶"{{inputs.kind}}"'),
    'reads "inputs.kind", a string',
  ],
  [
    'unknown_input',
    `${J}.foreach.items`,
    judge('foreach: { items: ▶"{{inputs.row}}", as: row }'),
    'only "prompt" and "system" of the agent see items',
  ],
  ['duplicate_name', `${J}.foreach.as`, judge('foreach: { items: [1], as: ▶rows }'), 'which is an input of it already'],
  ['illegal_name', `${J}.foreach.as`, judge('foreach: { items: [1], as: ▶1st }'), '"1st"; allowed are a letter'],
  [
    'limit_exceeded',
    `${J}.foreach.max_concurrency`,
    judge('foreach: { items: [1], max_concurrency: ▶41 }'),
    'the limit is 40',
  ],
  [
    'invalid_value',
    `${J}.foreach.max_concurrency`,
    judge('foreach: { items: [1], max_concurrency: ▶0 }'),
    'at least 1',
  ],
  ['wrong_type', `${J}.foreach.fail_fast`, judge('foreach: { items: [1], fail_fast: ▶sometimes }'), 'true or false'],
  ['invalid_value', `${J}.foreach.tolerate`, judge('foreach: { items: [1], tolerate: ▶-1 }'), 'at least 0'],
  [
    'unknown_gate_port',
    `${J}.foreach.item_gates[0].check.port`,
    judge('foreach: { items: [1], item_gates: [{ name: g, check: { type: not_empty, port: ▶ot } }] }'),
    'Did you mean "out"?',
  ],
  [
    'duplicate_gate',
    `${J}.foreach.item_gates[0].name`,
    judge(
      'foreach: { items: [1], item_gates: [{ name: ▶g, check: { type: not_empty, port: item } }] }\npost_gates: [{ name: g, check: { type: not_empty, port: out } }]',
    ),
    'two gates named "g"',
  ],
  [
    'invalid_value',
    `${J}.foreach.item_gates[0].on_fail`,
    judge('foreach: { items: [1], item_gates: [{ name: g, check: { type: not_empty, port: out }, on_fail: ▶route }] }'),
    'an item goes nowhere by itself',
  ],
  [
    'invalid_value',
    `${J}.foreach.item_gates[0].on_fail`,
    judge('foreach: { items: [1], item_gates: [{ name: g, check: { type: not_empty, port: out }, on_fail: ▶ask }] }'),
    'nobody is asked item by item',
  ],
  [
    'mode_mismatch',
    `${J}.foreach`,
    judge('approval: true\n▶foreach: { items: [1] }', 'mode: approval').replace('outputs: { out: string }', ''),
    'does not go with mode "approval"',
  ],
  [
    'type_mismatch',
    'blocks[1].inputs.x.from',
    `blocks:\n  - { id: a, ${AGENT}, foreach: { items: [1] }, outputs: { o: string } }\n  - { id: b, ${AGENT}, inputs: { x: { type: string, from: ▶a.o } } }`,
    '"a.o", a json, into its input "x", a string',
  ],
]

const CHILD = (lines: string) => judge(`dag: ${lines}`, 'mode: dag')
const OTHERS: readonly Row[] = [
  [
    'missing_section',
    J,
    judge('').replace(AGENT, AGENT).replace(`- id: judge\n    ${AGENT}`, '- ▶id: judge\n    mode: dag'),
    'Add dag: { name: .. }',
  ],
  ['mode_mismatch', `${J}.dag`, judge('▶dag: { name: x }'), 'Add mode: dag, or remove the section'],
  [
    'mode_mismatch',
    `${J}.cache`,
    judge('mode: deterministic\ndeterministic: { handler: verify-claims }\n▶cache: { max_age_sec: 60 }', ''),
    'has "cache", which does not go with the handler "verify-claims"',
  ],
  ['missing_key', `${J}.dag.name`, CHILD('▶{ inputs: {} }'), 'Add "name"'],
  [
    'unknown_output',
    `${J}.dag.outputs.o`,
    CHILD('{ name: c, outputs: { ▶o: a.b } }'),
    'fills "o" from its child, but its outputs are "out"',
  ],
  [
    'malformed_from',
    `${J}.dag.outputs.out`,
    CHILD('{ name: c, outputs: { out: ▶plan } }'),
    'allowed is BLOCK.OUTPUT of the child',
  ],
  [
    'malformed_template',
    `${J}.dag.inputs.goal`,
    CHILD('{ name: c, inputs: { goal: ▶"{{made}}" } }'),
    'Did you mean "{{inputs.made}}"?',
  ],
  [
    'illegal_name',
    `${J}.dag.inputs._x`,
    CHILD('{ name: c, inputs: { ▶_x: 1 } }'),
    'the name of dag.inputs._x of block "judge" is not allowed',
  ],
  [
    'mode_mismatch',
    `${J}.cache`,
    judge('▶cache: { max_age_sec: 1 }\ndag: { name: c }', 'mode: dag'),
    'Give "cache" to blocks of the child',
  ],
  ['missing_key', `${J}.cache.max_age_sec`, judge('cache: ▶{ key: inputs }'), 'Add "max_age_sec"'],
  ['invalid_value', `${J}.cache.key`, judge('cache: { key: ▶output, max_age_sec: 1 }'), 'allowed are "inputs"'],
  ['limit_exceeded', `${J}.cache.max_age_sec`, judge('cache: { max_age_sec: ▶31536001 }'), 'the limit is 31536000'],
  [
    'malformed_expression',
    'edges[0].transform',
    `${judge('')}\nedges: [{ from: spec, output: n, to: other, input: n, transform: ▶inputs.n }]`.replace(
      '- { id: other, agent: { provider: local, model: m }, inputs: {',
      '- { id: other, agent: { provider: local, model: m }, inputs: { n: string,',
    ),
    'may read "value", "outputs"',
  ],
  [
    'unknown_output',
    'edges[0].transform',
    `${judge('')}\nedges: [{ from: spec, output: n, to: other, input: n, transform: ▶outputs.txt }]`.replace(
      '- { id: other, agent: { provider: local, model: m }, inputs: {',
      '- { id: other, agent: { provider: local, model: m }, inputs: { n: string,',
    ),
    'Did you mean "text"?',
  ],
  [
    'missing_key',
    'edges[0].output',
    `${judge('')}\nedges: [▶{ from: spec, to: other, transform: value }]`,
    'output of edges[0] is missing',
  ],
  [
    'malformed_expression',
    `${J}.deterministic.config.expression`,
    judge('deterministic: { handler: transform, config: { expression: ▶"inputs.rows[" } }', 'mode: deterministic'),
    'is not JSONata: Expected "]" before end of expression (at character 12)',
  ],
]

describe('parseDag() refuses, at the exact place,', () => {
  test.each([...CONDITIONS, ...BOUNCES, ...FOREACH, ...OTHERS])('%s at "%s"', (code, path, marked, message) => {
    const before = marked.slice(0, marked.indexOf('▶')).split('\n')
    const place = { line: before.length, column: (before.at(-1) ?? '').length + 1 }
    const result = parseDag(marked.replace('▶', ''))
    expect(result).toMatchObject({ ok: false, errors: [{ code, path, ...place }] })
    expect(result.ok ? [] : result.errors.map((error) => error.message)).toEqual([expect.stringContaining(message)])
  })

  test('a way back over more than 100 blocks', () => {
    const chain = (length: number) => ({
      blocks: Array.from({ length }, (_, i) => ({
        id: `b${i}`,
        agent: { provider: 'local', model: 'm' },
        inputs: i === 0 ? {} : { x: { from: `b${i - 1}.o` } },
        outputs: { o: 'string' },
        ...(i === length - 1 && {
          post_gates: [{ name: 'g', check: { type: 'not_empty', port: 'o' } }],
          on_gate_fail: [{ when_gate: 'g', route_to: 'b0' }],
        }),
      })),
    })
    expect(parseDag(chain(100)).ok).toBe(true)
    expect(parseDag(chain(101))).toMatchObject({
      ok: false,
      errors: [
        { code: 'limit_exceeded', path: 'blocks[100].on_gate_fail[0]', message: expect.stringContaining('101') },
      ],
    })
  })

  test('JSONata that cannot be read, as far as a document is looked at', () => {
    const programs = (length: number) =>
      Array.from({ length }, (_, i) => ({
        id: `b${i}`,
        mode: 'deterministic',
        deterministic: { handler: 'transform', config: { expression: `${' '.repeat(3_999)}(` } },
      }))
    const paths = (length: number) => {
      const result = parseDag({ blocks: programs(length) })
      return result.ok ? [] : result.errors.map(({ code, path }) => [code, path])
    }
    const wrong = (i: number) => ['malformed_expression', `blocks[${i}].deterministic.config.expression`]
    expect(paths(1)).toEqual([wrong(0)])
    expect(paths(7)).toEqual([0, 1, 2, 3, 4].map(wrong))
  })
})
