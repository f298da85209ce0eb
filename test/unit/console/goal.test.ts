import { describe, expect, test } from 'vitest'
import { actionWords, goalMatrix } from '../../../clients/console/run/goal/goal-matrix.ts'
import { DECISION_TABLE } from '../../../shared/goals/decision-table.ts'

describe('goalMatrix()', () => {
  test('draws every row of the decision table once: a line a goal status, trust passed before failed', () => {
    const lines = goalMatrix(null)
    expect(lines.map(({ goal }) => goal)).toEqual(['MET', 'NOT_MET', 'BLOCKED', 'NO_CONTRACT'])
    expect(lines.every(({ cells }) => cells.map(({ trust }) => trust).join() === 'PASS,FAIL')).toBe(true)
    expect(lines.flatMap(({ cells }) => cells).length).toBe(DECISION_TABLE.length)
  })

  test.each(DECISION_TABLE.map(({ trust, goal }) => `${trust} x ${goal}`))('marks %s and nothing else', (row) => {
    const marked = goalMatrix(row)
      .flatMap(({ cells }) => cells)
      .filter(({ applies }) => applies)
    expect(marked.map(({ trust, goal }) => `${trust} x ${goal}`)).toEqual([row])
  })

  test('marks nothing before the run is judged, or by a row it does not know', () => {
    for (const row of [null, 'PASS x MAYBE', '3'])
      expect(goalMatrix(row).some(({ cells }) => cells.some(({ applies }) => applies))).toBe(false)
  })
})

describe('actionWords()', () => {
  test.each([...new Set(DECISION_TABLE.map(({ action }) => action))])('has words of its own for %s', (action) => {
    expect(actionWords(action)).not.toBe(action)
  })

  test('says an action it does not know by its name', () => {
    expect(actionWords('call_a_friend')).toBe('call a friend')
  })
})
