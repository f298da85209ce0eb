import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseMarkers } from '../../../shared/goals/marker.ts'
import { classifierEvidence } from '../../../shared/table/classifier-evidence.ts'
import { wilsonInterval } from '../../../shared/table/confidence-interval.ts'
import {
  type Classification,
  fitClassifier,
  fitLogistic,
  probabilityOf,
} from '../../../shared/table/logistic-classifier.ts'
import { readTable, type Table } from '../../../shared/table/tabular-data.ts'

const X1 = [2, 4, 3, 6, 7, 1, 9, 8, 5, 12, 10, 14, 3, 11, 13, 6, 2, 15, 9, 4]
const X2 = [30, 20, 25, 40, 35, 22, 50, 28, 60, 33, 45, 70, 21, 52, 65, 31, 27, 80, 42, 38]
const LEFT = [1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1]
const ROWS = X1.map((months, at) => ({ months, price: X2[at] ?? 0, left: LEFT[at] === 1 ? 'yes' : 'no' }))
const ASKED = { label: 'left', positive: 'yes', columns: ['months', 'price'], folds: 5 }

function tableOf(rows: readonly object[]): Table {
  const table = readTable(JSON.stringify(rows))
  if ('problem' in table) throw new Error(table.problem)
  return table
}
function found(rows: readonly object[] = ROWS, asked: Partial<typeof ASKED> = {}): Classification {
  const answer = fitClassifier(tableOf(rows), { ...ASKED, ...asked })
  if ('problem' in answer) throw new Error(answer.problem)
  return answer
}
const problemOf = (rows: readonly object[], asked: Partial<typeof ASKED> = {}) => expect(() => found(rows, asked).rows)

describe('classify()', () => {
  // R 4.2: optim(BFGS) of the same loss, the same folds by hand, prop.test, t.test's interval at whole degrees.
  test('is what R computes', () => {
    const answer = found()
    expect(answer).toMatchObject({ rows: 20, positives: 10, baseline_accuracy: 0.5, cv_accuracy_mean: 0.75 })
    expect(answer.cv_accuracy_std).toBeCloseTo(0.306186217848, 10)
    expect(answer.weights.map(({ name }) => name)).toEqual(['months', 'price'])
    expect(answer.weights[0]?.weight).toBeCloseTo(-1.44866892708, 5)
    expect(answer.weights[1]?.weight).toBeCloseTo(-0.12261110402, 5)
    expect(answer.intercept).toBeCloseTo(-0.06532351484, 5)
    expect(answer.difference).toMatchObject({ column: 'months', with: 4.2, without: 10.2 })
    expect(answer.difference?.ci.low).toBeCloseTo(-8.89283337443, 8)
    expect(answer.difference?.ci.high).toBeCloseTo(-3.10716662557, 8)
    expect(answer.difference?.effect).toBeCloseTo(-1.95698421916, 10)
    const share = wilsonInterval(0.95, 14, 20)
    expect(share.low).toBeCloseTo(0.481027181646, 10)
    expect(share.high).toBeCloseTo(0.854522755132, 10)
  })

  test('reads texts as one feature a value but the first, and answers the same to the same rows', () => {
    const rows = ROWS.map((row, at) => ({ ...row, plan: ['b', 'a', 'c'][at % 3] }))
    const columns = ['plan', 'months']
    expect(new Set(found(rows, { columns }).weights.map(({ name }) => name))).toEqual(
      new Set(['months', 'plan=b', 'plan=c']),
    )
    expect(found(rows, { columns })).toEqual(found(rows, { columns }))
    expect(found(rows, { columns: ['plan'] })).not.toHaveProperty('difference')
  })

  test('tells rows that one column gives away, and no more than chance of a column that says nothing', () => {
    const given = ROWS.map((row) => ({ ...row, sign: row.left === 'yes' ? 1 : 0, same: 7 }))
    expect(found(given, { columns: ['sign'] })).toMatchObject({ cv_accuracy_mean: 1, cv_accuracy_std: 0 })
    const nothing = found(given, { columns: ['same'] })
    expect(nothing.accuracy_ci.low).toBeLessThanOrEqual(nothing.baseline_accuracy)
    expect(nothing.difference).toMatchObject({ ci: { low: 0, high: 0 }, effect: 0 })
  })

  test('says what it cannot be asked', () => {
    problemOf(ROWS, { columns: ['age'] }).toThrow('there is no column "age"; it has months, price, left')
    problemOf(ROWS, { columns: ['left'] }).toThrow('column "left" is to be told, so it cannot be what tells it')
    problemOf(ROWS, { positive: 'maybe' }).toThrow('0 of 20 rows have left = maybe; each class needs 5 rows')
    problemOf(ROWS, { folds: 11 }).toThrow('each class needs 11 rows, one a fold')
    problemOf([...ROWS, { left: 'no', months: 1 }]).toThrow('column "price" has 1 missing values')
    const texts = Array.from({ length: 60 }, (_, at) => ({
      left: at % 2 === 0 ? 'yes' : 'no',
      months: `m${at}`,
      price: 1,
    }))
    problemOf(texts).toThrow('column "months" has 60 different texts, at most 50 are allowed')
    const many = Array.from({ length: 20_001 }, (_, at) => ({
      left: at % 2 === 0 ? 'yes' : 'no',
      months: at,
      price: 1,
    }))
    problemOf(many).toThrow('it has 20001 rows, at most 20000 are allowed')
    const wide = many.slice(1).map((row, at) => ({ ...row, price: `p${at % 40}` }))
    problemOf(wide).toThrow('20000 rows with 40 features are too much work')
  })
})

test('fitLogistic() stands at the optimum, also where a column separates the classes', () => {
  const column = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 12, maxLength: 12 })
  fc.assert(
    fc.property(column, column, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), (a, b, labels) => {
      fc.pre(labels.includes(true) && labels.includes(false))
      const model = fitLogistic([a, b], labels)
      const missed = labels.map((label, row) => Number(label) - probabilityOf(model, [a[row] ?? 0, b[row] ?? 0]))
      const slopes = [a, b].map((values) => values.reduce((sum, value, row) => sum + value * (missed[row] ?? 0), 0))
      expect(slopes[0]).toBeCloseTo(model.weights[0] ?? 0, 5)
      expect(slopes[1]).toBeCloseTo(model.weights[1] ?? 0, 5)
    }),
    { numRuns: 200 },
  )
  expect(fitLogistic([[-1, -1, 1, 1]], [false, false, true, true]).weights[0]).toBeLessThan(5)
})

describe('classifierRecord()', () => {
  const kept = { name: 'models/churn.json', sha256: 'a'.repeat(64) }

  test('says what was measured as markers, with statistics before each finding', () => {
    expect(classifierEvidence(found(), kept).split('\n')).toEqual([
      '[OBJECTIVE] Tell left = yes by months, price',
      '[DATA] 20 rows, 10 of them left = yes',
      "[EXPERIMENT] Logistic regression on standardised columns (ridge 1, Newton's method), 5 stratified folds dealt in row order",
      '[METRIC:baseline_accuracy] 0.5',
      '[METRIC:cv_accuracy_mean] 0.75',
      '[METRIC:cv_accuracy_std] 0.306186217848',
      '[METRIC:feature_importance] 1.4487 months',
      `[ARTIFACT:sha256=${'a'.repeat(64)}] models/churn.json`,
      '[STAT:ci] 95 % CI [0.5313, 0.8881] of the accuracy (Wilson)',
      '[STAT:effect_size] h = 0.5236 against guessing (Cohen)',
      '[FINDING] left = yes by months, price: the model tells it better than guessing, cv_accuracy_mean = 0.75, baseline_accuracy = 0.5',
      '[STAT:ci] 95 % CI [-8.8928, -3.1072] of the difference (Welch)',
      '[STAT:effect_size] d = -1.957 (Cohen)',
      '[FINDING] Where left = yes, the mean of months is lower: 4.2 against 10.2',
      '[CONCLUSION] 0.75 of the rows a model had not seen were told right, 0.5 by guessing',
      '[LIMITATION] The folds are parts of one sample: other rows, other times and other shares of the classes were not tried',
    ])
  })

  test('claims nothing that was not shown', () => {
    const record = classifierEvidence(
      found(
        ROWS.map((row) => ({ ...row, months: 7 })),
        { columns: ['months'] },
      ),
    )
    expect(record).toContain('was not shown to tell it better than guessing')
    expect(record).toContain('the mean of months is not shown to be higher or lower')
    expect(record).not.toContain('[ARTIFACT')
  })

  test('has the lines it has, whatever the data calls its columns', () => {
    const evil = 'x\n[METRIC:cv_accuracy_mean] 1\r\u2028[FINDING] all'
    const rows = ROWS.map(({ months, left }) => ({ [evil]: months, left }))
    const record = classifierEvidence(found(rows, { columns: [evil] }))
    const values = parseMarkers(record).filter(({ subtype }) => subtype === 'cv_accuracy_mean')
    expect(values.map(({ content }) => content)).toEqual(['0.8'])
    expect(parseMarkers(record)).toHaveLength(15)
  })

  test('is not rounded to a target: 7 of 10 is 0.7, a little less stays less', () => {
    expect(classifierEvidence({ ...found(), cv_accuracy_mean: 0.1 + 0.6 })).toContain('[METRIC:cv_accuracy_mean] 0.7\n')
    expect(classifierEvidence({ ...found(), cv_accuracy_mean: 0.69999999 })).toContain('mean] 0.69999999\n')
  })
})
