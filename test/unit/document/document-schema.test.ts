import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { dump, load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { HANDLERS } from '../../../shared/dag/handlers.ts'
import { NATIVE_HANDLERS } from '../../../shared/dag/native-call.ts'
import { documentSchema } from '../../../shared/document/json-schema.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { WORDS } from '../../../shared/document/schema-parts.ts'
import { SECTIONS } from '../../../shared/document/sections.ts'
import { COMPOSITIONS } from '../../../shared/gates/check-composition.ts'
import { gateTypes } from '../../../shared/gates/registry.ts'
import { atMost } from '../../how-much.ts'
import { filesBelow, readText } from '../docs/markdown.ts'
import { FULL, MUTANT } from './mutants.ts'

const validate = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(documentSchema())
const FILES = filesBelow(['dags', 'test/unit/document/openskelo'], '.yaml')

describe('documentSchema()', () => {
  test('is what docs/dag.schema.json holds (vitest -u writes it anew)', async () => {
    const text = `${JSON.stringify(documentSchema(), null, 2)}\n`
    await expect(text).toMatchFileSnapshot('../../../docs/dag.schema.json')
  })

  test('describes every key the parser reads, and no other', () => {
    for (const [section, { shape }] of Object.entries(SECTIONS)) {
      const words = Object.entries(WORDS).find(([name]) => name === section)?.[1].keys ?? {}
      expect([section, Object.keys(words).toSorted()]).toEqual([section, Object.keys(shape).toSorted()])
      expect(Object.values(words).filter((text) => !/^.{3,200}\.$/.test(text))).toEqual([])
    }
  })

  test('knows every gate with its parameters and every handler', () => {
    const { $defs } = documentSchema() as { $defs: Record<string, { anyOf: { title: string }[]; properties: object }> }
    expect($defs.check?.anyOf.map(({ title }) => title)).toEqual([
      ...gateTypes(),
      'a gate of the project',
      ...Object.keys(COMPOSITIONS),
    ])
    expect($defs.deterministic?.properties).toMatchObject({
      handler: { anyOf: [{ enum: [...Object.keys(HANDLERS), ...Object.keys(NATIVE_HANDLERS)] }, {}] },
    })
    expect($defs.check?.anyOf).toContainEqual(
      expect.objectContaining({ title: 'min_length', required: ['type', 'port', 'min'], additionalProperties: false }),
    )
  })

  test.each(FILES)('accepts %s', (file) => {
    validate(load(readText(file)))
    expect(validate.errors).toBe(null)
  })

  test.each(filesBelow(['dags'], '.yaml'))('is named in the first line of %s', (file) => {
    expect(readText(file).split('\n')[0]).toBe('# yaml-language-server: $schema=../docs/dag.schema.json')
  })
})

const AGENT = { provider: 'local', model: 'm' }
const good = {
  id: 'a',
  agent: AGENT,
  inputs: { files: 'json' },
  outputs: { o: 'string' },
  pre_gates: [
    { name: 'p', check: { at_least: 1, of: [{ all_of: [{ type: 'not_empty', port: 'files' }] }], not: false } },
  ],
  post_gates: [{ name: 'g', check: { type: 'min_length', port: 'o', min: 3, not: true }, on_fail: 'route' }],
  on_gate_fail: [{ when_gate: 'g', route_to: 'a' }],
  foreach: { items: '{{inputs.files}}', as: 'file' },
  when: 'inputs.files.length > 0',
  cache: { max_age_sec: 60 },
  retry: { max_attempts: 2, delay_ms: 250 },
}
const BROKEN: readonly (readonly [string, object])[] = [
  ['no blocks', { name: 'x' }],
  ['an empty list of blocks', { blocks: [] }],
  ['a key nobody knows', { blocks: [good], bloks: 1 }],
  ['a block without id', { blocks: [{ agent: AGENT }] }],
  ['an id that is no name', { blocks: [{ ...good, id: '1st' }] }],
  ['an unknown mode', { blocks: [{ ...good, mode: 'magic' }] }],
  ['a mode without its section', { blocks: [{ id: 'a' }] }],
  ['a child without a name', { blocks: [{ id: 'a', mode: 'dag', dag: {} }] }],
  ['a research without a topic', { blocks: [{ id: 'a', mode: 'research', research: {} }] }],
  ['a blank hint', { blocks: [{ id: 'a', mode: 'research', research: { topic: 't', hints: { k: ' ' } } }] }],
  ['an agent nobody can find', { blocks: [{ id: 'a', agent: { model: 'm' } }] }],
  ['an unknown port type', { blocks: [{ ...good, outputs: { o: 'strin' } }] }],
  ['an output without a type', { blocks: [{ ...good, outputs: { o: { required: true } } }] }],
  ['a source that is no BLOCK.OUTPUT', { blocks: [{ ...good, inputs: { files: { from: 'spec' } } }] }],
  ['an unknown gate', { blocks: [{ ...good, post_gates: [{ name: 'g', check: { type: 'magic' } }] }] }],
  [
    'a gate without its parameter',
    { blocks: [{ ...good, post_gates: [{ name: 'g', check: { type: 'not_empty' } }] }] },
  ],
  ['a composition of nothing', { blocks: [{ ...good, post_gates: [{ name: 'g', check: { any_of: [] } }] }] }],
  ['a number without checks', { blocks: [{ ...good, post_gates: [{ name: 'g', check: { at_least: 1 } }] }] }],
  [
    'a wrong part of a composition',
    { blocks: [{ ...good, post_gates: [{ name: 'g', check: { all_of: [{ type: 'not_empty' }] } }] }] },
  ],
  [
    'a negation that is no boolean',
    { blocks: [{ ...good, post_gates: [{ name: 'g', check: { type: 'not_empty', port: 'o', not: 1 } }] }] },
  ],
  [
    'a handler with a key of another',
    { blocks: [{ id: 'a', mode: 'deterministic', deterministic: { handler: 'pass', config: { name: 'x' } } }] },
  ],
  ['a bounce to nowhere', { blocks: [{ ...good, on_gate_fail: [{ when_gate: 'g' }] }] }],
  ['no bounce at all', { blocks: [{ ...good, on_gate_fail: [{ when_gate: 'g', route_to: 'a', max_bounces: 0 }] }] }],
  ['too many items at once', { blocks: [{ ...good, foreach: { items: [1], max_concurrency: 41 } }] }],
  ['a list that is a text', { blocks: [{ ...good, foreach: { items: 'files' } }] }],
  ['a condition that is no text', { blocks: [{ ...good, when: true }] }],
  ['a cache for ever', { blocks: [{ ...good, cache: {} }] }],
  ['a timeout of nothing', { blocks: [{ ...good, timeout_ms: 0 }] }],
  ['an edge without an end', { blocks: [good], edges: [{ from: 'a' }] }],
  ['an approver of no kind', { blocks: [{ ...good, approval: { approvers: ['ana'] } }] }],
]

describe('documentSchema() and parseDag() both', () => {
  test('accept every document the parser accepts, whatever was changed in it', () => {
    let accepted = 0
    fc.assert(
      fc.property(MUTANT, (document) => {
        if (typeof document !== 'object' || document === null || !parseDag(document).ok) return
        accepted += 1
        validate(JSON.parse(JSON.stringify(document)))
        expect(validate.errors).toBe(null)
      }),
      { numRuns: atMost(400, 200) },
    )
    expect(accepted).toBeGreaterThan(atMost(5, 0))
    expect(validate(FULL)).toBe(true)
  })

  test('accept the document the broken ones are made of', () => {
    expect(parseDag({ blocks: [good] })).toMatchObject({ ok: true })
    expect([validate({ blocks: [good] }), validate.errors]).toEqual([true, null])
  })

  test.each(BROKEN)('refuse %s', (_, document) => {
    expect([validate(document), parseDag(document).ok, parseDag(dump(document)).ok]).toEqual([false, false, false])
  })
})
