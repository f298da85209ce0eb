import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLog } from '../../../functions/aws/core.ts'
import { redactForLog, redactTextForLog } from '../../../shared/text/redact.ts'
import { expectLinear } from '../gates/linear.ts'

const CANARIES = [
  'Bearer abcdef.ghijkl-mnop',
  'Basic dXNlcjpwYXNzd29yZA==',
  'AKIAIOSFODNN7EXAMPLE',
  'slu_01h8_c2VjcmV0',
  'xoxb-1234-5678-abcdef',
  'sk-proj-abcdefghijklmnopqrst',
  'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  `AQCEAAAAKgAAAAMAAAAA${'k9Xz+/'.repeat(60)}==`,
  '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----',
]

describe('redact()', () => {
  test.each(CANARIES)('hides what looks like a secret anywhere in a text: %s', (canary) => {
    const seen = JSON.stringify(redactForLog({ error: `failed with ${canary} at last`, list: [{ deep: canary }] }))
    expect(seen).toContain('[redacted]')
    expect(seen).not.toContain(canary.slice(12, 30))
    expect(seen).toContain('at last')
  })

  test('hides what is called a secret, in any case and inside anything', () => {
    const secrets = {
      taskToken: 'a',
      'x-api-key': 'b',
      Authorization: 'c',
      client_secret: ['d'],
      db: { password: 'e' },
    }
    expect(JSON.stringify(redactForLog(secrets))).not.toMatch(/"[abcde]"/)
  })

  test('leaves what a reader needs', () => {
    const facts = {
      run_id: 'run_0123456789abcdefghjkmnpqrs',
      tokens_in: 12,
      tokens: 3,
      ref: `objstore://main/${'0a'.repeat(32)}`,
      url: 'https://example.com/a?b=c',
      block_id: 'secretary',
    }
    expect(redactForLog(facts)).toEqual(facts)
  })

  test('hides a password in a URL and a signature in a query', () => {
    const text = redactTextForLog('https://ana:hunter22@example.com/x?X-Amz-Signature=abc123&X-Amz-Date=1')
    expect(text).toBe('https://[redacted]@example.com/x?X-Amz-Signature=[redacted]&X-Amz-Date=1')
  })

  test('never fails and always ends, whatever it is given', () => {
    const loop: Record<string, unknown> = { name: 'loop' }
    loop.self = loop
    expect(JSON.stringify(redactForLog(loop))).toContain('[deeper]')
    expect(redactForLog(new Error('a', { cause: new Error('b') }))).toMatchObject({
      message: 'a',
      cause: { message: 'b' },
    })
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true }),
        (value) => void JSON.stringify(redactForLog(value)),
      ),
    )
  })

  test.each(['a', 'Bearer ', 'eyJa.', '://a:', 'AKIA', '-----BEGIN '])('is linear over %j', async (unit) => {
    await expectLinear((size) => redactTextForLog(unit.repeat(size)), 50_000)
  })
})

describe('createLog()', () => {
  const open = (level: 'info' | 'error') => {
    const lines: Record<string, unknown>[] = []
    const log = createLog({
      level,
      facts: { stage: 'dev', function: 'run-block' },
      write: (line) => lines.push(JSON.parse(line)),
    })
    return { log, lines }
  }

  test('writes one JSON line with time, level, stage and function', () => {
    const { log, lines } = open('info')
    log.info('hello', { run_id: 'run_a' })
    expect(lines).toEqual([
      {
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        level: 'info',
        message: 'hello',
        stage: 'dev',
        function: 'run-block',
        run_id: 'run_a',
      },
    ])
  })

  test('an error is also a metric of its function', () => {
    const { log, lines } = open('error')
    log.info('not said')
    log.error('broken', { error: 'Bearer abcdefghijkl' })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      error: '[redacted]',
      unexpected_errors: 1,
      _aws: {
        Timestamp: expect.any(Number),
        CloudWatchMetrics: [
          {
            Namespace: 'Sluice',
            Dimensions: [['stage', 'function']],
            Metrics: [{ Name: 'unexpected_errors', Unit: 'Count' }],
          },
        ],
      },
    })
  })
})
