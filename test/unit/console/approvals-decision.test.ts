import { describe, expect, test } from 'vitest'
import {
  type Approval,
  changedSince,
  type Draft,
  decisionBody,
  needsFeedback,
  nextPending,
  yesAnswer,
} from '../../../clients/console/approvals/decision.ts'
import { readTyped, typedText } from '../../../clients/console/parts/value-text.ts'

const stored = (sha256: string) => ({ ref: `objstore://main/${sha256}`, sha256, bytes: 2 })
const ASKED = {
  approval_id: 'apr_1',
  digest: 'd1',
  prompt: 'Build?',
  about: 'dispatch',
  on_reject: 'fail',
  shown_refs: { plan: stored('a') },
} as unknown as Approval
const DRAFT: Draft = { answer: 'approve', feedback: ' ', edits: {}, restart: 'refine' }

describe('what is sent', () => {
  test('a yes carries the digest that was shown, and nothing that was left empty', () => {
    expect(decisionBody(ASKED, DRAFT)).toEqual({ approval_id: 'apr_1', decision: 'approve', digest: 'd1' })
  })

  test('edits go with a yes only', () => {
    const edits = { goal: 'less' }
    expect(decisionBody(ASKED, { ...DRAFT, edits })).toMatchObject({ edits })
    expect(decisionBody(ASKED, { ...DRAFT, edits, answer: 'reject' })).not.toHaveProperty('edits')
  })

  test('a no says what becomes of the run where its rule makes another one, and only there', () => {
    const no: Draft = { ...DRAFT, answer: 'reject', feedback: 'too long ' }
    expect(decisionBody(ASKED, no)).toEqual({
      ...{ approval_id: 'apr_1', decision: 'reject', digest: 'd1', feedback: 'too long' },
    })
    const iterating = { ...ASKED, on_reject: 'iterate' as const }
    expect(decisionBody(iterating, no)).toMatchObject({ iterate: true, restart_mode: 'refine' })
    expect(decisionBody(iterating, { ...no, restart: undefined })).toMatchObject({ iterate: false })
    expect(decisionBody(iterating, { ...no, restart: undefined })).not.toHaveProperty('restart_mode')
    expect(decisionBody(iterating, DRAFT)).not.toHaveProperty('iterate')
  })

  test('the yes to failed gates is a waiver; it and a no need words', () => {
    const abouts = ['dispatch', 'budget', 'pre_gates', 'post_gates'] as const
    expect(abouts.map((about) => yesAnswer({ about }))).toEqual(['approve', 'approve', 'waive', 'waive'])
    expect([needsFeedback('approve'), needsFeedback('waive'), needsFeedback('reject')]).toEqual([false, true, true])
  })
})

describe('what changed since somebody looked', () => {
  test.each<[string, Partial<Approval>, readonly string[]]>([
    ['nothing', {}, []],
    ['a value', { shown_refs: { plan: stored('b') }, digest: 'd2' }, ['plan']],
    ['a new value and a gone one', { shown_refs: { text: stored('a') }, digest: 'd2' }, ['plan', 'text']],
    ['the prompt', { prompt: 'Ship?', digest: 'd2' }, ['the prompt']],
    ['what it binds alone', { digest: 'd2' }, ["the block's definition or what a yes lets happen"]],
  ])('names %s', (_, now, names) => {
    expect(changedSince(ASKED, { ...ASKED, ...now })).toEqual(names)
  })
})

test('after a decision the one below is next, at the end the one above, and none when it was the last', () => {
  const list = ['a', 'b', 'c'].map((approval_id) => ({ approval_id }))
  expect(nextPending(list, 'a')).toBe('b')
  expect(nextPending(list, 'c')).toBe('b')
  expect(nextPending(list.slice(0, 1), 'a')).toBeUndefined()
  // It went from the list while the dialog was open.
  expect(nextPending(list, 'x')).toBe('a')
  expect(nextPending([], 'x')).toBeUndefined()
})

describe('a typed field', () => {
  test.each<[string, string, unknown]>([
    ['string', ' as it is ', ' as it is '],
    ['number', ' 1.5e3 ', 1_500],
    ['boolean', 'false', false],
    ['json', '{"a": [1, null]}', { a: [1, null] }],
    ['json', '"text"', 'text'],
    ['artifact', 'objstore://main/abc', 'objstore://main/abc'],
  ])('of type %s reads %j', (type, text, value) => {
    expect(readTyped(type, text)).toEqual({ value })
  })

  test.each([
    ['number', 'ten'],
    ['number', 'Infinity'],
    ['number', '9007199254740993'],
    ['json', '{"id": 9007199254740993}'],
    ['boolean', 'yes'],
    ['json', '{"a": '],
    ['file', '/etc/passwd'],
  ])('of type %s refuses %j', (type, text) => {
    expect(readTyped(type, text)).toHaveProperty('problem')
  })

  test.each(['string', 'number', 'boolean', 'json', 'file', 'artifact'])(
    'of type %s left empty is no value',
    (type) => {
      expect(readTyped(type, '')).toEqual({})
    },
  )

  test.each<[string, unknown]>([
    ['string', 'a\nb'],
    ['number', 0.1],
    ['boolean', true],
    ['json', 'a text'],
    ['json', { a: [1, 'x'] }],
  ])('of type %s reads what it writes: %j', (type, value) => {
    expect(readTyped(type, typedText(type, value))).toEqual({ value })
  })
})
