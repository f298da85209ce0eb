import { expect, test } from 'vitest'
import type { RightsTrace } from '../../aws/rights-trace.ts'
import { rightsLeft, rightUses } from '../../aws/unused-rights.ts'

const TABLE = 'arn:aws:dynamodb:eu-central-1:000000000000:table/sluice-dev'

function trace(file: string, rights: Readonly<Record<string, number>>): RightsTrace {
  const traced = Object.entries(rights).map(([name, calls]) => {
    const [who = '', policy = '', action = ''] = name.split(' ')
    return { who: `sluice-dev-${who}`, policy, at: 0, action, on: `${TABLE} if {"of":"${file}"}`, calls }
  })
  return { file, rights: traced, denied: [] }
}

const READ = 'get-run runs dynamodb:GetItem'
const QUERY = 'get-run runs dynamodb:Query'
const ON_TABLE = ' on table/sluice-dev'

test('a right is used when one file of tests used it, whatever its stage is limited to', () => {
  const uses = rightUses([trace('a', { [READ]: 0, [QUERY]: 3 }), trace('b', { [READ]: 2, [QUERY]: 0 })])
  expect(uses.map(({ name, calls }) => [name, calls])).toEqual([
    [READ + ON_TABLE, 2],
    [QUERY + ON_TABLE, 3],
  ])
  expect(rightsLeft(uses, [])).toEqual({ unused: [], stale: [] })
})

test('a right that nothing used is told with function, policy, action and resource', () => {
  const uses = rightUses([trace('a', { [READ]: 1, [QUERY]: 0 })])
  expect(rightsLeft(uses, [])).toEqual({ unused: [QUERY + ON_TABLE], stale: [] })
})

test('a reason stands for one function, or for all of them, as long as one of them does not use it', () => {
  const uses = rightUses([trace('a', { [READ]: 1, [QUERY]: 0, 'list-runs runs dynamodb:Query': 4 })])
  expect(rightsLeft(uses, [QUERY])).toEqual({ unused: [], stale: [] })
  expect(rightsLeft(uses, ['* runs dynamodb:Query'])).toEqual({ unused: [], stale: [] })
  expect(rightsLeft(uses, [READ, QUERY]).stale).toEqual([READ])
})

test('what Lambda, X-Ray and KMS do themselves is nobody’s call', () => {
  expect(
    rightUses([trace('a', { 'get-run logs logs:PutLogEvents': 0, 'get-run traces xray:PutTraceSegments': 0 })]),
  ).toEqual([])
})
