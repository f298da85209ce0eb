import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'

/** A valid agent and a valid first block, for rows that are about something else. */
const AGENT = 'agent: { provider: local, model: m }'
const SPEC = `  - { id: spec, ${AGENT}, outputs: { body: string, n: number } }`

/** Text after `blocks:`, in block style. */
const block = (lines: string) => `blocks:\n${SPEC}\n  - id: plan\n    ${AGENT}\n${lines.replaceAll(/^/gm, '    ')}`

/** One bad document a row: code, path, part of the message; `▶` stands right before the place of the error. */
type Row = readonly [code: string, path: string, text: string, message: string]

const YAML: readonly Row[] = [
  ['yaml_syntax', '', 'blocks: [1, 2▶', 'unexpected end of the stream'],
  ['yaml_syntax', '', 'blocks:\n▶\t- id: a', 'tab characters'],
  ['yaml_syntax', '', 'a: ▶\u0000', 'null byte'],
  ['several_documents', '', 'blocks: []\n▶---\nblocks: []', 'more than one YAML document'],
  ['several_documents', '', 'blocks: []\n▶...\nblocks: []', 'more than one YAML document'],
  ['duplicate_key', 'name', 'name: a\nblocks: []\n▶name: b', '"name" is given twice'],
  ['duplicate_key', 'blocks[0].id', 'blocks: [ { id: a, ▶"id": b } ]', '"id" is given twice'],
  ['forbidden_key', 'metadata.__proto__', 'metadata:\n  ▶__proto__: 1', '"__proto__" is not allowed'],
  ['forbidden_key', 'metadata.constructor', 'metadata: { ▶constructor: {} }', '"constructor" is not allowed'],
  ['forbidden_key', 'prototype', '▶prototype: 1', '"prototype" is not allowed'],
  ['complex_key', '', '? ▶[a]\n: 1', 'not a plain text'],
  ['alias', 'b', 'a: &x 1\nb: ▶*x', '"*x" is an alias'],
  ['unknown_tag', 'a', 'a: ▶!env HOME', '"!env" is not known'],
  ['unknown_tag', 'a', 'a: ▶!!binary aGk=', '"!!binary" is not known'],
  ['not_json', 'metadata.x', `metadata: { x: ▶.nan }\nblocks:\n${SPEC}`, 'NaN, which is no JSON value'],
  ['not_json', 'metadata.x', `metadata:\n  x: ▶"\\uD800"\nblocks:\n${SPEC}`, 'lone surrogate'],
  ['limit_exceeded', '', `${'['.repeat(63)}▶${'['.repeat(30)}`, 'deeper than 64 levels'],
  ['not_a_mapping', '', '▶', 'the document is empty'],
  ['not_a_mapping', '', '▶# only a comment', 'the document is empty'],
  ['not_a_mapping', '', '▶- a', 'the document must be a mapping, got a list'],
  ['not_a_mapping', '', '▶just text', 'the document must be a mapping, got "just text"'],
]

const DOCUMENT: readonly Row[] = [
  ['missing_blocks', 'blocks', '▶name: a', 'has no blocks'],
  ['empty_blocks', 'blocks', 'name: a\n▶blocks: []', 'an empty list of blocks'],
  ['wrong_type', 'blocks', 'blocks:\n  ▶a: { id: a }', 'blocks of the document must be a list, got a mapping'],
  ['wrong_type', 'blocks', '▶blocks:', 'blocks of the document must be a list, got nothing (null). Give a list'],
  ['wrong_type', 'blocks[1]', `blocks:\n${SPEC}\n  - ▶plan`, 'blocks[1] must be a mapping, got "plan"'],
  ['unknown_key', 'bloks', `▶bloks: 1\nblocks:\n${SPEC}`, 'Did you mean "blocks"?'],
  ['wrong_type', 'name', `name: ▶[a]\nblocks:\n${SPEC}`, 'name of the document must be a text, got a list'],
  ['invalid_value', 'name', `name: ▶""\nblocks:\n${SPEC}`, 'name of the document is empty; it must be at least 1'],
  [
    'invalid_value',
    'version',
    `version: ▶[1]\nblocks:\n${SPEC}`,
    'version of the document is not allowed: must be a text',
  ],
  ['unknown_block', 'entrypoints[0]', `entrypoints: [▶spek]\nblocks:\n${SPEC}`, 'Did you mean "spec"?'],
  [
    'unknown_block',
    'terminals[1]',
    `terminals: [spec, ▶end]\nblocks:\n${SPEC}`,
    'there is no such block; blocks are "spec"',
  ],
  [
    'illegal_name',
    'inputs._x',
    `inputs: { ▶_x: string }\nblocks:\n${SPEC}`,
    'inputs._x of the document is not allowed',
  ],
  ['unknown_type', 'inputs.x', `inputs: { x: ▶strin }\nblocks:\n${SPEC}`, 'unknown type "strin"'],
  [
    'type_mismatch',
    'inputs.x.default',
    `inputs: { x: { type: number, default: ▶a } }\nblocks:\n${SPEC}`,
    '"a", which is no number',
  ],
]

const BLOCK: readonly Row[] = [
  ['missing_id', 'blocks[0].id', `blocks:\n  - ▶${AGENT}`, 'blocks[0] has no id'],
  ['missing_id', 'blocks[0].id', `blocks:\n  - ▶{ ${AGENT} }`, 'blocks[0] has no id'],
  [
    'illegal_id',
    'blocks[0].id',
    `blocks:\n  - id: ▶1st\n    ${AGENT}`,
    'the id "1st", which is not allowed; allowed are a letter',
  ],
  ['illegal_id', 'blocks[0].id', `blocks:\n  - { id: ▶[a], ${AGENT} }`, 'the id a list'],
  ['illegal_id', 'blocks[0].id', `blocks:\n  - { id: ▶constructor, ${AGENT} }`, '"constructor"'],
  ['illegal_id', 'blocks[0].id', `blocks:\n  - { id: ▶${'a'.repeat(65)}, ${AGENT} }`, '64 at most'],
  [
    'duplicate_id',
    'blocks[1].id',
    `blocks:\n${SPEC}\n  - { ${AGENT}, id: ▶spec }`,
    'blocks[1] has the id "spec", which blocks[0] has',
  ],
  ['unknown_key', 'blocks[1].promt', block('▶promt: x'), 'promt of block "plan" is an unknown key'],
  ['unknown_key', 'blocks[1].post_gate', block('▶post_gate: []'), 'Did you mean "post_gates"?'],
  ['unknown_mode', 'blocks[1].mode', block('mode: ▶a.i.'), 'unknown mode "a.i."'],
  ['unknown_mode', 'blocks[1].mode', block('mode: ▶aproval'), 'Did you mean "approval"?'],
  ['missing_section', 'blocks[0]', 'blocks:\n  - ▶id: a', 'has no section "agent"'],
  ['missing_section', 'blocks[0]', 'blocks: [▶{ id: a, mode: deterministic }]', 'has no section "deterministic"'],
  ['missing_section', 'blocks[0]', 'blocks: [▶{ id: a, mode: approval }]', 'has no section "approval"'],
  [
    'missing_section',
    'blocks[0]',
    'blocks: [▶{ id: a, mode: approval, approval: false }]',
    'has no section "approval"',
  ],
  ['mode_mismatch', 'blocks[1].deterministic', block('▶deterministic: { handler: pass }'), 'Add mode: deterministic'],
  [
    'missing_key',
    'blocks[0].agent.model',
    'blocks: [{ id: a, agent: ▶{ provider: local } }]',
    'agent.model of block "a" is missing',
  ],
  [
    'missing_key',
    'blocks[0].agent.provider',
    'blocks: [{ id: a, agent: ▶{ model: m } }]',
    'agent.provider of block "a" is missing',
  ],
  [
    'unknown_key',
    'blocks[0].agent.modle',
    'blocks: [{ id: a, agent: { provider: local, model: m, ▶modle: n } }]',
    'Did you mean "model"?',
  ],
  [
    'invalid_value',
    'blocks[0].agent.role',
    'blocks: [{ id: a, agent: { provider: local, model: m, role: ▶wroker } }]',
    'Did you mean "worker"?',
  ],
  [
    'missing_key',
    'blocks[0].agent.fallback[0].model',
    'blocks: [{ id: a, agent: { provider: local, model: m, fallback: [▶{ provider: local }] } }]',
    'agent.fallback[0].model of block "a" is missing',
  ],
  [
    'unknown_key',
    'blocks[0].agent.fallback[0].modle',
    'blocks: [{ id: a, agent: { provider: local, model: m, fallback: [{ provider: local, model: n, ▶modle: o }] } }]',
    'Did you mean "model"?',
  ],
  [
    'duplicate_fallback',
    'blocks[0].agent.fallback[1]',
    'blocks: [{ id: a, agent: { provider: local, model: m, fallback: [{ provider: local, model: n }, ▶{ provider: local, model: n }] } }]',
    'asks provider "local" for model "n" twice with the same model_params',
  ],
  [
    'invalid_value',
    'blocks[0].agent.fallback',
    'blocks: [{ id: a, agent: { provider: local, model: m, fallback: ▶[] } }]',
    'fallback',
  ],
  [
    'unknown_handler',
    'blocks[0].deterministic.handler',
    'blocks: [{ id: a, mode: deterministic, deterministic: { handler: ▶transfrom } }]',
    'Did you mean "transform"?',
  ],
  [
    'missing_key',
    'blocks[0].deterministic.config.expression',
    'blocks: [{ id: a, mode: deterministic, deterministic: ▶{ handler: transform } }]',
    'expression of block "a" is missing',
  ],
  [
    'unknown_key',
    'blocks[0].deterministic.config.x',
    'blocks: [{ id: a, mode: deterministic, deterministic: { handler: pass, config: { ▶x: 1 } } }]',
    'allowed are none',
  ],
  [
    'invalid_value',
    'blocks[0].deterministic.config.name',
    'blocks: [{ id: a, mode: deterministic, deterministic: { handler: write-artifact, config: { name: ▶../x } } }]',
    'is not allowed',
  ],
  [
    'wrong_type',
    'blocks[1].retry.max_attempts',
    block('retry:\n  max_attempts: ▶many'),
    'retry.max_attempts of block "plan" must be a number, got "many"',
  ],
  ['wrong_type', 'blocks[1].retry.max_attempts', block('retry: { max_attempts: ▶1.5 }'), 'whole number, got 1.5'],
  [
    'invalid_value',
    'blocks[1].retry.max_attempts',
    block('retry: { max_attempts: ▶-1 }'),
    'is -1; it must be at least 0',
  ],
  [
    'missing_key',
    'blocks[1].retry.max_attempts',
    block('retry: ▶{ delay_ms: 1 }'),
    'retry.max_attempts of block "plan" is missing',
  ],
  [
    'invalid_value',
    'blocks[1].retry.backoff',
    block('retry: { max_attempts: 2, backoff: ▶exponental }'),
    'Did you mean "exponential"?',
  ],
  [
    'invalid_value',
    'blocks[1].retry.delay_ms',
    block('retry: { max_attempts: 2, delay_ms: ▶-5 }'),
    'is -5; it must be at least 0',
  ],
  [
    'limit_exceeded',
    'blocks[1].timeout_ms',
    block('timeout_ms: ▶900000'),
    'timeout_ms of block "plan" is 900000; the limit is 840000',
  ],
  ['invalid_value', 'blocks[1].timeout_ms', block('timeout_ms: ▶0'), 'is 0; it must be at least 1'],
  ['limit_exceeded', 'blocks[1].contract_repair_attempts', block('contract_repair_attempts: ▶4'), 'the limit is 3'],
  ['wrong_type', 'blocks[1].approval', block('approval: ▶yes please'), 'must be a mapping, got "yes please"'],
  ['wrong_type', 'blocks[1].approval', block('▶approval:'), 'must be a mapping, got nothing (null)'],
  [
    'limit_exceeded',
    'blocks[1].approval.timeout_sec',
    block('approval: { timeout_sec: ▶604801 }'),
    'the limit is 604800',
  ],
  [
    'invalid_value',
    'blocks[1].approval.on_timeout',
    block('approval: { on_timeout: ▶wait }'),
    'allowed are "reject", "fail", "approve"',
  ],
  [
    'invalid_value',
    'blocks[1].approval.approvers[0]',
    block('approval: { approvers: [▶ana] }'),
    'Did you mean "user:ana"?',
  ],
  ['invalid_value', 'blocks[1].approval.approver', block('approval: { approver: ▶telegram:ana }'), 'names nobody'],
  ['unknown_input', 'blocks[1].approval.show[0]', block('approval: { show: [▶goal] }'), 'but its inputs are none'],
  ['unknown_block', 'blocks[1].approval.show[0]', block('approval: { show: [▶x.y] }'), 'no such block'],
  [
    'unknown_output',
    'blocks[1].approval.show[0]',
    block('approval: { show: [▶spec.x] }'),
    'outputs of "spec" are "body", "n"',
  ],
  [
    'not_upstream',
    'blocks[1].approval.show[0]',
    block('approval: { show: [▶spec.body] }'),
    '"spec" is not done before this block',
  ],
  [
    'type_mismatch',
    'blocks[0].outputs.approved',
    'blocks: [{ id: a, mode: approval, approval: true, outputs: { approved: ▶string } }]',
    'is boolean',
  ],
  [
    'unknown_output',
    'blocks[0].outputs.plan',
    'blocks: [{ id: a, mode: approval, approval: true, outputs: { ▶plan: string } }]',
    'cannot be produced',
  ],
]

const PORTS: readonly Row[] = [
  [
    'unknown_block',
    'blocks[1].inputs.x.from',
    block('inputs:\n  x: { from: ▶spek.body }'),
    'block "plan" reads "spek.body", but there is no block "spek"; blocks are "spec", "plan". Did you mean "spec.body"?',
  ],
  [
    'unknown_block',
    'blocks[1].inputs.x.from',
    block('inputs: { x: { from: ▶inputs.goal } }'),
    'A run input needs no "from"',
  ],
  [
    'unknown_output',
    'blocks[1].inputs.x.from',
    block("inputs:\n  x:\n    from: ▶'spec.bdy'"),
    'block "plan" reads "spec.bdy", but "spec" has outputs "body", "n". Did you mean "spec.body"?',
  ],
  [
    'malformed_from',
    'blocks[1].inputs.x.from',
    block('inputs: { x: { from: ▶spec } }'),
    'is "spec"; allowed is BLOCK.OUTPUT',
  ],
  [
    'malformed_from',
    'blocks[1].inputs.x.from',
    block('inputs: { x: { from: ▶spec.body.x } }'),
    'allowed is BLOCK.OUTPUT',
  ],
  ['malformed_from', 'blocks[1].inputs.x.from', block('inputs: { x: { from: ▶{ block: spec } } }'), 'is a mapping'],
  ['malformed_from', 'blocks[1].inputs.x.from', block('inputs:\n  x:\n    ▶from:'), 'is nothing (null)'],
  [
    'two_sources',
    'edges[0].input',
    `${block('inputs: { x: { from: spec.body } }')}\nedges:\n  - { from: spec, output: n, to: plan, input: ▶x }`,
    'two sources, "spec.body" and "spec.n"',
  ],
  [
    'unknown_type',
    'blocks[1].inputs.x',
    block('inputs: { x: ▶spec.body }'),
    'To wire an output, write { from: spec.body }.',
  ],
  [
    'unknown_type',
    'blocks[1].outputs.x.type',
    block('outputs: { x: { type: ▶int } }'),
    'unknown type "int"; allowed are "string", "number"',
  ],
  ['missing_type', 'blocks[1].outputs.x', block('outputs:\n  x:\n    ▶description: y'), 'has no type'],
  ['untyped_input', 'blocks[1].inputs.x', block('inputs: { x: ▶{} }'), 'neither a type nor a source'],
  ['wrong_type', 'blocks[1].inputs', block('inputs: ▶[a]'), 'inputs of block "plan" must be a mapping, got a list'],
  ['illegal_name', 'blocks[1].inputs["a b"]', block('inputs: { ▶a b: string }'), 'is not allowed'],
  [
    'unknown_key',
    'blocks[1].inputs.x.requird',
    block('inputs: { x: { type: string, ▶requird: true } }'),
    'Did you mean "required"?',
  ],
  [
    'type_mismatch',
    'blocks[1].inputs.x.from',
    block('inputs: { x: { type: string, from: ▶spec.n } }'),
    'reads "spec.n", a number, into its input "x", a string',
  ],
  [
    'type_mismatch',
    'blocks[1].inputs.x.from',
    block('inputs: { x: { type: json, from: ▶spec.body } }'),
    'a string, into its input "x", a json',
  ],
  [
    'type_mismatch',
    'edges[0].input',
    `${block('inputs: { x: boolean }')}\nedges:\n- from: spec\n  output: n\n  to: plan\n  input: ▶x`,
    'a number, into its input "x", a boolean',
  ],
  [
    'type_mismatch',
    'blocks[1].inputs.x.default',
    block('inputs: { x: { from: spec.n, default: ▶"3" } }'),
    '"3", which is no number',
  ],
  [
    'malformed_template',
    'blocks[0].agent.prompt',
    'blocks: [{ id: a, agent: { provider: local, model: m, prompt: ▶"{{goal}}" } }]',
    'Did you mean "{{inputs.goal}}"?',
  ],
  [
    'malformed_template',
    'blocks[0].agent.prompt',
    'blocks:\n- id: a\n  agent:\n    provider: local\n    model: m\n    prompt: ▶|\n      Do {{ outputs.x }}',
    'a template reads inputs as {{inputs.NAME}}',
  ],
  [
    'type_mismatch',
    'blocks[1].approval.prompt',
    block('inputs: { x: string }\napproval: { prompt: ▶"{{inputs.x.y}}" }'),
    'input "x" is a string and has no members',
  ],
]

const EDGES: readonly Row[] = [
  ['wrong_type', 'edges', `${block('')}\nedges: ▶{}`, 'edges of the document must be a list'],
  ['wrong_type', 'edges[0]', `${block('')}\nedges: [▶a]`, 'edges[0] must be a mapping'],
  ['missing_key', 'edges[0].to', `${block('')}\nedges: [▶{ from: spec }]`, 'to of edges[0] is missing'],
  [
    'missing_key',
    'edges[0].input',
    `${block('')}\nedges: [▶{ from: spec, to: plan, output: n }]`,
    'neither output nor input',
  ],
  ['unknown_block', 'edges[0].from', `${block('')}\nedges: [{ from: ▶spek, to: plan }]`, 'Did you mean "spec"?'],
  ['unknown_block', 'edges[0].to', `${block('')}\nedges: [{ from: spec, to: ▶plan.x }]`, 'Did you mean "plan"?'],
  [
    'unknown_output',
    'edges[0].output',
    `${block('inputs: { x: string }')}\nedges: [{ from: spec, output: ▶bod, to: plan, input: x }]`,
    'Did you mean "body"?',
  ],
  [
    'unknown_input',
    'edges[0].input',
    `${block('')}\nedges: [{ from: spec, output: n, to: plan, input: ▶x }]`,
    'block "plan" has no inputs',
  ],
  ...['{{inputs.gaol}}', '{{ inputs.gaol.text }}'].map(
    (template): Row => [
      'unknown_input',
      'blocks[0].agent.prompt',
      `inputs: { goal: string }
blocks: [{ id: plan, agent: { provider: local, model: m, prompt: ▶"Plan ${template}" }, outputs: { o: string } }]`,
      'prompt of block "plan" reads "inputs.gaol", but inputs of the block and of the run are "goal". Did you mean "goal"?',
    ],
  ),
  [
    'unknown_input',
    'blocks[0].agent.system',
    `inputs: { goal: string }
blocks: [{ id: plan, inputs: { own: { type: string, default: x } }, agent: { provider: local, model: m, system: ▶"{{inputs.tone}}" } }]`,
    'inputs of the block and of the run are "own", "goal". Declare "tone" in "inputs" of the document or of the block.',
  ],
  [
    'unknown_input',
    'blocks[0].agent.prompt',
    `inputs: { files: json }
blocks: [{ id: plan, foreach: { items: "{{inputs.files}}", as: file }, agent: { provider: local, model: m, prompt: ▶"{{inputs.fiel}}" } }]`,
    'Did you mean "file"?',
  ],
  [
    'unknown_input',
    'blocks[0].foreach.items',
    `inputs: { files: json }
blocks: [{ id: plan, foreach: { items: ▶"{{inputs.fils}}", as: file }, agent: { provider: local, model: m } }]`,
    'Did you mean "files"?',
  ],
  [
    'unknown_input',
    'blocks[0].approval.prompt',
    `inputs: { goal: string }
blocks: [{ id: plan, mode: approval, approval: { prompt: ▶"Take {{inputs.gaol}}?" } }]`,
    'Did you mean "goal"?',
  ],
  [
    'unknown_input',
    'blocks[0].dag.inputs.topic',
    `inputs: { goal: string }
blocks: [{ id: plan, mode: dag, dag: { name: c, inputs: { topic: ▶"{{inputs.gaol}}" } } }]`,
    'Did you mean "goal"?',
  ],
  [
    'unknown_input',
    'blocks[0].research.topic',
    `inputs: { goal: string }
blocks: [{ id: plan, mode: research, research: { topic: ▶"{{inputs.gaol}}" } }]`,
    'Did you mean "goal"?',
  ],
  ['cycle', 'edges[0]', `${block('')}\nedges: [▶{ from: plan, to: plan }]`, 'in a cycle: plan -> plan.'],
  [
    'cycle',
    'blocks[0].inputs.x.from',
    `blocks:
- { id: a, ${AGENT}, inputs: { x: { from: ▶c.o } }, outputs: { o: string } }
- { id: b, ${AGENT}, inputs: { x: { from: a.o } }, outputs: { o: string } }
- { id: before, ${AGENT}, outputs: { o: string } }
- { id: c, ${AGENT}, inputs: { x: { from: b.o }, y: { from: before.o } }, outputs: { o: string } }
- { id: after, ${AGENT}, inputs: { x: { from: c.o } } }`,
    'in a cycle: a -> b -> c -> a.',
  ],
]

const gate = (check: string, more = '') =>
  block(`inputs: { goal: string }\noutputs: { plan: string }\npost_gates:\n  - name: g\n    check: ${check}${more}`)

/** A gate over ports of every type, and one without (`any`). */
const typed = (check: string, phase = 'post_gates') =>
  block(
    `inputs: { n: number, yes: boolean, said: string, any: json }\noutputs: { made: number, file: artifact }\n${phase}:\n  - name: g\n    check: ${check}`,
  )

/** Gates on ports of a type they can never pass: path below the check, check, message. */
const NEVER: readonly (readonly [path: string, check: string, message: string])[] = [
  [
    '.port',
    '{ type: contains, port: ▶n, values: [a] }',
    'post-gate "g" of type contains that can never pass: port "n" is of type number, and with these parameters it needs string, file, artifact, json. Change the type of the port, or use a gate of numbers',
  ],
  ['.port', '{ type: contains, port: ▶made, values: [a], not: true }', 'port "made" is of type number'],
  ['.port', '{ type: max_value, port: ▶yes, max: 1 }', 'needs string, file, artifact, number, json. Change the type'],
  ['.port', '{ type: min_length, port: ▶yes, min: 1 }', 'or use equals, expr or port_matches'],
  ['.port', '{ type: json_path, port: ▶said, path: a }', 'it needs json'],
  ['.port', '{ type: port_type, port: ▶n, expected: string }', 'it needs string, file, artifact, json'],
  ['.port', '{ type: type_is, port: ▶file, expected: object }', 'port "file" is of type artifact'],
  ['.port', '{ type: equals, port: ▶n, value: "3" }', 'it needs string, file, artifact, json'],
  ['.port', '{ type: one_of, port: ▶said, values: [1, true] }', 'it needs number, boolean, json'],
  ['.port', '{ type: json_schema, port: ▶said, schema: { type: [integer, object] } }', 'it needs number, json'],
  [
    '.right',
    '{ type: diff, left: n, right: ▶said }',
    'post-gate "g" of type diff that can never pass: port "n" is of type number and port "said" of type string, and values of these types are never equal. Declare both of one type, or one of them json; or set mode: not_equal',
  ],
  [
    '.right',
    '{ type: diff, left: yes, right: ▶made, mode: equal }',
    '"yes" is of type boolean and port "made" of type number',
  ],
  [
    '.right',
    '{ type: diff, left: file, right: ▶n, mode: not_equal, not: true }',
    '"file" is of type artifact and port "n" of type number',
  ],
  ['.evidence', '{ type: citation_exists, port: said, evidence: ▶n }', 'port "n" is of type number'],
  [
    '.any_of[1].all_of[0].port',
    '{ any_of: [{ type: not_empty, port: n }, { all_of: [{ type: matches, port: ▶n, pattern: a }] }] }',
    'of type matches',
  ],
]

/** Checks that are negated, or composed of others. */
const PARTS: readonly Row[] = [
  ['wrong_type', '.not', '{ type: not_empty, port: plan, not: ▶"yes" }', 'must be true or false, got "yes"'],
  ['invalid_value', '.any_of', '{ any_of: ▶[] }', 'is empty, so it could never pass'],
  ['wrong_type', '.all_of', '{ all_of: ▶{ type: not_empty, port: plan } }', 'must be a list of checks, got a mapping'],
  ['missing_key', '.of', '▶{ at_least: 2 }', 'a list of checks is needed'],
  ['invalid_value', '.at_least', '{ at_least: ▶2, of: [{ type: not_empty, port: plan }] }', 'from 1 to 1'],
  ['unknown_key', '.min', '{ any_of: [{ type: not_empty, port: plan }], ▶min: 1 }', 'beside "any_of" are any_of, not'],
  ['unknown_key', '.type', '{ ▶type: not_empty, any_of: [{ type: not_empty, port: plan }] }', 'stands beside "any_of"'],
  [
    'unknown_gate',
    '.any_of[1].type',
    '{ any_of: [{ type: not_empty, port: plan }, { type: ▶not_emty }] }',
    'not_empty',
  ],
  [
    'unknown_gate_port',
    '.all_of[0].of[0].port',
    '{ all_of: [{ at_least: 1, not: true, of: [{ type: not_empty, port: ▶plam }] }] }',
    'Did you mean "plan"?',
  ],
  ['limit_exceeded', '.any_of[0]'.repeat(5), `${'{ any_of: ['.repeat(5)}▶{ any_of: [] }${'] }'.repeat(5)}`, '5 levels'],
  [
    'limit_exceeded',
    '.any_of[50]',
    `{ any_of: [${'{ type: not_empty, port: plan }, '.repeat(50)}▶{ type: not_empty, port: plan }] }`,
    'one more than the 50 checks',
  ],
]

const GATES: readonly Row[] = [
  [
    'unknown_gate',
    'blocks[1].post_gates[0].check.type',
    gate('{ type: ▶min_lenght, port: plan, min: 1 }'),
    'Did you mean "min_length"?',
  ],
  ['missing_key', 'blocks[1].post_gates[0].check.type', gate('▶{ port: plan }'), 'has no "type"'],
  ...NEVER.map(
    ([path, check, message]): Row => [
      'gate_never_passes',
      `blocks[1].post_gates[0].check${path}`,
      typed(check),
      message,
    ],
  ),
  [
    'gate_never_passes',
    'blocks[1].pre_gates[0].check.port',
    typed('{ type: starts_with, port: ▶yes, value: a }', 'pre_gates'),
    'has a pre-gate "g"',
  ],
  [
    'gate_never_passes',
    'blocks[1].post_gates[0].check.port',
    block(
      'inputs: { n: { from: spec.count } }\noutputs: { plan: string }\npost_gates: [{ name: g, check: { type: matches, port: ▶n, pattern: a } }]',
    ).replace('outputs: {', 'outputs: { count: number, '),
    'port "n" is of type number',
  ],
  [
    'gate_never_passes',
    'blocks[1].foreach.item_gates[0].check.port',
    block(
      'outputs: { n: number }\nforeach: { items: [1], item_gates: [{ name: g, check: { type: contains, port: ▶n, values: [a] } }] }',
    ),
    'an item-gate "g"',
  ],
  ...PARTS.map(
    ([code, path, check, message]): Row => [code, `blocks[1].post_gates[0].check${path}`, gate(check), message],
  ),
  [
    'missing_key',
    'blocks[1].post_gates[0].check',
    block('post_gates:\n  - ▶name: g'),
    'check of block "plan" is missing',
  ],
  [
    'missing_key',
    'blocks[1].post_gates[0].name',
    block('outputs: { plan: string }\npost_gates: [▶{ check: { type: not_empty, port: plan } }]'),
    'name of block "plan" is missing',
  ],
  [
    'missing_key',
    'blocks[1].post_gates[0].check.min',
    gate('▶{ type: min_length, port: plan }'),
    'check.min of block "plan" is missing',
  ],
  [
    'invalid_value',
    'blocks[1].post_gates[0].check.min',
    gate('{ type: min_length, port: plan, min: ▶-1 }'),
    'it must be at least 0',
  ],
  [
    'unknown_key',
    'blocks[1].post_gates[0].check.mni',
    gate('{ type: min_length, port: plan, min: 1, ▶mni: 2 }'),
    'Did you mean "min"?',
  ],
  [
    'invalid_value',
    'blocks[1].post_gates[0].check.pattern',
    gate('{ type: matches, port: plan, pattern: ▶"(" }'),
    'is not allowed',
  ],
  [
    'invalid_value',
    'blocks[1].post_gates[0].check.expression',
    gate('{ type: expr, expression: ▶f(1) }'),
    'calls are not allowed',
  ],
  [
    'unknown_gate_port',
    'blocks[1].post_gates[0].check.port',
    gate('{ type: not_empty, port: ▶paln }'),
    'its inputs and outputs are "goal", "plan". Did you mean "plan"?',
  ],
  [
    'unknown_gate_port',
    'blocks[1].post_gates[0].check.right',
    gate('{ type: diff, left: plan, right: ▶x }'),
    'reads port "x"',
  ],
  [
    'unknown_gate_port',
    'blocks[1].post_gates[0].check',
    gate('▶{ type: expr, expression: outputs.x == 1 }'),
    'reads port "x"',
  ],
  [
    'unknown_gate_port',
    'blocks[1].pre_gates[0].check.port',
    block('outputs: { plan: string }\npre_gates: [{ name: g, check: { type: not_empty, port: ▶plan } }]'),
    'a pre-gate that reads port "plan", but its inputs are none',
  ],
  [
    'duplicate_gate',
    'blocks[1].post_gates[1].name',
    gate('{ type: not_empty, port: plan }', '\n  - name: ▶g\n    check: { type: not_empty, port: goal }'),
    'two gates named "g"',
  ],
  [
    'invalid_value',
    'blocks[1].post_gates[0].on_fail',
    gate('{ type: not_empty, port: plan }', '\n    on_fail: ▶warm'),
    'Did you mean "warn"?',
  ],
  ['wrong_type', 'blocks[1].post_gates', block('post_gates: ▶{}'), 'must be a list'],
  [
    'invalid_value',
    'blocks[1].gate_composition.post',
    gate('{ type: not_empty, port: plan }', '\ngate_composition: { post: ▶most }'),
    'is "most"; allowed are all, any',
  ],
  [
    'invalid_value',
    'blocks[1].gate_composition.post.at_least',
    gate('{ type: not_empty, port: plan }', '\ngate_composition: { post: { at_least: ▶2 } }'),
    'is 2, but the phase has 1 gates',
  ],
  [
    'invalid_value',
    'blocks[1].gate_composition.post.at_least',
    gate('{ type: not_empty, port: plan }', '\n    on_fail: warn\ngate_composition: { post: { at_least: ▶1 } }'),
    'has 1 gates, of which 0 count',
  ],
  [
    'invalid_value',
    'blocks[1].gate_composition.post.threshold',
    gate(
      '{ type: not_empty, port: plan }',
      '\n    on_fail: warn\ngate_composition: { post: { weights: { g: 1 }, threshold: ▶1 } }',
    ),
    'all weights together are 0',
  ],
  [
    'unknown_gate_name',
    'blocks[1].gate_composition.post.weights.h',
    gate('{ type: not_empty, port: plan }', '\ngate_composition: { post: { weights: { h: ▶1 }, threshold: 1 } }'),
    'but its gates of that phase are "g"',
  ],
  [
    'invalid_value',
    'blocks[1].gate_composition.post.threshold',
    gate('{ type: not_empty, port: plan }', '\ngate_composition: { post: { weights: { g: 1 }, threshold: ▶2 } }'),
    'all weights together are 1',
  ],
  [
    'limit_exceeded',
    'blocks[1].post_gates',
    block(
      `outputs: { plan: string }\n▶post_gates:\n${Array.from({ length: 21 }, (_, i) => `  - { name: g${i}, check: { type: not_empty, port: plan } }`).join('\n')}`,
    ),
    'has 21 gates; the limit is 20',
  ],
  ['missing_key', 'budget', `▶budget: { on_exceed: fail }\nblocks:\n${SPEC}`, 'budget of the document has no cap'],
  ['missing_key', 'blocks[1].budget', block('▶budget: {}'), 'budget of block "plan" has no cap'],
  ['unknown_key', 'blocks[1].budget.on_exceed', block('budget: { usd: 1, ▶on_exceed: fail }'), 'on_exceed'],
  ['invalid_value', 'blocks[1].budget.tokens', block('budget: { tokens: ▶0 }'), 'tokens'],
  [
    'limit_exceeded',
    'blocks[1].outputs',
    block(`▶outputs:\n${Array.from({ length: 25 }, (_, i) => `  port_${i}: string`).join('\n')}`),
    'has 25 outputs; the limit is 24',
  ],
]

const LATER: readonly Row[] = [
  later(
    'blocks[0].outputs.x',
    'blocks: [{ id: a, mode: approval, approval: true, inputs: { x: string }, outputs: { ▶x: string } }]',
  ),
]

function later(path: string, text: string): Row {
  return ['not_yet_supported', path, text, 'not supported yet']
}

describe('parseDag() refuses, at the exact place,', () => {
  test.each([...YAML, ...DOCUMENT, ...BLOCK, ...PORTS, ...EDGES, ...GATES, ...LATER])(
    '%s at "%s"',
    (code, path, marked, message) => {
      const before = marked.slice(0, marked.indexOf('▶')).split('\n')
      const place = { line: before.length, column: (before.at(-1) ?? '').length + 1 }
      const result = parseDag(marked.replace('▶', ''), { name: 'research' })
      expect(result).toMatchObject({ ok: false, errors: [{ code, path, ...place }] })
      const [error] = result.ok ? [] : result.errors
      expect(error?.message).toContain(message)
      expect(error?.message).toMatch(/^Cannot compile DAG ".+": .+[.?]$/)
      if (error?.hint !== undefined) expect(error.message.endsWith(error.hint)).toBe(true)
    },
  )
})

describe('parseDag()', () => {
  test('answers everything that is wrong at once, in the order of the document', () => {
    const text = `name: research
blokcs: 1
blocks:
  - id: spec
    outputs: { body: strin }
    agent: { provider: local }
  - id: spec
    inputs: { x: {}, y: { from: nope.z } }
    when: "inputs.z"
    timeout_ms: 0
    agent: { provider: local, model: m, prompt: "{{x}}" }
    post_gates:
      - { name: g, check: { type: not_empty, port: z } }
edges:
  - { from: spec, to: end }
`
    const result = parseDag(text)
    const found = result.ok ? [] : result.errors.map(({ line, code }) => [line, code])
    expect(found).toEqual([
      [2, 'unknown_key'],
      [5, 'unknown_type'],
      [6, 'missing_key'],
      [7, 'duplicate_id'],
      [8, 'untyped_input'],
      [8, 'unknown_block'],
      [9, 'unknown_input'],
      [10, 'invalid_value'],
      [11, 'malformed_template'],
      [13, 'unknown_gate_port'],
      [15, 'unknown_block'],
    ])
  })

  test('a value that JSON does not have hides nothing that is wrong beside it, and is told once', () => {
    const text = `name: research\nblocks:
  - { id: spec, ${AGENT}, timeout_ms: .nan, retry: { max_attempts: .inf, backof: none } }
  - { id: plan, ${AGENT}, inputs: { text: { from: spec.txt } } }`
    const codes = (given: string | object) => {
      const result = parseDag(given)
      return result.ok ? [] : result.errors.map(({ code, path }) => `${code} ${path}`)
    }
    const expected = [
      'not_json blocks[0].timeout_ms',
      'not_json blocks[0].retry.max_attempts',
      'unknown_key blocks[0].retry.backof',
      'unknown_output blocks[1].inputs.text.from',
    ]
    expect(codes(text)).toEqual(expected)
    const agent = { provider: 'local', model: 'm', prompt: 'p' }
    const spec = { id: 'spec', agent, timeout_ms: Number.NaN, retry: { max_attempts: 1 / 0, backof: 'none' } }
    const plan = { id: 'plan', agent, inputs: { text: { from: 'spec.txt' } } }
    expect(codes({ name: 'research', blocks: [spec, plan] })).toEqual(expected)
  })

  test.each([
    '{ type: port_matches, port: n, pattern: a }',
    '{ type: port_min_length, port: yes, min: 1 }',
    '{ type: port_not_empty, port: yes }',
    '{ type: contains, port: any, values: [a] }',
    '{ type: contains, port: file, values: [a] }',
    '{ type: max_value, port: said, max: 1 }',
    '{ type: equals, port: n, value: "3", not: true }',
    '{ any_of: [{ type: type_is, port: n, expected: string }], not: true }',
    '{ type: port_type, port: said, expected: file }',
    '{ type: json_schema, port: said, schema: { minLength: 3 } }',
    '{ type: diff, left: n, right: said, mode: not_equal }',
    '{ type: diff, left: n, right: said, not: true }',
    '{ type: diff, left: n, right: made }',
    '{ type: diff, left: said, right: file }',
    '{ type: diff, left: any, right: n }',
  ])('%s may pass, so it is not refused', (check) => {
    expect(parseDag(typed(check))).toMatchObject({ ok: true })
  })

  test('gates after a fan-out see its lists', () => {
    const block = `${AGENT}, outputs: { n: number }, foreach: { items: [1] }`
    const gate = '{ name: g, check: { type: min_length, port: n, min: 2 } }'
    expect(parseDag(`blocks: [{ id: each, ${block}, post_gates: [${gate}] }]`)).toMatchObject({ ok: true })
  })

  test('says what was seen, what is allowed and what to do', () => {
    const text = `name: research\nblocks:
  - { id: spec, ${AGENT}, outputs: { body: string } }
  - { id: plan, ${AGENT}, inputs: { text: { from: spec.text } } }`
    expect(parseDag(text)).toEqual({
      ok: false,
      errors: [
        {
          code: 'unknown_output',
          path: 'blocks[1].inputs.text.from',
          line: 4,
          column: 79,
          message:
            'Cannot compile DAG "research": block "plan" reads "spec.text", but "spec" has outputs "body". Did you mean "spec.body"?',
          hint: 'Did you mean "spec.body"?',
        },
      ],
    })
  })

  test.each([
    ['line feeds', '\n'],
    ['carriage returns', '\r'],
    ['both', '\r\n'],
  ])('counts lines of texts broken by %s', (_, end) => {
    const text = ['\uFEFFname: é', '', `blocks: [{ id: a, ${AGENT} }]`, '', 'x: 1', ''].join(end)
    expect(parseDag(text)).toMatchObject({ ok: false, errors: [{ code: 'unknown_key', line: 5, column: 1 }] })
    const syntax = ['\uFEFFname: a', '', 'blocks: [', ''].join(end)
    expect(parseDag(syntax)).toMatchObject({ ok: false, errors: [{ code: 'yaml_syntax', line: 4, column: 1 }] })
  })

  test('reports each of several cycles once, and no block that only touches one', () => {
    const wire = (from: string, to: string) => ({ from, to })
    const blocks = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, agent: { provider: 'local', model: 'm' } }))
    const edges = [
      wire('a', 'b'),
      wire('b', 'a'),
      wire('b', 'c'),
      wire('c', 'd'),
      wire('d', 'e'),
      wire('e', 'd'),
      wire('f', 'f'),
    ]
    const result = parseDag({ blocks, edges })
    expect(result.ok ? [] : result.errors.map(({ path, message }) => [path, message.split('cycle: ')[1]])).toEqual([
      ['edges[1]', 'a -> b -> a. Remove one of these wires.'],
      ['edges[5]', 'd -> e -> d. Remove one of these wires.'],
      ['edges[6]', 'f -> f. Remove one of these wires.'],
    ])
  })

  test.each([
    [
      '1,001 blocks',
      `blocks:\n${Array.from({ length: 1_001 }, (_, i) => `- { id: b${i}, ${AGENT} }`).join('\n')}`,
      'the document has 1001 blocks; the limit is 1000',
      1,
    ],
    ['262,145 bytes', `# ${'é'.repeat(131_071)}x`, 'the document has 262145 bytes; the limit is 262144', undefined],
  ])('refuses %s, naming limit and value', (_, text, message, line) => {
    const result = parseDag(text)
    expect(result).toMatchObject({ ok: false, errors: [{ code: 'limit_exceeded' }] })
    expect(result.ok ? [] : [result.errors[0]?.message, result.errors[0]?.line]).toEqual([
      `Cannot compile DAG "dag": ${message}.`,
      line,
    ])
  })

  test('answers at most 100 errors, the first of the document', () => {
    const result = parseDag(`blocks:\n${'- 1\n'.repeat(900)}`)
    expect(result.ok ? [] : result.errors.map(({ line }) => line)).toEqual(Array.from({ length: 100 }, (_, i) => i + 2))
  })

  test('keeps its messages short and clean, whatever a document holds', () => {
    const hostile = `${'x'.repeat(500)}\u202e\u0007`
    const result = parseDag({ blocks: [{ id: hostile }, { id: 'a', [hostile]: 1, mode: hostile }] }, { name: hostile })
    for (const { message } of result.ok ? [] : result.errors) {
      expect(message.length).toBeLessThan(1_000)
      expect(['\u0007', '\u202e'].filter((char) => message.includes(char))).toEqual([])
    }
  })

  test('lists errors of an object in document order, without lines', () => {
    const result = parseDag({ blocks: [{ id: 'a' }, { id: 'a', agent: { provider: 'local', model: 'm' } }], x: 1 })
    expect(result.ok ? [] : result.errors.map(({ code, path, line }) => [code, path, line])).toEqual([
      ['missing_section', 'blocks[0]', undefined],
      ['duplicate_id', 'blocks[1].id', undefined],
      ['unknown_key', 'x', undefined],
    ])
  })
})
