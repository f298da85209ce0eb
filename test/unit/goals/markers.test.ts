import { describe, expect, test } from 'vitest'
import { judgeFindings, readEvidence } from '../../../shared/goals/evidence.ts'
import { MARKER_TYPES, parseMarkers } from '../../../shared/goals/marker.ts'
import { findMarkersAnywhere, newMarkerSet } from '../../../shared/goals/marker-set.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'

const keys = (text: string) =>
  parseMarkers(text).map(
    ({ type, subtype, content }) => `${type}${subtype === undefined ? '' : `:${subtype}`} ${content}`,
  )

describe('parseMarkers()', () => {
  test('reads type, subtype, attributes, content and line', () => {
    expect(parseMarkers('prose\n  [METRIC:cv_accuracy:folds=5:mode=a=b:strict]   0.91 (mean)  \n')).toEqual([
      {
        type: 'METRIC',
        subtype: 'cv_accuracy',
        attributes: { folds: '5', mode: 'a=b', strict: '' },
        content: '0.91 (mean)',
        line: 2,
        known: true,
      },
    ])
  })

  test('the subtype is the first attribute without =, wherever it stands', () => {
    expect(parseMarkers('[STAGE:id=S01:begin] x')[0]).toMatchObject({ subtype: 'begin', attributes: { id: 'S01' } })
    const [only] = parseMarkers('[DATA:format=csv] x')
    expect(only).toMatchObject({ attributes: { format: 'csv' } })
    expect(only).not.toHaveProperty('subtype')
    expect(parseMarkers('[FINDING] x')[0]).not.toHaveProperty('subtype')
  })

  test('- and _ are equal in types and subtypes', () => {
    expect(keys('[NEXT-STEP] a\n[STAT:effect-size] b\n[METRIC:cv-a_b] c')).toEqual([
      'NEXT_STEP a',
      'STAT:effect_size b',
      'METRIC:cv_a_b c',
    ])
  })

  test('a citation keeps its colons, equals signs and dashes', () => {
    const [marker] = parseMarkers('[CITATION:doi:10.1000/a-b=c] "words"')
    expect(marker).toMatchObject({ subtype: 'doi:10.1000/a-b=c', attributes: {}, content: '"words"' })
  })

  test('CRLF is LF, and white space before the bracket is nothing', () => {
    expect(keys('[METRIC:a] 1\r\n\t [METRIC:b] 2\r\n')).toEqual(['METRIC:a 1', 'METRIC:b 2'])
    expect(keys('\uFEFF[METRIC:a] 1')).toEqual(['METRIC:a 1'])
  })

  test('an empty content is one, and a line of its own', () => {
    expect(keys('[METRIC:a]\n[METRIC:b]')).toEqual(['METRIC:a ', 'METRIC:b '])
  })

  test.each([
    'The result is [METRIC:a] 1',
    '> [METRIC:a] 1',
    '"[METRIC:a] 1"',
    '- [METRIC:a] 1',
    '[metric:a] 1',
    '[Metric:a] 1',
    '[METRIC:a 1',
    '[METRIC:] 1',
    '[] 1',
    '[1] 1',
    '[-METRIC] 1',
    '[METRIC a] 1',
    '\\[METRIC:a] 1',
    '[[METRIC:a]] 1',
  ])('%s is prose', (line) => {
    expect(parseMarkers(line)).toEqual([])
  })

  test('there is one marker a line: what follows belongs to its content', () => {
    expect(keys('[METRIC:a] 1 [METRIC:b] 2')).toEqual(['METRIC:a 1 [METRIC:b] 2'])
  })

  test('unknown types are kept and flagged', () => {
    const markers = parseMarkers('[WHATEVER:x] 1\n[FINDING] y')
    expect(markers.map(({ type, known }) => [type, known])).toEqual([
      ['WHATEVER', false],
      ['FINDING', true],
    ])
  })

  test('attributes named like members of every object are attributes', () => {
    const [marker] = parseMarkers('[METRIC:a:__proto__=1:constructor=2] 3')
    expect(Object.entries(marker?.attributes ?? {})).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ])
  })

  test('a separator of lines that is no \\n stays in the content', () => {
    expect(parseMarkers('[METRIC:a] 1\u2028[METRIC:b] 2')).toHaveLength(1)
  })

  test('every type of the taxonomy parses as known', () => {
    for (const type of MARKER_TYPES.keys()) expect(parseMarkers(`[${type}] x`)[0]).toMatchObject({ type, known: true })
    expect([...MARKER_TYPES.values()].every((words) => words.length > 5)).toBe(true)
  })
})

test('what every object has is no name of a metric, and a contract may not ask for it', () => {
  for (const name of ['__proto__', '--proto--', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
    expect(keys(`[METRIC:${name}] 1\n[METRIC:fine] 2`)).toEqual(['METRIC:fine 2'])
    const asked = { kind: 'metric_threshold', metric: name, op: '>=', target: 1 }
    const read = readGoalContract({ goal_text: 'x', acceptance_criteria: [{ id: 'A', ...asked }] })
    expect(read.ok ? [] : read.errors.map(({ message }) => message)).toEqual([expect.stringMatching(/every object/)])
  }
})

describe('readEvidence()', () => {
  test('a line that is said again counts once, one that was read nowhere, and a finding may rest on the former', () => {
    const lines = '[STAT:ci] 1\n[STAT:effect_size] 1\n[METRIC:a] 1'
    const evidence = readEvidence([
      { text: lines },
      { text: `${lines}\n[FINDING] x\n[METRIC:b] 2`, relayed: [1, 2, 3], read: [5] },
    ])
    expect(evidence.markers.map(({ type, text }) => [type, text])).toEqual([
      ['STAT', 0],
      ['STAT', 0],
      ['METRIC', 0],
      ['FINDING', 1],
    ])
    expect(judgeFindings(evidence)).toMatchObject([{ verified: true }])
    expect(judgeFindings(readEvidence([{ text: `${lines}\n[FINDING] x`, read: [1, 2] }]))).toMatchObject([
      { verified: false },
    ])
  })

  test('each marker knows its block, attempt, seq and text', () => {
    const { markers, artifacts } = readEvidence(
      [
        { text: '[METRIC:a] 1', block: 'train', attempt: 2, seq: 7 },
        { text: 'x\n[METRIC:b] 2', block: 'test', attempt: 1, seq: 9 },
      ],
      [{ name: 'm.pkl', bytes: 3 }],
    )
    expect(
      markers.map(({ subtype, block, attempt, seq, line, text }) => [subtype, block, attempt, seq, line, text]),
    ).toEqual([
      ['a', 'train', 2, 7, 1, 0],
      ['b', 'test', 1, 9, 2, 1],
    ])
    expect(artifacts).toEqual([{ name: 'm.pkl', bytes: 3 }])
  })

  test('texts that know their seq are put into event order', () => {
    const texts = [
      { text: '[METRIC:late] 1', seq: 9 },
      { text: '[METRIC:early] 1', seq: 2 },
    ]
    expect(readEvidence(texts).markers.map(({ subtype, text }) => [subtype, text])).toEqual([
      ['early', 0],
      ['late', 1],
    ])
  })

  test('as soon as one does not, they stay as given', () => {
    const texts = [{ text: '[METRIC:a] 1', seq: 9 }, { text: '[METRIC:b] 1' }, { text: '[METRIC:c] 1', seq: 1 }]
    expect(readEvidence(texts).markers.map(({ subtype }) => subtype)).toEqual(['a', 'b', 'c'])
    expect(readEvidence([]).artifacts).toEqual([])
  })
})

describe('what stands between fences is no marker', () => {
  const values = (text: string) => parseMarkers(text).map(({ content }) => content)

  test.each([
    ['```\n[METRIC:a] 1\n```\n[METRIC:a] 2', ['2']],
    ['~~~text\n[METRIC:a] 1\n~~~\n[METRIC:a] 2', ['2']],
    ['````\n[METRIC:a] 1\n```\n[METRIC:a] 2\n````\n[METRIC:a] 3', ['3']],
    ['[METRIC:a] 1\n```\n[METRIC:a] 2', ['1']],
    ['``` not ` a fence\n[METRIC:a] 1', ['1']],
    ['    ```\n[METRIC:a] 1\n    ```\n[METRIC:a] 2', ['2']],
    ['- ```\n  [METRIC:a] 1\n  ```\n[METRIC:a] 2', ['2']],
    ['* ~~~\n  [METRIC:a] 1\n  ~~~\n[METRIC:a] 2', ['2']],
    ['1.  ```\n    [METRIC:a] 1\n    ```\n[METRIC:a] 2', ['2']],
    ['12) - ```py\n      [METRIC:a] 1\n      ```\n[METRIC:a] 2', ['2']],
    ['-\t```\n\t[METRIC:a] 1\n\t```\n[METRIC:a] 2', ['2']],
    ['> ```\n> x\n[METRIC:a] 1\n> ```\n[METRIC:a] 2', ['2']],
    ['- > ```\n  > x\n  [METRIC:a] 1\n  > ```\n[METRIC:a] 2', ['2']],
    ['```\n- ```\n[METRIC:a] 1\n```\n[METRIC:a] 2', ['2']],
    ['```\n     ```\n[METRIC:a] 1\n```\n[METRIC:a] 2', ['2']],
    ['- ```\n  ~~~\n  [METRIC:a] 1\n  ```\n[METRIC:a] 2', ['2']],
    ['-```\n[METRIC:a] 1', ['1']],
    ['a ``` b\n[METRIC:a] 1', ['1']],
  ])('%j', (text, expected) => expect(values(text)).toEqual(expected))

  test('of a block ten thousand are read, all its texts together, and one more is told', () => {
    const of = (block: string | undefined, n: number) => ({
      text: '[METRIC:a] 1\n'.repeat(n),
      ...(block !== undefined && { block }),
    })
    const count = (...texts: readonly { readonly text: string }[]) => {
      const { markers, cut } = readEvidence(texts)
      return [markers.length, cut]
    }
    expect(count(of('b', 10_000))).toEqual([10_000, []])
    expect(count(of('b', 10_001))).toEqual([10_000, ['b']])
    expect(count(of('b', 6_000), of('c', 6_000), of('b', 4_000))).toEqual([16_000, []])
    expect(count(of('b', 6_000), of('c', 6_000), of('b', 4_001), of('b', 1))).toEqual([16_000, ['b']])
    expect(count(of(undefined, 6_000), of(undefined, 6_000))).toEqual([10_000, [undefined]])
  })

  test('attributes that objects have of their own are names like others', () => {
    const [marker] = parseMarkers('[METRIC:a:__proto__=3] 4')
    expect(Object.hasOwn(marker?.attributes ?? {}, '__proto__')).toBe(true)
    expect(({} as { readonly 3?: unknown })[3]).toBeUndefined()
  })
})

describe('a marker that was given is the same one', () => {
  const isGiven = (source: string, said: string) => {
    const given = newMarkerSet()
    for (const marker of findMarkersAnywhere(source)) given.add(marker)
    const [marker] = parseMarkers(said)
    return marker !== undefined && given.has(marker)
  }
  const METRIC = '[METRIC:cv-accuracy] 0.95'

  test.each([
    METRIC,
    '[METRIC:cv_accuracy]   0.950',
    '[METRIC:cv_accuracy:folds=5] = +9.5e-1 (mean of five)',
    'The paper says [METRIC:cv_accuracy] 0.95, which is good.',
    '> [METRIC:cv_accuracy] 0.95',
    '- `[METRIC:cv_accuracy] 0.95`',
    '**[METRIC:cv_accuracy]** 0.95.',
    '| [METRIC:cv_accuracy] | 0.95 |',
    '[METRIC:a] 1 [METRIC:cv_accuracy] 0.95 [METRIC:b] 2',
    '[METRIC:cv_accuracy]\n0.95',
    '[METRIC:cv_accuracy] 95 %',
    '[METRIC:cv_accuracy] 0,95',
    '[METRIC:cv_accuracy] about 0.95',
    '\\[METRIC:cv\\_accuracy\\] 0.95',
    '[METRIC:cv_\u200baccuracy] 0.95',
    '［METRIC:cv_accuracy］ ０.９５',
    '```\n[METRIC:cv_accuracy] 0.95\n```',
    JSON.stringify({ text: 'x\n[METRIC:cv_accuracy] 0.95\ny' }),
    JSON.stringify({ '[METRIC:cv_accuracy]': 0.95 }),
    JSON.stringify({ text: JSON.stringify({ text: 'x\n[METRIC:cv_accuracy] 0.95\ny' }) }),
  ])('where the source had %j', (source) => {
    for (const said of [METRIC, '  [METRIC:cv_accuracy]  0.950', '[METRIC:cv_accuracy:seed=1] .95 as measured']) {
      expect([said, isGiven(source, said)]).toEqual([said, true])
    }
  })

  test.each([
    '[METRIC:cv_accuracy] 0.951',
    '[METRIC:cv_accuracy] -0.95',
    '[METRIC:Cv_accuracy] 0.95',
    '[METRIC:accuracy] 0.95',
    '[STAT:cv_accuracy] 0.95',
    '[metric:cv_accuracy] 0.95',
    'cv_accuracy 0.95',
    '[METRIC:cv_accuracy] 0.91 (0.95 was hoped for)',
  ])('not where it had %j', (source) => expect(isGiven(source, METRIC)).toBe(false))

  test.each<[string, string, boolean]>([
    ['[FINDING] It is  so.', '[FINDING] it is so', true],
    ['He wrote "[FINDING] it is so" and more', '[FINDING] It is so', true],
    ['[FINDING] it is so, by 3 %', '[FINDING] it is so', true],
    ['[STAT:ci] 0.90 to 0.950', '[STAT:ci] [0.9 to .95]', true],
    ['[STAT:p-value] p < 0.05', '[STAT:p_value] p > 0.05', false],
    ['[FINDING] it is so', '[FINDING] it is some', false],
    ['[FINDING] it is some', '[FINDING] it is so', false],
    ['[FINDING] it is so', '[FINDING] it is so in May', false],
    ['[SHAPE] 10 x 3', '[SHAPE]', true],
    ['[CITATION:doi:10.1/x] "a"', '[CITATION:doi:10.1/x] a', true],
    ['[CITATION:doi:10.1/x] "a"', '[CITATION:doi:10.1/y] a', false],
    ['nothing', '[SHAPE]', false],
  ])('%j, and then %j: %s', (source, said, given) => expect(isGiven(source, said)).toBe(given))

  test('ten thousand against ten thousand of one name take few steps each', () => {
    const given = newMarkerSet()
    for (let n = 0; n < 10_000; n += 1) given.add({ type: 'FINDING', content: `thing ${n} is so` })
    const all = Array.from({ length: 10_000 }, (_, n) => ({ type: 'FINDING', content: `thing ${n} is` }))
    expect(all.filter((marker) => !given.has(marker))).toEqual([])
    expect(given.has({ type: 'FINDING', content: 'thing 10000 is' })).toBe(false)
  })
})
