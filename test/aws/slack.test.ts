import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostedMessage, type SlackServer, startSlack } from '../emulators/slack-server.ts'
import { SLACK_SECRETS, slackSettings } from '../integration/aws/slack-settings.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Slack on the deployed application: bundles, roles and routes of the templates, a workspace of the tests. */
const WORKSPACE = {
  token: 'xoxb-canary-5',
  signing_secret: 'canary-signing',
  team: 'T0TEAM',
  app: 'A0APP',
  channel: 'C0CHAN',
}
let slack: SlackServer
let made: Synthesized
let place: Deployment
let caller: Caller

beforeAll(async () => {
  slack = await startSlack(WORKSPACE)
  made = await synthesize({}, slackSettings({ api_url: slack.api_url }))
  const [signing, old] = SLACK_SECRETS.signing
  place = await deploy(made.out, {
    [SLACK_SECRETS.token]: WORKSPACE.token,
    [signing]: WORKSPACE.signing_secret,
    [old]: 'the one before',
  })
  slack.sendTo(`${place.api.url}/api/slack/interactions`)
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close()
  await slack?.close()
  made?.remove()
})

const outputs = { text: { type: 'string' } }
const dag = {
  name: 'release',
  blocks: [
    {
      id: 'build',
      outputs,
      agent: { provider: 'local', model: 'outline', prompt: 'A build' },
    },
    {
      id: 'deploy',
      inputs: { text: { from: 'build.text' } },
      outputs,
      agent: { provider: 'local', model: 'outline', prompt: 'Deploy' },
      approval: { approvers: ['slack:U0ANA'] },
    },
  ],
}

async function message(fits: (one: PostedMessage) => boolean): Promise<PostedMessage> {
  for (const end = Date.now() + 30_000; Date.now() < end; await pause(50)) {
    const found = slack.messages.find(fits)
    if (found !== undefined) return found
  }
  throw new Error(`no such message: ${JSON.stringify([slack.messages, place.denied]).slice(0, 2_000)}`)
}

test('run, message, click by nobody, click, decision, resume, message locked', async () => {
  const id = await caller.start({ dag })
  const asked = await message(({ text }) => text.includes(id))
  const refused = await slack.deliver(slack.clickBody(asked, 'sluice_approve', 'U0EVE'))
  expect(refused).toMatchObject({ status: 200, body: '' })
  process.stdout.write(`first answer to Slack, cold start included: ${Math.round(refused.ms)} ms\n`)
  const yes = slack.clickBody(asked, 'sluice_approve', 'U0ANA')
  const answers = await Promise.all([slack.deliver(yes), slack.deliver(yes), slack.deliver(yes)])
  expect(answers.map(({ status, body }) => [status, body])).toEqual(answers.map(() => [200, '']))
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(events.filter(({ type }) => type === 'approval:decided')).toMatchObject([
    { data: { decision: 'approve', by: { kind: 'slack', id: 'U0ANA' }, via: 'slack' } },
  ])
  const locked = await message(({ ts, edits }) => ts === asked.ts && edits > 0)
  expect(JSON.stringify(locked.blocks)).not.toContain('"actions"')
  await message(({ text }) => text.includes('ended: completed'))
  expect(slack.ephemerals.map(({ user }) => user)).toEqual(['U0EVE'])
})

test('a rejection goes through the modal', async () => {
  const id = await caller.start({ dag })
  const asked = await message(({ text }) => text.includes(id))
  expect(await slack.deliver(slack.clickBody(asked, 'sluice_reject', 'U0ANA'))).toMatchObject({ status: 200 })
  const view = slack.views.at(-1)
  if (view === undefined) throw new Error('no modal')
  await slack.deliver(slack.submitBody(view, 'U0ANA', 'not on a Friday'))
  const events = await caller.until(id, isEnd)
  expect(JSON.stringify(events.at(-1))).toContain('not on a Friday')
})

test('who is not Slack is 401, reaches nothing, and may do nothing else', async () => {
  const response = await fetch(`${place.api.url}/api/slack/interactions`, { method: 'POST', body: 'payload={}' })
  expect(response.status).toBe(401)
  expect((await fetch(`${place.api.url}/api/dag/runs`)).status).toBe(403)
})

test('nobody was refused by IAM, and no secret or task token is in a log, a template or a message', async () => {
  await place.lambda.settled()
  expect(place.denied).toEqual([])
  const logs = [...place.functions.values()].flatMap((sandboxes) => sandboxes.logs)
  const templates = ['SluiceData', 'SluiceMachines', 'SluiceOperations', 'SluiceApi'].map((stack) =>
    made.template(stack as 'SluiceApi'),
  )
  const tokens = place.deliveries.flatMap(({ payload }) => tokenIn(payload))
  expect(tokens.length).toBeGreaterThan(0)
  const runs = await caller.call('GET', '/api/dag/runs')
  const told = JSON.stringify([logs, templates, slack.seen, runs.text])
  for (const secret of [WORKSPACE.token, WORKSPACE.signing_secret, ...tokens]) expect(told.includes(secret)).toBe(false)
})

function tokenIn(payload: unknown): readonly string[] {
  const { token } = payload as { readonly token?: unknown }
  return typeof token === 'string' ? [token] : []
}
