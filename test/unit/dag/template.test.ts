import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { renderTemplate, templateReferences } from '../../../shared/dag/template.ts'
import { canonicalJson } from '../../../shared/text/json.ts'
import { expectLinear } from '../gates/linear.ts'

describe('renderTemplate()', () => {
  test.each([
    ['strings verbatim', 'Plan: {{inputs.goal}}', { goal: 'a "b"' }, 'Plan: a "b"'],
    [
      'other types as canonical JSON',
      '{{ inputs.rows }}',
      { rows: { b: [1, true], a: null } },
      '{"a":null,"b":[1,true]}',
    ],
    ['members of objects and lists', '{{inputs.r.names.1}}', { r: { names: ['x', 'y'] } }, 'y'],
    ['every reference', '{{inputs.a}}{{inputs.a}}-{{inputs.b}}', { a: 1, b: '' }, '11-'],
    ['inside JSON braces', '{"goal": {{{inputs.a}}}}', { a: 1 }, '{"goal": {1}}'],
    [
      'nothing else in braces',
      '{{ a + b }} {{#each}} {{}} {{ outputs.x }}',
      {},
      '{{ a + b }} {{#each}} {{}} {{ outputs.x }}',
    ],
    ['replacement patterns of String.replace as text', '[{{inputs.a}}]', { a: "$& $1 $` $' $$" }, "[$& $1 $` $' $$]"],
    ['a null as null', '{{inputs.a}}', { a: null }, 'null'],
  ])('substitutes %s', (_, text, values, expected) => {
    expect(renderTemplate(text, values)).toEqual({ ok: true, text: expected })
  })

  test.each([
    ['an absent input', '{{inputs.a}} {{inputs.b}} {{inputs.a}}', { b: 1 }, ['a']],
    ['an absent member', '{{inputs.a.b.c}}', { a: { b: {} } }, ['a.b.c']],
    [
      'what a prototype has',
      '{{inputs.toString}} {{inputs.a.constructor}} {{inputs.a.map}}',
      { a: [] },
      ['toString', 'a.constructor', 'a.map'],
    ],
    ['the parts of a text', '{{inputs.a.length}} {{inputs.a.0}}', { a: 'abc' }, ['a.length', 'a.0']],
  ])('names %s as missing', (_, text, values, missing) => {
    expect(renderTemplate(text, values)).toEqual({ ok: false, missing })
  })

  test('never looks at a substituted value again, whatever it holds', () => {
    const hostile = fc.oneof(fc.string(), fc.constantFrom('{{inputs.b}}', '{{', '}}', '{{inputs.', '$&', 'inputs.b}}'))
    fc.assert(
      fc.property(hostile, hostile, hostile, (a, b, between) => {
        const plain = between.replaceAll('{', '(').replaceAll('}', ')')
        const rendered = renderTemplate(`{{inputs.a}}${plain}{{inputs.b}}`, { a, b })
        expect(rendered).toEqual({ ok: true, text: `${a}${plain}${b}` })
      }),
    )
  })

  test('renders any JSON value as its canonical text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value))
        const expected = typeof json === 'string' ? json : canonicalJson(json)
        expect(renderTemplate('{{inputs.v}}', { v: json })).toEqual({ ok: true, text: expected })
      }),
    )
  })

  test('is linear over hundreds of thousands of opening braces', async () => {
    await expectLinear((size) => {
      const text = `${'{{'.repeat(size)}${'{{inputs.'.repeat(size / 5)}`
      expect(renderTemplate(text, {})).toEqual({ ok: true, text })
    }, 100_000)
  })
})

describe('templateReferences()', () => {
  test('answers paths, and what was probably meant as one', () => {
    expect(
      templateReferences('{{inputs.a}} {{ inputs.b-c.d.0 }} {{goal}} {{inputs.}} {{ outputs.x }} {{ if a }}'),
    ).toEqual([
      { kind: 'input', path: ['a'] },
      { kind: 'input', path: ['b-c', 'd', '0'] },
      { kind: 'malformed', text: '{{goal}}' },
      { kind: 'malformed', text: '{{inputs.}}' },
      { kind: 'malformed', text: '{{ outputs.x }}' },
    ])
  })
})
