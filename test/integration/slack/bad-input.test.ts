import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Log } from '../../../shared/ports/host.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { formOf, type PostedMessage } from '../../emulators/slack-server.ts'
import { signedHeaders } from '../../emulators/slack-signature.ts'
import { ANA, asked, BEN, decided, deploy, openSlackPlace, type SlackPlace, WORKSPACE, wordsOf } from './slack-place.ts'

/** Each answer is exact, and nothing of it changes anything. */
let open: SlackPlace
let id: string
let message: PostedMessage
let before: readonly RunEvent[]
beforeAll(async () => {
  open = await openSlackPlace({ users: { [ANA]: 'user:ana@example.com' } }, {}, { log: log as Log })
  id = await open.start(deploy({ approvers: [`slack:${BEN}`, 'user:ana@example.com'] }))
  await open.until(id, asked)
  message = await open.message(() => true)
  before = await open.events(id)
})
afterAll(() => open.close())

const REFUSED = {
  code: 'not_from_slack',
  detail:
    'Cannot take this request: it is not one that the pinned Slack app signed just now. The log says why, and `sluice doctor` tells a wrong URL, a wrong secret and a wrong clock apart.',
}

type Headers = Readonly<Record<string, string>>
const reasons: unknown[] = []
const log = { info: () => {}, error: (_message: string, facts: Headers = {}) => void reasons.push(facts.reason) }

function halved(headers: Headers): Headers {
  return { ...headers, 'x-slack-signature': String(headers['x-slack-signature']).slice(0, 40) }
}

async function send(body: string | Uint8Array, headers: Headers) {
  const response = await fetch(`${open.place.url}/api/slack/interactions`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof body === 'string' ? body : Buffer.from(body),
  })
  return { status: response.status, text: await response.text() }
}

const click = () => open.slack.clickBody(message, 'sluice_approve', BEN)
const now = () => Math.floor(Date.now() / 1_000)

describe('a request that is not Slack’s of now is one 401 for everything', () => {
  const secret = WORKSPACE.signing_secret
  test.each<[string, string, (body: string) => readonly [body: string | Uint8Array, headers: Headers]]>([
    ['without any signature', 'bad_timestamp', (body) => [body, {}]],
    ['with half a signature', 'bad_signature', (body) => [body, halved(signedHeaders(secret, body))]],
    ['signed with another secret', 'wrong_signature', (body) => [body, signedHeaders('another secret', body)]],
    ['signed for another body', 'wrong_signature', (body) => [body, signedHeaders(secret, `${body} `)]],
    ['301 seconds old', 'stale', (body) => [body, signedHeaders(secret, body, now() - 301)]],
    ['from the future', 'future', (body) => [body, signedHeaders(secret, body, now() + 302)]],
    ['truncated', 'wrong_signature', (body) => [body.slice(0, -20), signedHeaders(secret, body)]],
    ['re-encoded', 'wrong_signature', (body) => [decodeURIComponent(body), signedHeaders(secret, body)]],
    ['of bytes that are no text', 'unreadable', () => signed(Buffer.from([0xff, 0xfe, 0x00]))],
    ['of no payload', 'unreadable', () => signed('hello=world')],
    ['of two payloads', 'unreadable', (body) => signed(`${body}&${body}`)],
    ['of no JSON', 'unreadable', () => signed('payload=%7Bnot+json')],
    ['of another workspace', 'wrong_team', () => signed(changed({ team: { id: 'T0OTHER' } }))],
    ['of no workspace', 'wrong_team', () => signed(changed({ team: null }))],
    ['of another app', 'wrong_app', () => signed(changed({ api_app_id: 'A0OTHER' }))],
    ['without a body', 'unreadable', () => signed('')],
  ])('%s; the log says %s', async (_what, reason, made) => {
    const [body, headers] = made(click())
    const answer = await send(body, headers)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([401, expect.objectContaining(REFUSED)])
    expect(reasons.at(-1)).toBe(reason)
  })

  test('larger than anything Slack sends, whoever signed it', async () => {
    expect((await send(...signed(`payload=${'x'.repeat(300_000)}`))).status).toBe(401)
  })

  beforeEach(() => expectNothing())
  afterAll(() => expectNothing())
})

function signed(body: string | Uint8Array) {
  return [body, signedHeaders(WORKSPACE.signing_secret, body)] as const
}

function changed(over: object): string {
  return formOf({ ...JSON.parse(new URLSearchParams(click()).get('payload') ?? ''), ...over })
}

async function expectNothing() {
  const head = await open.place.world.runs.head({ tenant: 'main', run_id: id })
  expect(head?.approvals).toMatchObject({ [approvalOf(before)]: { status: 'pending' } })
  // That somebody who may not decide tried to is told; nothing else has become of it.
  expect((await open.events(id)).filter(({ type }) => type !== 'approval:refused')).toEqual(before)
}

function approvalOf(events: readonly RunEvent[]): string {
  const found = events.find(asked)
  return found?.type === 'approval:requested' ? found.data.approval_id : ''
}

describe('what Slack signs and Sluice does not know is 200 and ignored', () => {
  test.each<[string, object]>([
    ['another action', { actions: [{ action_id: 'other', value: 'x', action_ts: '1.1' }] }],
    ['the link button', { actions: [{ action_id: 'sluice_open', action_ts: '1.1' }] }],
    ['a value of another version', { actions: [{ action_id: 'sluice_approve', value: 'v2|x', action_ts: '1.1' }] }],
    ['an action of a value it is not', actionOf('sluice_reject', 'approve')],
    ['another type', { type: 'message_action' }],
    ['a modal of another app’s making', { type: 'view_submission', view: { id: 'V0X', callback_id: 'other' } }],
  ])('%s', async (_what, over) => {
    expect(await send(...signed(changed(over)))).toEqual({ status: 200, text: '' })
    await expectNothing()
  })

  test('the check of a URL is answered with its challenge', async () => {
    const body = JSON.stringify({ type: 'url_verification', token: 't', challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY' })
    const answer = await send(...signed(body))
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY' }])
  })
})

function actionOf(action_id: string, decision: string, approval = 'apr_00000000000000000000000000_1_0') {
  return { actions: [{ action_id, value: `v1|${approval}|${decision}|${'0'.repeat(32)}`, action_ts: '1.1' }] }
}

/** What the person who clicked, and nobody else, is told. */
async function toldTo(user: string, body: string): Promise<string> {
  const already = open.slack.ephemerals.length
  expect(await open.slack.deliver(body)).toMatchObject({ status: 200, body: '' })
  const told = await open.eventually(() => open.slack.ephemerals[already])
  expect(told.user).toBe(user)
  return wordsOf(told.blocks)
}

describe('a click that decides nothing is answered to who clicked', () => {
  test('somebody who may not decide', async () => {
    const words = await toldTo('U0EVE', open.slack.clickBody(message, 'sluice_approve', 'U0EVE'))
    expect(words).toBe(
      `Nothing was decided. Cannot decide approval "${approvalOf(before)}": "slack:U0EVE" is not among the approvers (slack:${BEN}, user:ana@example.com).`,
    )
    await expectNothing()
  })

  test('an approval that is not there', async () => {
    const unknown = 'apr_00000000000000000000000000_1_0'
    const body = changed({ ...actionOf('sluice_approve', 'approve', unknown), user: { id: BEN } })
    expect(await toldTo(BEN, body)).toBe(`Nothing was decided. There is no approval "${unknown}" here.`)
    await expectNothing()
  })

  test('a digest of something else', async () => {
    const body = changed({ ...actionOf('sluice_approve', 'approve', approvalOf(before)), user: { id: BEN } })
    expect(await toldTo(BEN, body)).toMatch(
      /^Nothing was decided\. What this approval shows is not what your message showed: it is now about text, with digest [0-9a-f]{12}\. Open the run and look at it again\.$/,
    )
    await expectNothing()
  })

  test('the starter, where somebody else must decide', async () => {
    const own = await open.start(deploy({ self_approval: false }))
    const starter = (await open.place.world.runs.meta({ tenant: 'main', run_id: own }))?.starter ?? ''
    await open.close()
    open = await openSlackPlace({ users: { [ANA]: starter } }, {}, { log: log as Log })
    const again = await open.start(deploy({ self_approval: false }))
    const shown = await open.message(() => true)
    const words = await toldTo(ANA, open.slack.clickBody(shown, 'sluice_approve', ANA))
    expect(words).toMatch(
      /^Nothing was decided\. .*started the run and self_approval is false: somebody else must decide\.$/,
    )
    expect((await open.events(again)).some(decided)).toBe(false)
  })

  test('a decided approval: who, when and how; the same click again is answered the same and changes nothing', async () => {
    const run = await open.start(deploy())
    const shown = await open.message(({ text }) => text.includes(run))
    const first = open.slack.clickBody(shown, 'sluice_approve', BEN)
    const late = open.slack.clickBody(shown, 'sluice_approve', ANA)
    expect(await open.slack.deliver(first)).toMatchObject({ status: 200, body: '' })
    const events = await open.ended(run)
    expect(await toldTo(ANA, late)).toMatch(
      /^Nothing was decided\. .*already approved by slack:U0BEN at \S+ via slack\.$/,
    )
    const told = open.slack.ephemerals.length
    for (let i = 0; i < 3; i += 1) expect(await open.slack.deliver(first)).toMatchObject({ status: 200, body: '' })
    expect(await open.events(run)).toEqual(events)
    expect(open.slack.ephemerals).toHaveLength(told)
  })

  test('an ended run', async () => {
    const run = await open.start(deploy())
    const shown = await open.message(({ text }) => text.includes(run))
    const body = open.slack.clickBody(shown, 'sluice_approve', BEN)
    await open.call('stop-run', run, {})
    await open.ended(run)
    expect(await toldTo(BEN, body)).toMatch(/^Nothing was decided\. .*the run is cancelled\.$/)
  })
})
