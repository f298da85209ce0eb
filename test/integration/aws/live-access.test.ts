import { App, Stack } from 'aws-cdk-lib'
import { expect, test } from 'vitest'
import { rightStatements } from '../../../infra/aws/access.ts'
import { entrySource } from '../../../infra/aws/entry-source.ts'
import { functionRights } from '../../../infra/aws/grants.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { ROUTES } from '../../../shared/routes.ts'

const NOTHING = {
  ...{ tenants: ['main'], secrets: [], models: [], research: { secrets: [], models: [] } },
  ...{ embeddings: [], shell: false },
}

test('what models say is deleted by run-block alone, in partitions of its own, where it is told at all', () => {
  const deleting = FUNCTIONS.filter((line) => functionRights(line).includes('live.forget')).map(({ name }) => name)
  expect(deleting).toEqual(['run-block'])
  const stated = (live: boolean) =>
    rightStatements('live.forget', new Stack(new App()), stageNames('dev'), { ...NOTHING, live })
  expect(stated(false)).toEqual([])
  expect(stated(true).map((one) => one.toStatementJson())).toMatchObject([
    {
      Action: 'dynamodb:DeleteItem',
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': 'T#main#L#*' } },
    },
  ])
})

test('who tells and who reads it carries the port where the settings ask for it, and not where they do not', () => {
  const carrying = (live: boolean) =>
    FUNCTIONS.filter((line) => entrySource(line, ROUTES, { live }).includes('openLive')).map(({ name }) => name)
  expect(carrying(false)).toEqual([])
  expect(carrying(true)).toEqual(['run-block', 'stream-events'])
})
