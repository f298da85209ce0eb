import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { assembled } from './assembled.ts'
import { lossesOf, type Stateful, statefulOf } from './stateful.ts'

/** What the last release deployed. `-u` writes it anew: only when a migration of the data is written down. */
const KEPT = join(import.meta.dirname, '__snapshots__/stateful.json')
let now: Stateful
beforeAll(async () => {
  now = statefulOf(await assembled())
}, 240_000)

test('no deployment over the last one replaces, renames or unprotects what holds data', async () => {
  const kept: Stateful = existsSync(KEPT) ? JSON.parse(readFileSync(KEPT, 'utf8')) : {}
  const losses = lossesOf(kept, now)
  const said = `${losses.join('\n')}\nIf a migration of the data is written down: -u.\n`
  await expect(`${JSON.stringify(now, undefined, 2)}\n`, said).toMatchFileSnapshot(KEPT)
})

test('it knows one table, two buckets, the dead letters and the API', () => {
  const types = Object.values(now).map(({ type }) => type)
  expect(types.sort()).toEqual([
    'AWS::ApiGateway::RestApi',
    'AWS::DynamoDB::Table',
    'AWS::S3::Bucket',
    'AWS::S3::Bucket',
    'AWS::SQS::Queue',
  ])
})

const idOf = (type: string) => Object.entries(now).find(([, one]) => one.type === type)?.[0] ?? ''

test('another logical id, a name, a key, an index and a lost protection are each told in words', () => {
  const id = idOf('AWS::DynamoDB::Table')
  const { [id]: table = {}, ...others } = now
  expect(lossesOf(now, { ...others, RunsRenamed: table })).toEqual([
    `AWS::DynamoDB::Table ${id} would be deleted or orphaned: its logical id became RunsRenamed.`,
  ])
  const changed = (part: object) => lossesOf(now, { ...now, [id]: { ...table, ...part } })
  expect(changed({ TableName: 'sluice' })).toEqual([
    `AWS::DynamoDB::Table ${id}: TableName was "sluice-dev", is "sluice": CloudFormation would replace it.`,
  ])
  expect(changed({ KeySchema: [] })).toEqual([expect.stringContaining('would replace it')])
  expect(changed({ GlobalSecondaryIndexes: [] })).toEqual([expect.stringContaining('emptied and filled again')])
  expect(changed({ DeletionPolicy: 'Delete' })).toEqual([expect.stringContaining('less protected')])
  expect(changed({ stack: 'SluiceApi' })).toEqual([expect.stringContaining('another stack cannot take it over')])
  expect(lossesOf(now, {})).toHaveLength(Object.keys(now).length)
})

test('a resource that comes new loses nothing', () => {
  expect(lossesOf(now, { ...now, More: { type: 'AWS::SQS::Queue' } })).toEqual([])
})
