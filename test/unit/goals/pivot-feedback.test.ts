import { expect, test } from 'vitest'
import { pivotFeedback } from '../../../shared/goals/pivot-feedback.ts'
import { ACCURACY, contractOf, evaluated } from './evaluated.ts'

const { completion } = evaluated({ contract: contractOf(ACCURACY), output: '[METRIC:accuracy] 0.75' })
const missed = (...suggestions: readonly string[]) => ({
  ...completion,
  pivot: { ...completion.pivot, attemptNumber: 2, suggestions },
})
const HEAD = 'Attempt 2 of 3 did not reach the goal: 0/1 criteria are met.'

test('tells what was missed and what to change, and then what a person says', () => {
  expect(pivotFeedback(missed('AC1: other data'))).toEqual({
    text: `${HEAD}\n- AC1: other data`,
    suggestions: ['AC1: other data'],
  })
  expect(pivotFeedback(missed('a', 'b'), 'Ask Ana').text).toBe(`${HEAD}\n- a\n- b\nA person says:\nAsk Ana`)
  expect(pivotFeedback(missed())).toEqual({ text: HEAD, suggestions: [] })
})

test('is no longer than a reader takes in', () => {
  const many = Array.from({ length: 52 }, (_, index) => `s${index}`)
  const { text, suggestions } = pivotFeedback(missed(...many))
  expect(suggestions).toEqual(many.slice(0, 50))
  expect(text.split('\n')).toEqual([HEAD, ...suggestions.map((one) => `- ${one}`), '- and 2 more'])
  expect(pivotFeedback(missed(...many.slice(0, 50))).text).not.toContain('more')
})

test('cuts a long suggestion, and leaves no half of a character', () => {
  const [cut, split] = pivotFeedback(missed('x'.repeat(601), `${'x'.repeat(599)}😀`)).suggestions
  expect(cut).toBe('x'.repeat(600))
  expect(split).toBe(`${'x'.repeat(599)}\uFFFD`)
})
