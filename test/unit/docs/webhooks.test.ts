import { describe, expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../shared/runs/event.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import { readWebhookSecret, signWebhook } from '../../../shared/webhooks/signing.ts'
import { codesIn, fencedBlocks, readText, rowsBelow } from './markdown.ts'

const TEXT = readText('docs/webhooks.md')
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** The lines of the page, as a receiver has them. */
async function verifier() {
  const [code = ''] = fencedBlocks(TEXT, 'js')
  const module = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  return module.verify as (headers: Record<string, string>, body: string, secret: string, now?: number) => boolean
}

describe('docs/webhooks.md', () => {
  test('has settings that are good, and every key there is', () => {
    const [yaml = ''] = fencedBlocks(TEXT, 'yaml')
    const [endpoint] = parseSettings(yaml, 'sluice.yaml').webhooks
    const keys = rowsBelow(TEXT, 'Settings').flatMap(([key = '']) => codesIn(key))
    expect(keys.toSorted()).toEqual([...Object.keys(endpoint ?? {}), 'dags'].sort())
  })

  test('shows a message of an event there is', () => {
    const [json = ''] = fencedBlocks(TEXT, 'json')
    expect(EVENT_TYPES).toContain(JSON.parse(json).type)
  })

  test('has a verifier that takes the published message and nothing changed or old', async () => {
    const verify = await verifier()
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    }
    const body = '{"test": 2432232314}'
    const at = 1_614_265_330
    expect(verify(headers, body, SECRET, at)).toBe(true)
    expect(verify({ ...headers, 'webhook-signature': `v1,x ${headers['webhook-signature']}` }, body, SECRET, at)).toBe(
      true,
    )
    expect(verify(headers, `${body} `, SECRET, at)).toBe(false)
    expect(verify({ ...headers, 'webhook-id': 'msg_other' }, body, SECRET, at)).toBe(false)
    expect(verify({ ...headers, 'webhook-signature': '' }, body, SECRET, at)).toBe(false)
    expect(verify(headers, body, 'whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0IG9sZA==', at)).toBe(false)
    expect(verify(headers, body, SECRET, at + 301)).toBe(false)
    expect(verify(headers, body, SECRET)).toBe(false)
  })

  test('takes what is signed here', async () => {
    const verify = await verifier()
    const content = { id: 'run_1-1-billing', timestamp: Math.floor(Date.now() / 1_000), text: '{"ü":1}' }
    const signature = signWebhook([new Uint8Array(32), readWebhookSecret(SECRET) ?? new Uint8Array()], content)
    const headers = {
      'webhook-id': content.id,
      'webhook-timestamp': `${content.timestamp}`,
      'webhook-signature': signature,
    }
    expect(verify(headers, content.text, SECRET)).toBe(true)
  })
})
