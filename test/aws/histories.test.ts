import { GetExecutionHistoryCommand, type HistoryEvent, ListExecutionsCommand } from '@aws-sdk/client-sfn'
import { expect, test } from 'vitest'
import { isEnd } from './caller.ts'
import { describeHistory } from './describe-history.ts'
import { HISTORIES, INTRODUCTION } from './histories.ts'
import { shippedStack } from './shipped-stack.ts'

/** docs/histories.md is what this place's Step Functions says of three runs: `-u` writes it anew. */
const aws = shippedStack()

/** Runs a document to its end, agrees to what it asks, and asks Step Functions what its machine did. */
async function historyOf(dag: string): Promise<readonly HistoryEvent[]> {
  const id = await aws.caller.start({ dag })
  const asked = (await aws.caller.until(id, (event) => isEnd(event) || event.type === 'approval:requested')).find(
    ({ type }) => type === 'approval:requested',
  )
  if (asked !== undefined) expect((await aws.caller.decide(id, asked, 'approve')).status).toBe(200)
  await aws.caller.until(id, isEnd)
  await expect.poll(() => aws.place.states.running()).toBe(0)
  const executionArn = await arnOf(id)
  const { events = [] } = await aws.states.send(
    new GetExecutionHistoryCommand({ executionArn, includeExecutionData: true }),
  )
  // The interpreter counts for itself, by Step Functions' rules.
  expect(events).toHaveLength(aws.place.states.recorded(id)[0]?.counted ?? 0)
  return events
}

/** Whose machine is one of an inline document. */
async function arnOf(id: string): Promise<string> {
  for (const stateMachineArn of aws.place.states.machines()) {
    const { executions = [] } = await aws.states.send(new ListExecutionsCommand({ stateMachineArn }))
    const found = executions.find(({ name }) => name === id)?.executionArn
    if (found !== undefined) return found
  }
  throw new Error(`no execution ${id}`)
}

test('docs/histories.md describes a failed, a retried and an approved run as Step Functions tells them', async () => {
  const chapters: string[] = []
  for (const { title, dag, reading } of HISTORIES) {
    const events = await historyOf(dag)
    chapters.push(
      `## ${title}\n\n\`\`\`yaml\n${dag}\`\`\`\n\n\`\`\`text\n${describeHistory(events)}\n\`\`\`\n\n${reading}`,
    )
  }
  const page = `${INTRODUCTION}\n${chapters.join('\n')}`
  // What it is for: a Catch, a token, a Fail with Error and Cause, and no secret.
  expect(page).toMatch(
    /TaskFailed\n +Error RetryBlock\n.*\n.*TaskStateExited +plan\n.*\n.*WaitStateEntered +_retry_plan\n/,
  )
  expect(page).toMatch(/invoke\.waitForTaskToken\n.*"token":"TOKEN"/)
  expect(page).toMatch(
    /FailStateEntered +_failed\n.*\n.*ExecutionFailed\n +Error RunFailed\n +Cause post_gate_failed RUN\n/,
  )
  expect(page).not.toMatch(/run_[0-9a-z]{26}|"token":"(?!TOKEN)|arn:aws/)
  await expect(page).toMatchFileSnapshot('../../docs/histories.md')
}, 90_000)
