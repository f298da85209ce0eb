import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openSlack } from '../../../functions/slack/client/open-slack.ts'
import { SlackSettingsSchema } from '../../../shared/slack/settings.ts'
import { redactForLog, redactSecrets, redactSecretsIn } from '../../../shared/text/redact.ts'
import { webhookMessage } from '../../../shared/webhooks/message.ts'

const URLS = [
  ['https://x.example/a?token=s3cr', 'https://x.example/a?token=[redacted]'],
  ['https://x.example/a?b=1&sig=s3/cr%3D&c=2', 'https://x.example/a?b=1&sig=[redacted]&c=2'],
  ['(https://x.example/a?api_key=s3cr)', '(https://x.example/a?api_key=[redacted])'],
  ['https://x.example/?refresh-token=s3cr#top', 'https://x.example/?refresh-token=[redacted]#top'],
  ['https://x.example/?X-Goog-Signature=s3cr', 'https://x.example/?X-Goog-Signature=[redacted]'],
] as const
const KEPT = [
  'https://x.example/search?q=token&page=2&keyword=cats&monkey=1',
  'the key = the thing; a token is a word',
  'sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
]

describe('redactSecrets()', () => {
  test.each(URLS)('%s', (text, expected) => expect(redactSecrets(text)).toBe(expected))
  test.each(KEPT)('keeps %s', (text) => expect(redactSecrets(text)).toBe(text))

  test('twice is as once, and no member of a value is lost', () => {
    void fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...URLS.map(([text]) => text)), (value, url) => {
        const once = redactSecretsIn({ value, url })
        expect(redactSecretsIn(once)).toEqual(once)
        expect(Object.keys(once)).toEqual(['value', 'url'])
        expect(once.url).not.toContain('s3')
      }),
      { numRuns: 200 },
    )
  })
})

describe('what a member is called', () => {
  const hash = 'a'.repeat(64)

  test('every text below a name that says so is gone, and no count, ref or hash', () => {
    const ref = `objstore://main/${hash}`
    expect(
      redactSecretsIn({
        db_password: 'x',
        api_key: 'y',
        token: 'z',
        refreshToken: 'r',
        credentials: { user: 'u', list: ['p', 7, true, null] },
        tokens: { spent: 12 },
        tokens_in: 'twelve',
        key: 'value',
        outputs: { token: { ref, sha256: hash } },
        inputs: { token: { type: 'string' } },
      }),
    ).toEqual({
      db_password: '[redacted]',
      api_key: '[redacted]',
      token: '[redacted]',
      refreshToken: '[redacted]',
      credentials: { user: '[redacted]', list: ['[redacted]', 7, true, null] },
      tokens: { spent: 12 },
      tokens_in: 'twelve',
      key: 'value',
      outputs: { token: { ref, sha256: hash } },
      inputs: { token: { type: 'string' } },
    })
  })

  test('logs and exports know the same names', () => {
    const names = ['db_password', 'api_key', 'apiKey', 'x-authorization', 'aws.secret', 'tokens_in', 'monkey', 'author']
    const seen = names.map((name) => Object.values(redactSecretsIn({ [name]: 'x' }))[0])
    expect(names.map((name) => Object.values(redactForLog({ [name]: 'x' }) ?? {})[0])).toEqual(seen)
  })
})

const [[SAID]] = URLS

test('what Slack is sent says no secret, and names what it names', async () => {
  const sent: unknown[] = []
  const settings = SlackSettingsSchema.parse({
    team_id: 'T012AB3CD',
    channel: 'C012AB3CD',
    token: { env: 'A' },
    signing_secret: { env: 'B' },
  })
  const slack = openSlack(
    settings,
    async () => 'xoxb-its-own',
    async (_method, args, { token }) => {
      sent.push(args, token)
      return {}
    },
  )
  await slack.call('chat.postMessage', { channel: 'C012AB3CD', blocks: [{ text: { text: `see ${SAID}` } }] })
  expect(sent).toEqual([
    { channel: 'C012AB3CD', blocks: [{ text: { text: 'see https://x.example/a?token=[redacted]' } }] },
    'xoxb-its-own',
  ])
})

test('nor what a webhook is sent', () => {
  const run = { tenant: 'main', run_id: `run_${'0'.repeat(26)}`, dag_name: 'd' }
  const event = { seq: 1, id: 'a/1/0', run_id: run.run_id, at: '2026-01-31T12:00:00.000Z' }
  const failed = { ...event, type: 'block:failed', block_id: 'a', data: { code: 'x', reason: SAID } } as const
  const { text } = webhookMessage(run, failed, { name: 'ops' })
  expect(JSON.parse(text).data).toEqual({ code: 'x', reason: 'https://x.example/a?token=[redacted]' })
})
