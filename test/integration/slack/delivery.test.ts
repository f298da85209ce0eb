import { afterEach, describe, expect, test } from 'vitest'
import { SLACK_TIMEOUT_MS } from '../../../functions/slack/client/open-slack.ts'
import { handler as interactions } from '../../../functions/slack/slack-interactions.ts'
import { signedHeaders } from '../../emulators/slack-signature.ts'
import { firstDaily } from '../../how-much.ts'
import {
  ANA,
  asked,
  BEN,
  buttonsOf,
  decided,
  deploy,
  openSlackPlace,
  type SlackPlace,
  WORKSPACE,
  wordsOf,
} from './slack-place.ts'

let open: SlackPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

describe('Slack that does not answer', () => {
  for (const { tags, rows } of firstDaily<[string, readonly ('hang' | 'drop' | number | `error:${string}`)[]]>(2, [
    ['cuts the connection once', ['drop']],
    ['has trouble of its own', ['error:internal_error']],
    ['hangs once', ['hang']],
    ['limits the rate for a second', [1, 1]],
  ]))
    test.each(rows)('that %s gets the message all the same, once', { tags }, async (_what, failures) => {
      open = await openSlackPlace()
      const { slack } = open
      slack.fail('chat.postMessage', ...failures)
      const id = await open.start(deploy())
      await open.until(id, asked)
      // What the client's second try does not mend, the sweeper repeats; here it is told at once.
      const message = await open.eventually(() => {
        void open?.place.world.outbox.nudge({ tenant: 'main', run_id: id })
        return slack.messages[0]
      })
      expect(buttonsOf(message)).toContain('sluice_approve')
      expect(slack.messages).toHaveLength(1)
    })

  test('that refuses the token leaves what is owed, and the run waits as it did', async () => {
    open = await openSlackPlace()
    open.slack.fail('chat.postMessage', 'error:invalid_auth')
    const id = await open.start(deploy())
    await open.eventually(() => open?.slack.calls.length === 1)
    const run = { tenant: 'main', run_id: id }
    const head = await open.place.world.runs.head(run)
    expect(head?.outbox).toMatchObject([{ kind: 'notify', about: 'asked' }])
    // Whoever was refused may still have its turn: the sweeper comes again, too.
    await open.eventually(() => {
      void open?.place.world.outbox.nudge(run)
      return open?.slack.messages[0]
    })
    expect(open.slack.messages).toHaveLength(1)
  })

  test('that hangs while somebody wants to reject says so to who clicked, within its three seconds', async () => {
    open = await openSlackPlace()
    const { slack } = open
    await open.start(deploy())
    const message = await open.message(() => true)
    slack.fail('views.open', 'hang')
    // Slack's own patience is not asked here: the machine may be busy.
    const body = slack.clickBody(message, 'sluice_reject', ANA)
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...signedHeaders(WORKSPACE.signing_secret, body),
    }
    const answer = await fetch(`${open.place.url}/api/slack/interactions`, { method: 'POST', headers, body })
    expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ code: 'try_again' })])
    expect(SLACK_TIMEOUT_MS).toBeLessThan(2_500)
    expect(await slack.deliver(slack.clickBody(message, 'sluice_reject', ANA))).toMatchObject({ status: 200 })
    expect(slack.views).toHaveLength(1)
  })
})

test("a request whose headers are null, as API Gateway has them, is nobody's: 401", async () => {
  open = await openSlackPlace()
  for (const headers of [null, { 'x-slack-signature': null }]) {
    const event = {
      httpMethod: 'POST',
      path: '/api/slack/interactions',
      headers,
      body: 'payload=x',
      isBase64Encoded: false,
    }
    const answer = await interactions(event, { world: open.place.world })
    expect(answer).toMatchObject({ statusCode: 401 })
  }
})

describe('the same click', () => {
  test('that comes when its trigger has expired is answered 200 with words, and who clicks again is asked', async () => {
    open = await openSlackPlace()
    const { slack } = open
    await open.start(deploy())
    const message = await open.message(() => true)
    slack.fail('views.open', 'error:expired_trigger_id')
    const answer = await slack.deliver(slack.clickBody(message, 'sluice_reject', ANA))
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { text: expect.stringMatching(/Click again/) }])
    expect(await slack.deliver(slack.clickBody(message, 'sluice_reject', ANA))).toMatchObject({ status: 200 })
    expect(slack.views).toHaveLength(1)
  })

  test('ten times at once, and again with Slack’s retry headers, is one decision', async () => {
    open = await openSlackPlace()
    const { slack } = open
    const id = await open.start(deploy())
    const body = slack.clickBody(await open.message(() => true), 'sluice_approve', ANA)
    const answers = await Promise.all(Array.from({ length: 10 }, () => slack.deliver(body)))
    expect(answers.map(({ status, body: text }) => [status, text])).toEqual(answers.map(() => [200, '']))
    const events = await open.ended(id)
    expect(events.filter(decided)).toHaveLength(1)
    expect(slack.ephemerals).toEqual([])
  })

  test('of two people at once: one decides, the other is told who', async () => {
    open = await openSlackPlace()
    const { slack } = open
    const id = await open.start(deploy())
    const message = await open.message(() => true)
    const bodies = [ANA, BEN].map((user) => slack.clickBody(message, 'sluice_approve', user))
    await Promise.all(bodies.map((body) => slack.deliver(body)))
    expect((await open.ended(id)).filter(decided)).toHaveLength(1)
    const told = await open.eventually(() => slack.ephemerals[0])
    expect(wordsOf(told.blocks)).toMatch(/^Nothing was decided\. .*already approved by slack:U0(ANA|BEN)/)
  })
})

test('a restart between question and click loses neither', async () => {
  open = await openSlackPlace()
  const { slack } = open
  const id = await open.start(deploy())
  const message = await open.message(() => true)
  await open.reopen()
  slack.sendTo(`${open.place.url}/api/slack/interactions`)
  await slack.deliver(slack.clickBody(message, 'sluice_approve', ANA))
  expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
})

test('no task token, signing secret or bot token is in any answer, event, log or request to Slack', async () => {
  const lines: string[] = []
  const log = {
    info: (words: string, facts?: object) => void lines.push(JSON.stringify([words, facts])),
    error: (words: string, facts?: object) => void lines.push(JSON.stringify([words, facts])),
  }
  open = await openSlackPlace({}, {}, { log })
  const { slack } = open
  const id = await open.start(deploy({ approvers: [`slack:${ANA}`] }))
  const message = await open.message(() => true)
  const run = { tenant: 'main', run_id: id }
  const [approval] = Object.keys((await open.place.world.runs.head(run))?.approvals ?? {})
  const tokens = await open.place.world.runs.approvalTokens(run, approval ?? '')
  expect(tokens.length).toBeGreaterThan(0)
  const answers = [await open.call('get-run', id), await open.call('replay-run', id), await open.call('get-config', id)]
  const clicks = [slack.clickBody(message, 'sluice_approve', BEN), slack.clickBody(message, 'sluice_approve', ANA)]
  const delivered = [await slack.deliver(clicks[0] ?? ''), await slack.deliver(clicks[1] ?? '')]
  const events = await open.ended(id)
  await open.message(({ text }) => text.includes('ended: completed'))
  const places = { answers, delivered, events, lines, slack: slack.seen, clicks }
  for (const [place, told] of Object.entries(places)) {
    const text = JSON.stringify(told)
    expect(text.length, place).toBeGreaterThan(20)
    for (const secret of [...tokens, WORKSPACE.signing_secret, WORKSPACE.token]) {
      expect(text.includes(secret), `${place} holds a secret`).toBe(false)
    }
  }
})
