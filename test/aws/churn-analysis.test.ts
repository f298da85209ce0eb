import { expect, test } from 'vitest'
import { GOAL_ROUTES } from '../../shared/api/goal-routes.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isEnd } from './caller.ts'
import { shippedStack } from './shipped-stack.ts'

/** dags/churn-analysis.yaml as it is deployed: nothing but its target differs, and no file is brought along. */
const GoalSchema = GOAL_ROUTES['get-goal'].answer.loose()

const aws = shippedStack()

/** How each run ended, in the order in which they went on as one another. */
async function endsWith(target: number): Promise<readonly string[]> {
  const ends: string[] = []
  let id: string | undefined = await aws.caller.start({ name: 'churn-analysis', inputs: { target } })
  while (id !== undefined) {
    const last = (await aws.caller.until(id, isEnd)).at(-1) as RunEvent
    const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}/goal`)
    const { row, criteria, trust } = GoalSchema.parse(json)
    ends.push(`${last.type} ${row}: ${criteria[0]?.actual}, trust ${trust?.score}`)
    id = last.type === 'run:partial' ? last.data.next_run : undefined
  }
  return ends
}

test('ends SUCCESS with a target the data meet, and on AWS with the figures of every other place', async () => {
  expect(await endsWith(0.7)).toEqual(['run:completed PASS x MET: 0.72, trust 100'])
}, 60_000)

test('ends PARTIAL, tries again by itself twice, and ends BLOCKED with one they do not', async () => {
  expect(await endsWith(0.9)).toEqual([
    'run:partial PASS x NOT_MET: 0.72, trust 100',
    'run:partial PASS x NOT_MET: 0.7325, trust 100',
    'run:blocked PASS x BLOCKED: 0.7325, trust 100',
  ])
}, 60_000)
