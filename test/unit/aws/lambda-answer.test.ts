import { describe, expect, test } from 'vitest'
import { proxyAnswer, readLambdaEvent } from '../../../functions/aws/invocation.ts'

const answer = (body: string | Uint8Array) => proxyAnswer({ statusCode: 200, headers: { etag: '"x"' }, body })

describe('proxyAnswer()', () => {
  test('hands texts on, bytes of a text as text, other bytes as base64', () => {
    expect(answer('{"a":1}')).toEqual({
      statusCode: 200,
      headers: { etag: '"x"' },
      body: '{"a":1}',
      isBase64Encoded: false,
    })
    expect(answer(Buffer.from('\ufeffgrüße'))).toMatchObject({ body: '\ufeffgrüße', isBase64Encoded: false })
    const bytes = Uint8Array.from([0xff, 0x00, 0x80])
    expect(answer(bytes)).toMatchObject({ body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true })
  })

  test('an answer that does not go through Lambda is 413 and says so', () => {
    expect(answer('x'.repeat(5_999_998))).toMatchObject({ statusCode: 200 })
    for (const body of ['x'.repeat(6_000_000), '\u0000'.repeat(1_100_000), new Uint8Array(4_600_000).fill(0xff)]) {
      const seen = answer(body)
      expect(seen).toMatchObject({ statusCode: 413, headers: { 'content-type': 'application/problem+json' } })
      expect(JSON.parse(seen.body)).toMatchObject({ status: 413, code: 'answer_too_large' })
    }
  })

  test('a stream where none was announced is a Bug, not [object Object]', () => {
    const stream = (async function* () {
      yield 'x'
    })()
    expect(proxyAnswer({ statusCode: 200, headers: {}, body: stream })).toMatchObject({ statusCode: 500 })
  })
})

describe('readLambdaEvent()', () => {
  const event = { httpMethod: 'GET', path: '/x', queryStringParameters: null, headers: null, pathParameters: null }

  test('decodes path parameters, which REST APIs hand on encoded', () => {
    const pathParameters = { name: 'a%20b%2Fc.md', run_id: '%E0%A4%A', plain: 'run_a' }
    expect(readLambdaEvent({ ...event, pathParameters })).toMatchObject({
      pathParameters: { name: 'a b/c.md', run_id: '%E0%A4%A', plain: 'run_a' },
      headers: {},
    })
    expect(readLambdaEvent(event)).toMatchObject({ pathParameters: null })
  })

  test('leaves the payloads of machines and schedules alone', () => {
    for (const payload of [{ in: { v: 1 }, block: 'a%20' }, {}, null, 'x'])
      expect(readLambdaEvent(payload)).toBe(payload)
  })
})
