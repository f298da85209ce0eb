import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FIELD_NAMES, queryField } from '../../../shared/search-runs/fields.ts'
import { problemWords, QUERY_LIMITS, readQuery } from '../../../shared/search-runs/query.ts'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const HOUR = 3_600_000

const conditions = (text: string) => {
  const read = readQuery(text, NOW)
  if (!read.ok) throw new Error(problemWords(text, read.problem))
  return read.query.conditions
}

const refusal = (text: string) => {
  const read = readQuery(text, NOW)
  if (read.ok) throw new Error(`it was read: ${JSON.stringify(read.query)}`)
  return problemWords(text, read.problem)
}

test.each(FIELD_NAMES)('the example of %s is read', (name) => {
  expect(conditions(queryField(name).example)).toMatchObject([{ field: name, negated: false }])
})

test.each<[string, object]>([
  ['state:failed,approval', { field: 'state', any: ['failed', 'paused_approval'] }],
  ['STATE:Failed', { field: 'state', any: ['failed'] }],
  ['subject:"a b"', { field: 'subject', any: ['a b'] }],
  ['-label:team', { negated: true, field: 'label', any: [{ key: 'team' }] }],
  ['label:team="a b, c"', { field: 'label', any: [{ key: 'team', value: 'a b, c' }] }],
  ['label:"a=\\"b\\""', { field: 'label', any: [{ key: 'a', value: '"b"' }] }],
  ['dag:"import*"', { field: 'dag', any: [{ name: 'import*', begins: false }] }],
  [
    'starter:user:ana,token:*',
    {
      any: [
        { name: 'user:ana', begins: false },
        { name: 'token:', begins: true },
      ],
    },
  ],
  ['run_k3f9', { field: 'id', any: ['run_k3f9'] }],
  ['id:K3F9', { field: 'id', any: ['run_k3f9'] }],
  ['time:2026-11-01', { range: { min: Date.parse('2026-11-01'), max: Date.parse('2026-11-02') - 1 } }],
  ['time:>2026-11-01', { range: { min: Date.parse('2026-11-02') - 1, above: true } }],
  ['time:2h', { range: { min: NOW - 2 * HOUR } }],
  ['time:<2h', { range: { max: NOW - 2 * HOUR, below: true } }],
  ['duration:90..', { range: { min: 90_000 } }],
  ['cost:..0.25', { range: { max: 250_000 } }],
  ['tokens:>=10', { range: { min: 10 } }],
])('%s is read as what it says', (text, wanted) => {
  expect(conditions(text)).toMatchObject([wanted])
})

test('words are compared small, each once, and those behind a minus must not be there', () => {
  const read = readQuery('  Rechnung "Über 4711" rechnung -storno', NOW)
  expect(read).toEqual({
    ok: true,
    query: { conditions: [], words: ['rechnung', 'über', '4711'], without: ['storno'] },
  })
})

test.each<[string, string]>([
  [
    'dag:x stat:failed',
    'at character 7, "stat:failed": "stat" is no field. Did you mean "state"? A field is one of state, dag, label, subject, starter, time, ended, duration, cost, tokens, code, role, id; words with a colon stand in quotes.',
  ],
  [
    'state:fialed',
    'at character 7, "fialed": "fialed" is no state. Did you mean "failed"? There are running, completed, partial, blocked, failed, cancelled, iterated, pending, paused_approval, waiting, paused.',
  ],
  [
    'state:',
    'at character 7: "state:" needs a value (how the run stands, as the list shows it), as state:failed,blocked.',
  ],
  ['cost:>a', 'at character 7, "a": "a" is no amount: dollars as 0.25, with 6 decimals at most.'],
  ['cost:2..1', 'at character 6, "2..1": "2..1" ends before it begins.'],
  ['tokens:..', 'at character 8, "..": a bound stands before the dots, behind them, or on both sides.'],
  ['duration:1,2', 'at character 12, "2": duration takes one range, as duration:>1h30m.'],
  [
    'time:yesterday',
    'at character 6, "yesterday": "yesterday" is no time: a day as 2026-03-01 (UTC), a time as 2026-03-01T09:00:00Z, or how long ago as 7d or 12h.',
  ],
  [
    'time:2026-02-30',
    'at character 6, "2026-02-30": "2026-02-30" is no time: a day as 2026-03-01 (UTC), a time as 2026-03-01T09:00:00Z, or how long ago as 7d or 12h.',
  ],
  [
    'id:k3',
    'at character 4, "k3": "k3" is no beginning of an id: run_, which may be left out, and 4 to 26 of 0-9 a-z without i l o u.',
  ],
  [
    'label:=x',
    'at character 7, "=x": "=x" names no label: label:KEY, or label:KEY=VALUE, in quotes where a space or a comma is in it.',
  ],
  ['a "b', 'at character 3, "\\"b": a quote is opened here and not closed.'],
  ['a !', 'at character 3, "!": no word is in it: a word has letters or digits.'],
])('%s is refused: where, what was seen, what may stand there', (text, words) => {
  expect(refusal(text)).toBe(words)
})

test('one that is too long, or has too many terms, is refused', () => {
  expect(refusal('a'.repeat(QUERY_LIMITS.characters + 1))).toContain(
    'it has 1001 characters, and at most 1000 are read',
  )
  expect(refusal('a '.repeat(31))).toContain('it has 31 terms, and at most 30 are read')
})

test('whatever is written is read, or refused at a place in it', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...FIELD_NAMES.map((name) => `${name}:`),
      '-',
      '"',
      '\\',
      ',',
      '..',
      '>',
      '=',
      ' ',
      '2026-11-01',
      '7d',
      '5',
    ),
    fc.string({ unit: 'grapheme', maxLength: 6 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      const read = readQuery(text, NOW)
      if (read.ok) return
      expect(read.problem.at).toBeGreaterThanOrEqual(0)
      expect(read.problem.at).toBeLessThanOrEqual(text.length)
      expect(read.problem.words).not.toBe('')
    }),
    { numRuns: 2_000 },
  )
})
